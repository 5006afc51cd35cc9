// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/limits.hpp>
#include <amct/protobuf/record_messages.hpp>
#include <amct/protobuf/record_schema.hpp>
#include <amct/protobuf/record_source.hpp>
#include <amct/protobuf/record_unknown.hpp>

namespace amct::protobuf::detail {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

/// A field of the old hotwheels layout, which has scale_d as number 1 and offset_d as number 2 of a layer.
[[nodiscard]] inline bool is_old_scale_d(const UnknownField& field) {
  return field.number() == 1 && field.type() == UnknownField::TYPE_FIXED32;
}
[[nodiscard]] inline bool is_old_offset_d(const UnknownField& field) {
  return field.number() == 2 && field.type() == UnknownField::TYPE_VARINT;
}

/// Moves the fields of the old hotwheels layout from the unknown fields of a layer to where they belong.
inline void adopt_old_layout(Message& value) {
  UnknownFieldSet& unknown = *value.GetReflection()->MutableUnknownFields(&value);
  UnknownFieldSet rest;
  for (int i = 0; i < unknown.field_count(); ++i) {
    const UnknownField& field = unknown.field(i);
    if (is_old_scale_d(field)) {
      float scale = 0.0F;
      const std::uint32_t bits = field.fixed32();
      std::memcpy(&scale, &bits, sizeof scale);
      FieldWriter(value, {}).put("scale_d", std::optional<float>(scale));
    } else if (is_old_offset_d(field)) {
      FieldWriter(value, {}).put("offset_d", std::optional<std::int32_t>(static_cast<std::int32_t>(field.varint())));
    } else {
      rest.AddField(field);
    }
  }
  unknown.Swap(&rest);
}

/// Messages and texts in the bytes of a message, counted up to a little over kMaxRecordEntryParts. Damaged bytes end
/// the count; the parser refuses them.
[[nodiscard]] inline std::size_t count_parts(std::string_view bytes, const google::protobuf::Descriptor& schema) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  std::size_t parts = 0;
  for (std::uint32_t tag = 0; parts <= kMaxRecordEntryParts && (tag = input.ReadTag()) != 0;) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&input, tag)) break;
      continue;
    }
    ++parts;
    std::uint32_t size = 0;
    if (!input.ReadVarint32(&size)) break;
    const auto begin = static_cast<std::size_t>(input.CurrentPosition());
    if (size > bytes.size() - begin || !input.Skip(static_cast<int>(size))) break;
    const auto* field = schema.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (field != nullptr && field->message_type() != nullptr) {
      parts += count_parts(bytes.substr(begin, size), *field->message_type());
    }
  }
  return parts;
}

/// Entries of a binary file.
class RecordWireSource final : public RecordSource {
 public:
  RecordWireSource(std::istream& input, std::string file, RecordDialect dialect, bool keep_unknown)
      : input_(input), stream_(&input), file_(std::move(file)), dialect_(dialect), keep_unknown_(keep_unknown) {}

  bool next(Message& root) override {
    // One for each entry, so that its limit of 2 GiB counts from here.
    google::protobuf::io::CodedInputStream input(&stream_);
    unknown_.clear();
    ++entries_;
    const std::uint32_t tag = input.ReadTag();
    if (tag == 0) {
      if (input_.bad()) throw Error(ErrorCode::io_read, {.file = file_}, "cannot be read");
      if (input.ConsumedEntireMessage()) return false;
      refuse("does not start with a field");
    }
    const std::string bytes = read_entry(input);
    using google::protobuf::internal::WireFormatLite;
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const FieldDescriptor* list = root.GetDescriptor()->FindFieldByNumber(number);
    if (list == nullptr || WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      refuse("has number " + std::to_string(number) + ", which is not known in a file of dialect " +
             std::string(name_of(dialect_)));
    }
    if (count_parts(bytes, *list->message_type()) > kMaxRecordEntryParts) {
      refuse("has more than " + std::to_string(kMaxRecordEntryParts) + " messages and texts");
    }
    Message& entry = *root.GetReflection()->AddMessage(&root, list);
    const google::protobuf::LogSilencer quiet;  // texts that are no UTF-8 become an Error later
    if (!entry.ParsePartialFromString(bytes)) refuse("is damaged or not of dialect " + std::string(name_of(dialect_)));
    judge_unknown(*list, entry);
    return true;
  }

