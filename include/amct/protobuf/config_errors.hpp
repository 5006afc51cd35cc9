// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>

#include <amct/core/error.hpp>
#include <amct/core/nearest.hpp>
#include <amct/protobuf/text_walker.hpp>

namespace amct::protobuf::detail {

/// The enum of the first field of this name in a message or those inside it; null if there is none. Config messages
/// do not contain themselves.
[[nodiscard]] inline const google::protobuf::EnumDescriptor* enum_of_field(const google::protobuf::Descriptor& message,
                                                                           const std::string& name) {
  for (int i = 0; i < message.field_count(); ++i) {
    const auto& field = *message.field(i);
    if (field.enum_type() != nullptr && field.name() == name) return field.enum_type();
    if (field.message_type() == nullptr) continue;
    if (const auto* found = enum_of_field(*field.message_type(), name)) return found;
  }
  return nullptr;
}

/// What stands between the double quotes of a message of the parser.
[[nodiscard]] inline std::vector<std::string> quoted_parts(std::string_view message) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t open = message.find('"');
    if (open == std::string_view::npos) return parts;
    const std::size_t close = message.find('"', open + 1);
    if (close == std::string_view::npos) return parts;
    parts.emplace_back(message.substr(open + 1, close - open - 1));
    message.remove_prefix(close + 1);
  }
}

[[nodiscard]] inline std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Where the last name of a field, or the last value, before a position starts; the position itself if there is none.
[[nodiscard]] inline TextPosition start_before(std::string_view text, TextWalker::Kind kind,
                                               const TextPosition& position) {
  const auto behind = [&](const TextPosition& end) {
    return end.line > position.line || (end.line == position.line && end.column > position.column);
  };
  TextPosition start = position;
  TextWalker walker(text);
  for (TextWalker::Event event; walker.next(event) && !behind(event.end);) {
    if (event.kind == kind) start = event.start;
  }
  return start;
}

/// An error of protobuf's parser; for a field or enum name that the schema has not, with the names that it has and the
/// place of the name, which the parser has already left.
[[nodiscard]] inline Error in_our_words(const Error& error, std::string_view text,
                                        const google::protobuf::Descriptor& root) {
  const std::vector<std::string> parts = quoted_parts(error.message());
  if (parts.size() != 2) return error;
  Where where = error.where();
  const auto move_to = [&](TextWalker::Kind kind) {
    const TextPosition start = start_before(text, kind, {where.line - 1, where.column - 1});
    where.line = start.line + 1;
    where.column = start.column + 1;
  };
  if (error.message().find("has no field named") != std::string::npos) {
    const auto* type = root.file()->pool()->FindMessageTypeByName(parts[0]);
    if (type == nullptr) return error;
    std::vector<std::string> known;
    for (int i = 0; i < type->field_count(); ++i) known.push_back(type->field(i)->name());
    where.field = parts[1];
    move_to(TextWalker::Kind::field);
    return {ErrorCode::config_syntax, std::move(where),
            "is no field of " + type->name() + did_you_mean(nearest_names(parts[1], known)) +
                " (expected one of: " + joined(known) + ')'};
  }
  if (error.message().find("nknown enumeration value") != std::string::npos) {
    const auto* type = enum_of_field(root, parts[1]);
    if (type == nullptr) return error;
    std::vector<std::string> known;
    for (int i = 0; i < type->value_count(); ++i) known.push_back(type->value(i)->name());
    where.field = parts[1];
    move_to(TextWalker::Kind::value);
    return {ErrorCode::config_syntax, std::move(where), "got " + parts[0] + ", expected one of: " + joined(known)};
  }
  return error;
}

}  // namespace amct::protobuf::detail
