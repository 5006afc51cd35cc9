// SPDX-License-Identifier: Apache-2.0
// Easy configs in protobuf text, every schema: read, written as JSON, read again, and applied to a network.
#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/config_text.hpp>

#include "fuzz/config.hpp"
#include "fuzz/fuzz.hpp"

namespace {

void apply(const amct::ConfigValue& value, amct::protobuf::CfgSchema schema) {
  using amct::protobuf::CfgSchema;
  const auto& pytorch = amct::rules_of(amct::Flavour::pytorch);
  const auto& hotwheels = amct::rules_of(amct::Flavour::hotwheels_dynamic);
  switch (schema) {
    case CfgSchema::calibration_pytorch: return fuzz::check_easy_calibration(value, pytorch);
    case CfgSchema::calibration_mindspore:
      return fuzz::check_easy_calibration(value, amct::rules_of(amct::Flavour::mindspore));
    case CfgSchema::calibration_hotwheels: return fuzz::check_easy_calibration(value, hotwheels);
    case CfgSchema::calibration_caffe: return fuzz::check_easy_calibration(value, amct::rules_of(amct::Flavour::caffe));
    case CfgSchema::retrain_pytorch: return fuzz::check_easy_retrain(value, pytorch);
    case CfgSchema::retrain_hotwheels: return fuzz::check_easy_retrain(value, hotwheels);
    case CfgSchema::distill: return fuzz::check_easy_distill(value, pytorch);
    case CfgSchema::kv_cache: return fuzz::check_easy_kv_cache(value, pytorch);
    case CfgSchema::auto_prune: return fuzz::check_auto_prune(value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  for (int i = 0; i <= static_cast<int>(amct::protobuf::CfgSchema::auto_prune); ++i) {
    const auto schema = static_cast<amct::protobuf::CfgSchema>(i);
    amct::ConfigValue value;
    if (!fuzz::accepts([&] { value = amct::protobuf::parse_cfg(text, "fuzzed", schema); })) continue;
    const std::string written = amct::json_yaml::json_text(value);
    const amct::ConfigValue again = amct::json_yaml::parse_json(written, "written");
    fuzz::require(amct::json_yaml::json_text(again) == written, "JSON holds what the config said");
    apply(value, schema);
  }
  return 0;
}
