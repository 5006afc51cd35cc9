// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <google/protobuf/message.h>

#include <amct/core/error.hpp>
#include <amct/protobuf/record_detect.hpp>
#include <amct/protobuf/record_messages.hpp>
#include <amct/protobuf/record_schema.hpp>
#include <amct/protobuf/record_source.hpp>
#include <amct/protobuf/record_text_source.hpp>
#include <amct/protobuf/record_wire_source.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>
#include <amct/record/record_file.hpp>

namespace amct::protobuf {

struct RecordReadOptions {
  std::optional<RecordDialect> dialect{};  ///< found from the file if empty

  /// Fields that the dialect does not know are kept in LayerRecord::unknown and PruneRecord::unknown, to be written
  /// again, instead of refused. Only fields of a layer's value and of a prune record can be kept; others are refused.
  bool keep_unknown = false;
};

/// A layer or a prune record.
using RecordEntry = std::variant<LayerRecord, PruneRecord>;

/// Reads a record file, text or binary, entry by entry: in the memory of its largest entry, however large the file is.
/// Judges the form only: values are checked elsewhere. As in AMCT, the last of repeated optional fields counts and
/// required fields may be missing.
///
/// Limits: an entry of 64 MiB with 200000 messages and texts, 32 levels, a name of 64 KiB (protobuf/limits.hpp).
class RecordReader {
 public:
  /// Opens a file and finds its format. \throws Error io_read
  explicit RecordReader(const std::filesystem::path& path, RecordReadOptions options = {})
      : RecordReader(open(path), path.string(), options) {}

  /// Reads from a seekable stream; messages name it `file`.
  RecordReader(std::unique_ptr<std::istream> input, std::string file, RecordReadOptions options = {})
      : input_(std::move(input)), file_(std::move(file)) {
    const std::string beginning = read_beginning();
    auto detected = detect_record(beginning, options.dialect);
    format_ = detected.format;
    reason_ = std::move(detected.reason);
    if (format_.binary) {
      source_ = std::make_unique<detail::RecordWireSource>(*input_, file_, format_.dialect, options.keep_unknown);
    } else {
      source_ = std::make_unique<detail::RecordTextSource>(*input_, file_, format_.dialect, options.keep_unknown);
    }
    root_.reset(record_prototype(format_.dialect).New());
  }

  /// How the file is written: give it to RecordWriter to write it alike.
  [[nodiscard]] const RecordFormat& format() const noexcept { return format_; }
  /// Why the file was taken to be of this dialect, in one sentence.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  /// The next entry; empty at the end of the file.
  /// \throws Error record_syntax with file, line and column (in a binary file with the number of the entry): reading
  ///         cannot go on. record_value: an entry without key, without value and kv_cache_value, or with a text that
  ///         is not UTF-8; the call after it gives the next entry. A file without entries is record_syntax.
  [[nodiscard]] std::optional<RecordEntry> next() {
    while (++last_.index >= count(last_.list)) {
      if (last_.list == kLayers) {
        last_ = {kPrunes, -1};
        continue;
      }
      root_->Clear();
      if (!source_->next(*root_)) {
        last_ = {kPrunes, count(kPrunes) - 1};
        if (!any_) throw Error(ErrorCode::record_syntax, {.file = file_}, "has no entry, so it is no record file");
        return std::nullopt;
      }
      last_ = {kLayers, -1};
    }
    any_ = true;
    layer_.clear();
    try {
      return last_.list == kLayers ? RecordEntry(read_layer()) : RecordEntry(read_prune());
    } catch (const Error& error) {  // say where in the file
      layer_ = error.where().layer;
      throw Error(error.code(), where(error.where().field), error.message());
    }
  }

  /// Where a field of the last entry stands: file, line and column (text files; of the entry if the field is absent or
  /// not named), layer, and the field.
  /// \param field  as in LayerRecord ("scale_w", "kv_cache.scale", "record_d[1].num_bits_d") or PruneRecord
  ///               ("producer[0].attr[2].name"); "key" is the name
  /// \param index  which value of a repeated field, from 0; appears as "scale_w[3]" if there are several
  /// O(entry) for the first call after next(), then O(depth + place).
  [[nodiscard]] Where where(std::string_view field = {}, std::size_t index = 0) const {
    Where where = source_->where(last_.list, last_.index, path_of(field), static_cast<int>(index));
    where.layer = layer_;
    where.field = field;
    if (index > 0) where.field += '[' + std::to_string(index) + ']';
    return where;
  }

 private:
  static constexpr const char* kLayers = "record";
  static constexpr const char* kPrunes = "prune_record";

  struct Place {
    std::string list;  ///< field of the file
    int index;
  };

  static std::unique_ptr<std::istream> open(const std::filesystem::path& path) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
      throw Error(ErrorCode::io_read, {.file = path.string()}, failure ? failure.message() : "not a regular file");
    }
    auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
    if (!*stream) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be opened");
    return stream;
  }

  /// The bytes that detection looks at; the stream goes back to its start.
  std::string read_beginning() {
    std::string beginning;
    constexpr std::size_t kBlock = 65536;
    for (bool more = true; more && beginning.size() < kRecordDetectBytes;) {
      const std::size_t before = beginning.size();
      beginning.resize(before + kBlock);
      input_->read(beginning.data() + before, kBlock);
      beginning.resize(before + static_cast<std::size_t>(input_->gcount()));
      more = input_->good();
    }
    if (input_->bad()) throw Error(ErrorCode::io_read, {.file = file_}, "cannot be read");
    input_->clear();
    input_->seekg(0);
    return beginning;
  }

  [[nodiscard]] int count(const std::string& list) const {
    const auto* field = root_->GetDescriptor()->FindFieldByName(list);
    return field != nullptr ? root_->GetReflection()->FieldSize(*root_, field) : 0;
  }

  [[nodiscard]] const google::protobuf::Message& last_entry() const {
    const auto* field = root_->GetDescriptor()->FindFieldByName(last_.list);
    return root_->GetReflection()->GetRepeatedMessage(*root_, field, last_.index);
  }
  LayerRecord read_layer() {
    LayerRecord layer = detail::layer_from(last_entry(), {});
    layer.unknown = source_->unknown(last_.list, last_.index);
    layer_ = layer.name;
    return layer;
  }
  [[nodiscard]] PruneRecord read_prune() const {
    PruneRecord prune = detail::prune_from(last_entry(), {});
    prune.unknown = source_->unknown(last_.list, last_.index);
    return prune;
  }

  /// The path of a field from its entry on.
  [[nodiscard]] std::string path_of(std::string_view field) const {
    if (field.empty() || field == "key" || last_.list != kLayers) return std::string(field);
    constexpr std::string_view kKvCache = "kv_cache.";
    if (field.starts_with("kv_cache_value")) return std::string(field);
    if (field.starts_with(kKvCache)) return "kv_cache_value." + std::string(field.substr(kKvCache.size()));
    return "value." + std::string(field);
  }

  std::unique_ptr<std::istream> input_;
  std::string file_;
  RecordFormat format_;
  std::string reason_;
  std::unique_ptr<detail::RecordSource> source_;
  std::unique_ptr<google::protobuf::Message> root_;  ///< the entries that the source gave last
  Place last_{kPrunes, -1};
  std::string layer_;
  bool any_ = false;
};

}  // namespace amct::protobuf
