// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <amct/core/error.hpp>

/// \file
/// Fields that the dialect does not know, kept as text in LayerRecord::unknown and PruneRecord::unknown: from a text
/// file their own text, from a binary file "wire:" and their bytes in hexadecimal. Neither can become the other, since
/// names and types are unknown.

namespace amct::protobuf::detail {

inline constexpr std::string_view kWirePrefix = "wire:";

[[nodiscard]] inline bool is_wire(const std::string& unknown) { return unknown.starts_with(kWirePrefix); }

/// The lines that put kept fields into a text file; nothing if there are none.
/// \throws Error record_value if they come from a binary file
[[nodiscard]] inline std::string unknown_text(const std::string& unknown, int depth, const Where& where) {
  if (unknown.empty()) return {};
  if (is_wire(unknown)) {
    throw Error(ErrorCode::record_value, where,
                "has unknown fields from a binary file, whose names are not known; a text file cannot hold them");
  }
  return std::string(static_cast<std::size_t>(2 * depth), ' ') + unknown + '\n';
}

[[nodiscard]] inline std::string to_wire_text(const google::protobuf::UnknownFieldSet& fields) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string bytes;
  fields.SerializeToString(&bytes);
  std::string text(kWirePrefix);
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    text += kDigits[code >> 4];
    text += kDigits[code & 15];
  }
  return text;
}

/// Adds kept fields of a binary file to a message. \throws Error record_value if they come from a text file
inline void append_unknown_wire(const std::string& unknown, google::protobuf::Message& message, const Where& where) {
  if (!is_wire(unknown)) {
    throw Error(ErrorCode::record_value, where,
                "has unknown fields from a text file, whose numbers are not known; a binary file cannot hold them");
  }
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = kWirePrefix.size(); i + 1 < unknown.size(); i += 2) {
    bytes += static_cast<char>(digit(unknown[i]) * 16 + digit(unknown[i + 1]));
  }
  const bool is_hex = unknown.find_first_not_of("0123456789abcdef", kWirePrefix.size()) == std::string::npos;
  if (!is_hex || !message.GetReflection()->MutableUnknownFields(&message)->ParseFromString(bytes)) {
    throw Error(ErrorCode::record_value, where, "has unknown fields that are not protobuf's wire format");
  }
}

}  // namespace amct::protobuf::detail
