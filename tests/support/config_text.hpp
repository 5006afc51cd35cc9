// SPDX-License-Identifier: Apache-2.0
// Configs from and to text. The parsers are compiled once, in config_text.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>

#include "support/contains.hpp"

namespace support {

/// A config value from JSON text, which stands for any format; findings name the file "f".
[[nodiscard]] amct::ConfigValue config(std::string_view text);

/// The content of a JSON or YAML file.
[[nodiscard]] amct::ConfigValue config_file(const std::filesystem::path& path);

/// The text of a full config, as it is written.
[[nodiscard]] std::string full_text(const amct::ConfigValue& value);

/// JSON text without white space, for comparisons. Texts must hold none.
[[nodiscard]] inline std::string compact(const amct::ConfigValue& value) {
  std::string text;
  for (const char c : full_text(value)) {
    if (c != ' ' && c != '\n') text += c;
  }
  return text;
}

/// A line a finding; warnings start with "warning: ".
[[nodiscard]] inline std::string text_of(const amct::Diagnostics& out) {
  std::string text;
  for (const auto& finding : out.all()) {
    text += finding.is_error ? "" : "warning: ";
    text += amct::Error(finding.code, finding.where, finding.message).what();
    text += '\n';
  }
  return text;
}

}  // namespace support
