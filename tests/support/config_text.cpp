// SPDX-License-Identifier: Apache-2.0
#include "support/config_text.hpp"

#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/json_yaml/yaml.hpp>

namespace support {

amct::ConfigValue config(std::string_view text) { return amct::json_yaml::parse_json(text, "f"); }

amct::ConfigValue config_file(const std::filesystem::path& path) {
  return path.extension() == ".json" ? amct::json_yaml::read_json(path) : amct::json_yaml::read_yaml(path);
}

std::string full_text(const amct::ConfigValue& value) { return amct::json_yaml::json_text(value); }

}  // namespace support
