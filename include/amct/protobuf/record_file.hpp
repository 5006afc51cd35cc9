// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include <amct/core/error.hpp>
#include <amct/protobuf/record_reader.hpp>
#include <amct/record/record_file.hpp>

namespace amct::protobuf {

/// Reads a whole record file, any dialect, text or binary.
/// \throws Error record_syntax, record_value and io_read as RecordReader; record_value for a layer given twice, of
///         which AMCT takes the last
[[nodiscard]] inline RecordFile read_record_file(const std::filesystem::path& path, RecordReadOptions options = {}) {
  RecordReader reader(path, options);
  RecordFile file;
  file.format = reader.format();
  std::unordered_set<std::string> names;
  while (auto entry = reader.next()) {
    if (auto* prune = std::get_if<PruneRecord>(&*entry)) {
      file.prunes.push_back(std::move(*prune));
      continue;
    }
    auto& layer = std::get<LayerRecord>(*entry);
    if (!names.insert(layer.name).second) {
      throw Error(ErrorCode::record_value, reader.where("key"), "has more than one record");
    }
    file.layers.push_back(std::move(layer));
  }
  return file;
}

/// The layers of a record file of AMCT's PyTorch flavour. \throws as read_record_file()
[[nodiscard]] inline Record read_record(const std::filesystem::path& path) {
  return read_record_file(path, {.dialect = RecordDialect::pytorch}).layers;
}

}  // namespace amct::protobuf
