// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <amct/config/easy_config.hpp>
#include <amct/config/read_easy_config.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/config_text.hpp>

namespace amct::protobuf {

/// The schema of a flavour's easy calibration configs (.cfg). The static graphs of hotwheels have theirs in YAML.
[[nodiscard]] constexpr CfgSchema calibration_schema(const FlavourRules& rules) noexcept {
  switch (rules.record_dialect) {
    case RecordDialect::mindspore: return CfgSchema::calibration_mindspore;
    case RecordDialect::hotwheels: return CfgSchema::calibration_hotwheels;
    case RecordDialect::tensorflow:
    case RecordDialect::caffe:
    case RecordDialect::caffe_pico: return CfgSchema::calibration_caffe;
    case RecordDialect::pytorch: break;
  }
  return CfgSchema::calibration_pytorch;
}

/// The easy calibration config that a text holds (protobuf text format). \param file  for messages
/// \throws Error config_syntax with file, line and column; what else is wrong goes to `out`
[[nodiscard]] inline EasyConfig parse_calibration_cfg(std::string_view text, const std::string& file,
                                                      const FlavourRules& rules, Diagnostics& out) {
  return easy_config(parse_cfg(text, file, calibration_schema(rules)), file, out);
}

/// Reads an easy calibration config (.cfg). \throws Error io_read, and what parse_calibration_cfg throws
[[nodiscard]] inline EasyConfig read_calibration_cfg(const std::filesystem::path& path, const FlavourRules& rules,
                                                     Diagnostics& out) {
  return easy_config(read_cfg(path, calibration_schema(rules)), path.string(), out);
}

}  // namespace amct::protobuf
