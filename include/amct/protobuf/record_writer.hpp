// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/protobuf/record_messages.hpp>
#include <amct/protobuf/record_schema.hpp>
#include <amct/protobuf/record_unknown.hpp>
#include <amct/protobuf/text.hpp>
#include <amct/record/record_file.hpp>

namespace amct::protobuf {

/// Writes a record file entry by entry, as AMCT's own files look: fields in the order of their numbers, two spaces a
/// level, floats in the style of the format. What was read from a file of AMCT is written byte for byte as it was.
///
/// A field that the dialect lacks is an error, never dropped. In hotwheels text files, scale_d and record_d are written
/// where they stand (the old and the new layout); in binary ones scale_d and offset_d become record_d with index 0.
class RecordWriter {
 public:
  /// \param out  stays the caller's, who also checks it for errors; opened as binary
  explicit RecordWriter(std::ostream& out, RecordFormat format = {}) : out_(out), format_(format) {}

  /// \throws Error record_value naming layer and field: the dialect lacks a field, a text is not UTF-8
  void write(const LayerRecord& layer) {
    const std::unique_ptr<google::protobuf::Message> root(record_prototype(format_.dialect).New());
    auto& entry = detail::add_message(*root, "record", {.layer = layer.name});
    if (format_.binary && format_.dialect == RecordDialect::hotwheels) {
      LayerRecord renewed = layer;
      detail::to_new_layout(renewed, {.layer = layer.name});
      detail::layer_to(renewed, entry);
    } else {
      detail::layer_to(layer, entry);
    }
    if (!layer.unknown.empty() && !layer.has_value) {
      throw Error(ErrorCode::record_value, {.layer = layer.name}, "has unknown fields but no value to write them into");
    }
    if (format_.binary) {
      if (!layer.unknown.empty()) {
        detail::append_unknown_wire(layer.unknown, detail::make_message(entry, "value", {}), {.layer = layer.name});
      }
      write_wire(*root);
    } else {
      write_text_entry(entry, layer);
    }
  }

  /// \throws Error record_value: the dialect has no prune records, a text is not UTF-8
  void write(const PruneRecord& prune) {
    const std::unique_ptr<google::protobuf::Message> root(record_prototype(format_.dialect).New());
    auto& entry = detail::add_message(*root, "prune_record", {});
    detail::prune_to(prune, entry);
    if (format_.binary) {
      if (!prune.unknown.empty()) detail::append_unknown_wire(prune.unknown, entry, {});
      write_wire(*root);
    } else {
      out_ << "prune_record {\n" << to_text(entry, format_.float_style, 1);
      out_ << detail::unknown_text(prune.unknown, 1, {}) << "}\n";
    }
  }

 private:
  /// Key, value, unknown fields at the end of the value, KV cache. Takes the entry apart.
  void write_text_entry(google::protobuf::Message& entry, const LayerRecord& layer) {
    const auto& schema = *entry.GetDescriptor();
    const auto& reflection = *entry.GetReflection();
    const std::unique_ptr<google::protobuf::Message> value(
        layer.has_value ? reflection.ReleaseMessage(&entry, schema.FindFieldByName("value")) : nullptr);
    const std::unique_ptr<google::protobuf::Message> key(entry.New());
    reflection.SwapFields(&entry, key.get(), {schema.FindFieldByName("key")});
    out_ << "record {\n" << to_text(*key, format_.float_style, 1);
    if (value != nullptr) {
      out_ << "  value {\n" << to_text(*value, format_.float_style, 2);
      out_ << detail::unknown_text(layer.unknown, 2, {.layer = layer.name}) << "  }\n";
    }
    out_ << to_text(entry, format_.float_style, 1) << "}\n";
  }

  void write_wire(const google::protobuf::Message& root) {
    const google::protobuf::LogSilencer quiet;  // required fields may be missing, as in AMCT
    std::string bytes;
    root.SerializePartialToString(&bytes);
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  std::ostream& out_;
  RecordFormat format_;
};

/// The content of a record file with these layers.
[[nodiscard]] inline std::string record_text(const Record& record, RecordFormat format = {}) {
  std::ostringstream out;
  RecordWriter writer(out, format);
  for (const auto& layer : record) writer.write(layer);
  return std::move(out).str();
}

/// Writes a record file whole or not at all, in its own format. \throws Error record_value, io_write
inline void write_record_file(const std::filesystem::path& path, const RecordFile& file) {
  AtomicFile target(path);
  RecordWriter writer(target.stream(), file.format);
  for (const auto& layer : file.layers) writer.write(layer);
  for (const auto& prune : file.prunes) writer.write(prune);
  target.commit();
}

}  // namespace amct::protobuf
