// SPDX-License-Identifier: Apache-2.0
// Easy configs of the static graph: YAML read, written as JSON, read again, and applied to a network.
#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/json_yaml/yaml.hpp>

#include "fuzz/config.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  amct::ConfigValue value;
  if (!fuzz::accepts([&] { value = amct::json_yaml::parse_yaml(fuzz::text_of(data, size), "fuzzed"); })) return 0;
  const std::string written = amct::json_yaml::json_text(value);
  const amct::ConfigValue again = amct::json_yaml::parse_json(written, "written");
  fuzz::require(amct::json_yaml::json_text(again) == written, "JSON holds what YAML said");
  fuzz::check_fx(value, true);
  return 0;
}