  [[nodiscard]] std::string unknown(std::string_view, int) const override { return unknown_; }

  [[nodiscard]] Where where(std::string_view, int, std::string_view, int) const override { return {.file = file_}; }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& layer = {}) const {
    throw Error(ErrorCode::record_syntax, {.file = file_, .layer = layer},
                "entry " + std::to_string(entries_) + " of the binary record " + what);
  }

  std::string read_entry(google::protobuf::io::CodedInputStream& input) const {
    std::uint32_t size = 0;
    if (!input.ReadVarint32(&size)) refuse("has no length");
    if (size > kMaxRecordEntryBytes) {
      refuse("has " + std::to_string(size) + " bytes, at most " + std::to_string(kMaxRecordEntryBytes) + " are read");
    }
    std::string bytes;
    if (!input.ReadString(&bytes, static_cast<int>(size))) refuse("is cut off: the file ends inside it");
    return bytes;
  }

  /// Keeps the unknown fields of the message that may have some and refuses all others.
  void judge_unknown(const FieldDescriptor& list, Message& entry) {
    Message* holder = &entry;
    std::string layer;
    if (list.name() == "record") {
      std::optional<std::string> key;
      FieldReader(entry, {.file = file_}).take("key", key);
      layer = key.value_or("");
      if (find_message(entry, "value") == nullptr) return refuse_unknown(entry, nullptr, layer);
      holder = &make_message(entry, "value", {});
      if (dialect_ == RecordDialect::hotwheels) {
        adopt_old_layout(*holder);
        require_one_layout(*holder, layer);
      }
    }
    const UnknownFieldSet& kept = holder->GetReflection()->GetUnknownFields(*holder);
    if (keep_unknown_ && !kept.empty()) unknown_ = to_wire_text(kept);
    refuse_unknown(entry, keep_unknown_ ? holder : nullptr, layer);
  }

  /// Text can hold both layouts at once; a binary file that does could not be written again.
  void require_one_layout(const Message& value, const std::string& layer) const {
    const auto& fields = *value.GetDescriptor();
    const auto& reflection = *value.GetReflection();
    const bool old_layout = reflection.HasField(value, fields.FindFieldByName("scale_d")) ||
                            reflection.HasField(value, fields.FindFieldByName("offset_d"));
    if (!old_layout || find_messages(value, "record_d").empty()) return;
    throw Error(ErrorCode::record_value, {.file = file_, .layer = layer, .field = "scale_d"},
                "stands beside record_d; a binary file has one or the other");
  }

  void refuse_unknown(const Message& message, const Message* except, const std::string& layer) const {
    const auto& reflection = *message.GetReflection();
    const UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
    if (&message != except && !unknown.empty()) {
      refuse("has number " + std::to_string(unknown.field(0).number()) + " in " + message.GetDescriptor()->name() +
                 ", which is not known in dialect " + std::string(name_of(dialect_)),
             layer);
    }
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->message_type() == nullptr) continue;
      if (!field->is_repeated()) {
        refuse_unknown(reflection.GetMessage(message, field), except, layer);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        refuse_unknown(reflection.GetRepeatedMessage(message, field, i), except, layer);
      }
    }
  }

  std::istream& input_;
  google::protobuf::io::IstreamInputStream stream_;
  std::string file_;
  RecordDialect dialect_;
  bool keep_unknown_;
  std::uint64_t entries_ = 0;
  std::string unknown_;
};

}  // namespace amct::protobuf::detail
