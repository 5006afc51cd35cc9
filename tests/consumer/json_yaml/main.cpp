// SPDX-License-Identifier: Apache-2.0
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/yaml.hpp>

int main() {
  const auto json = amct::json_yaml::parse_json(R"({"batch_num": 2,})", "config.json");
  const auto yaml = amct::json_yaml::parse_yaml("batch_num: 2\n", "quant.yaml");
  return *json.find("batch_num")->integer() == *yaml.find("batch_num")->integer() ? 0 : 1;
}
