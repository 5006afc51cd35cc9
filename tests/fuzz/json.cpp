// SPDX-License-Identifier: Apache-2.0
// Full configs and om.json: JSON read, written, read again, and checked against a network in every flavour.
#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>

#include "fuzz/config.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  amct::ConfigValue value;
  if (!fuzz::accepts([&] { value = amct::json_yaml::parse_json(fuzz::text_of(data, size), "fuzzed"); })) return 0;
  const std::string written = amct::json_yaml::json_text(value);
  const amct::ConfigValue again = amct::json_yaml::parse_json(written, "written");
  fuzz::require(amct::json_yaml::json_text(again) == written, "a second writing equals the first");
  for (const auto flavour : {amct::Flavour::pytorch, amct::Flavour::hotwheels_dynamic}) {
    fuzz::check_full_config(value, amct::rules_of(flavour));
  }
  fuzz::check_fx(value, false);
  fuzz::check_om(value);
  return 0;
}
