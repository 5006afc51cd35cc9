// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/read_file.hpp>
#include <amct/core/utf8.hpp>
#include <amct/protobuf/config_errors.hpp>
#include <amct/protobuf/config_places.hpp>
#include <amct/protobuf/config_schema.hpp>
#include <amct/protobuf/limits.hpp>
#include <amct/protobuf/text.hpp>

namespace amct::protobuf {

/// Most bytes of an easy config (.cfg).
inline constexpr std::size_t kMaxCfgBytes = std::size_t{16} << 20U;

namespace detail {

/// Turns a message into a ConfigValue by its schema.
class MessageReader {
 public:
  explicit MessageReader(const std::string& file) : file_(file) {}

  [[nodiscard]] ConfigValue object(const google::protobuf::Message& message, const ConfigPlaces& places) const {
    std::vector<const google::protobuf::FieldDescriptor*> present;
    message.GetReflection()->ListFields(message, &present);
    ConfigValue result(ConfigValue::Object{});
    for (const auto* field : present) {
      const auto* found = places.of(*field);
      result.add(field->name(),
                 field->is_repeated() ? list(message, *field, found) : one(message, *field, -1, found, 0));
    }
    return result;
  }

 private:
  using Field = google::protobuf::FieldDescriptor;
  using Places = std::vector<ConfigPlaces>;

  [[nodiscard]] ConfigValue list(const google::protobuf::Message& message, const Field& field,
                                 const Places* places) const {
    ConfigValue::List items;
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size; ++i) items.push_back(one(message, field, i, places, static_cast<std::size_t>(i)));
    ConfigValue result(std::move(items));
    if (places != nullptr && !places->empty()) set_place(result, places->front());
    return result;
  }
  /// \param index  of a repeated field; -1 for others
  [[nodiscard]] ConfigValue one(const google::protobuf::Message& message, const Field& field, int index,
                                const Places* places, std::size_t place) const {
    static const ConfigPlaces kUnknown;
    const bool known = places != nullptr && place < places->size();
    const ConfigPlaces& at = known ? (*places)[place] : kUnknown;
    ConfigValue result = value(message, field, index, at);
    set_place(result, at);
    return result;
  }
  [[nodiscard]] ConfigValue value(const google::protobuf::Message& message, const Field& field, int index,
                                  const ConfigPlaces& at) const {
    const auto& reflection = *message.GetReflection();
    const bool repeated = index >= 0;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_MESSAGE:
        return object(
            repeated ? reflection.GetRepeatedMessage(message, &field, index) : reflection.GetMessage(message, &field),
            at);
      case Field::CPPTYPE_ENUM:
        return (repeated ? reflection.GetRepeatedEnum(message, &field, index) : reflection.GetEnum(message, &field))
            ->name();
      case Field::CPPTYPE_STRING:
        return text(
            repeated ? reflection.GetRepeatedString(message, &field, index) : reflection.GetString(message, &field),
            field, at);
      case Field::CPPTYPE_BOOL:
        return repeated ? reflection.GetRepeatedBool(message, &field, index) : reflection.GetBool(message, &field);
      case Field::CPPTYPE_FLOAT:
        return real(decimal_value(repeated ? reflection.GetRepeatedFloat(message, &field, index)
                                           : reflection.GetFloat(message, &field)),
                    field, at);
      case Field::CPPTYPE_DOUBLE:
        return real(
            repeated ? reflection.GetRepeatedDouble(message, &field, index) : reflection.GetDouble(message, &field),
            field, at);
      case Field::CPPTYPE_INT32:
        return std::int64_t{repeated ? reflection.GetRepeatedInt32(message, &field, index)
                                     : reflection.GetInt32(message, &field)};
      case Field::CPPTYPE_UINT32:
        return std::int64_t{repeated ? reflection.GetRepeatedUInt32(message, &field, index)
                                     : reflection.GetUInt32(message, &field)};
      case Field::CPPTYPE_INT64:
        return std::int64_t{repeated ? reflection.GetRepeatedInt64(message, &field, index)
                                     : reflection.GetInt64(message, &field)};
      default: throw refused(field, at, "has a type that no config uses");
    }
  }
  [[nodiscard]] ConfigValue text(std::string content, const Field& field, const ConfigPlaces& at) const {
    if (find_invalid_utf8(content)) throw refused(field, at, "is a text that is not UTF-8");
    return content;
  }
  [[nodiscard]] ConfigValue real(double number, const Field& field, const ConfigPlaces& at) const {
    if (!std::isfinite(number)) {
      throw refused(field, at, "got " + decimal_text(number) + ", expected a finite number");
    }
    return number;
  }
  [[nodiscard]] Error refused(const Field& field, const ConfigPlaces& at, const std::string& message) const {
    return {ErrorCode::config_syntax,
            {.file = file_, .line = at.line(), .column = at.column(), .field = field.name()},
            message};
  }
  static void set_place(ConfigValue& value, const ConfigPlaces& at) {
    value.line = at.line();
    value.column = at.column();
  }

  const std::string& file_;
};

}  // namespace detail

/// Reads an easy config, protobuf text of a schema: messages become objects, repeated fields lists, enums their names,
/// floats the decimals that the file shows (see decimal_value). Only fields that the text has are there; their order is
/// that of the schema. As in AMCT, the last value of a field counts and the last member of a oneof, a message given
/// twice is merged, and `required` is not enforced. A value's place is that of its field's name; columns count bytes,
/// with tabs to multiples of 8.
/// \param file  named in errors
/// \throws Error config_syntax with line and column: no protobuf text, a field or enum name that the schema has not
///         (the message says which it has), not UTF-8, a number that is not finite
[[nodiscard]] inline ConfigValue parse_cfg(std::string_view text, const std::string& file, CfgSchema schema) {
  const auto refuse = [&](const std::string& message) {
    return Error(ErrorCode::config_syntax, {.file = file}, message);
  };
  if (text.size() > kMaxCfgBytes) throw refuse("has more than " + std::to_string(kMaxCfgBytes) + " bytes");
  text = without_byte_order_mark(text);

  const auto* descriptor = detail::descriptor_of(schema);
  const std::unique_ptr<google::protobuf::Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  detail::FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(kMaxTextDepth);
  // Merge, not Parse: Parse refuses repeated optional fields.
  if (!parser.MergeFromString(std::string(text), message.get())) {
    throw detail::in_our_words(errors.error(ErrorCode::config_syntax, file), text, *descriptor);
  }
  ConfigValue result = detail::MessageReader(file).object(*message, detail::places_of(text, *descriptor));
  result.line = 1;
  result.column = 1;
  return result;
}

/// Reads an easy config of at most kMaxCfgBytes. \throws Error io_read, and those of parse_cfg
[[nodiscard]] inline ConfigValue read_cfg(const std::filesystem::path& path, CfgSchema schema) {
  return parse_cfg(read_file(path, kMaxCfgBytes), path.string(), schema);
}

}  // namespace amct::protobuf
