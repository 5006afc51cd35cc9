// SPDX-License-Identifier: Apache-2.0
#include <amct/config/layer_references.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>

using namespace amct;

namespace {

std::string upper(const std::string& name, const Where&) {
  std::string result;
  for (const char c : name) result += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return result;
}

}  // namespace

TEST_CASE("All layers that an easy config names are renamed, with their place") {
  EasyConfig config{.file = "q.cfg", .skip_layers = {"a"}, .skip_fusion_layers = {"b", "c"}};
  config.skip_layer_types = {"t"};
  config.layers.push_back({"d", {}});
  std::vector<std::string> fields;
  rename_layers(config, [&](const std::string& name, const Where& where) {
    CHECK(where.file == "q.cfg");
    fields.push_back(where.field);
    return upper(name, where);
  });
  CHECK(config.skip_layers == std::vector<std::string>{"A"});
  CHECK(config.skip_fusion_layers == std::vector<std::string>{"B", "C"});
  CHECK(config.layers[0].first == "D");
  CHECK(config.skip_layer_types == std::vector<std::string>{"t"});
  CHECK(fields ==
        std::vector<std::string>{"skip_layers", "skip_fusion_layers", "skip_fusion_layers", "override_layer_configs"});
}

TEST_CASE("In configs of other kinds the fields with names and the members of the top are renamed") {
  ConfigValue config = json_yaml::parse_json(R"({"version": 1,
    "skip_layers": ["a", "b"],
    "override": [{"layer_name": "c", "layer_type": "t"}],
    "conv": {"kind": "k", "quant": {"layer_name": ["d"]}}})",
                                             "c.json");
  rename_layers(config, "c.json", upper);
  CHECK(*config.find("skip_layers")->list()->at(1).text() == "B");
  CHECK(config.find("skip_layers")->list()->at(1).line == 2);
  const ConfigValue& override_entry = config.find("override")->list()->at(0);
  CHECK(*override_entry.find("layer_name")->text() == "C");
  CHECK(*override_entry.find("layer_type")->text() == "t");
  const ConfigValue* conv = config.find("CONV");
  REQUIRE(conv != nullptr);
  CHECK(*conv->find("kind")->text() == "k");
  CHECK(*conv->find("quant")->find("layer_name")->list()->at(0).text() == "D");
  CHECK(config.find("version") != nullptr);
}
