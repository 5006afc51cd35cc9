// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_easy.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"
#include "support/fx_network.hpp"

namespace {

using support::contains;

struct Read {
  amct::FxEasyConfig config;
  std::string found;
};

Read read(const std::string& text, amct::Flavour flavour = amct::Flavour::hotwheels) {
  const support::FxNetwork network;
  amct::Diagnostics out;
  Read result;
  result.config =
      amct::read_fx_easy(support::config(text), "f", network.layers, network.names, amct::rules_of(flavour), out);
  result.found = support::text_of(out);
  return result;
}

}  // namespace

TEST_CASE("every part of an easy config is read") {
  const Read r = read(R"({"skip_layers":["add"],"om_config":{"mapping_file":"./om_json/net.om.json"},
      "common_config":{"quant_enable":false,"weight_quant_params":{"quantizer":"Q","quantizer_args":{"a":1}}},
      "override_layer_types":[{"layer_type":["Conv","Gemm"],"activation_quant_params":[{"quantizer":"A"},{"quantizer":"B"}]}],
      "override_layer_configs":[{"layer_name":"fc","quant_enable":true}]})");
  CHECK(r.found.empty());
  CHECK(r.config.skipped == std::set<std::string>{"add"});
  CHECK(r.config.mapping_file == "./om_json/net.om.json");
  CHECK(r.config.common.quant_enable == false);
  REQUIRE(r.config.common.weights.has_value());
  CHECK(r.config.common.weights->quantizer == "Q");
  CHECK(support::compact(r.config.common.weights->args) == R"({"a":1})");
  REQUIRE(r.config.type_entries.size() == 1);
  CHECK(r.config.type_entries[0].patterns.size() == 2);
  CHECK_FALSE(r.config.type_entries[0].setting.activations_for_all);
  CHECK(r.config.type_entries[0].setting.activations.at(1).quantizer == "B");
  REQUIRE(r.config.entry_of("fc") != nullptr);
  CHECK(r.config.entry_of("fc")->setting.quant_enable == true);
  CHECK(r.config.entry_of("conv1") == nullptr);
}

TEST_CASE("sections without content count as absent, as YAML has them with everything below commented out") {
  const Read r = read(R"({"skip_layers":null,"om_config":null,"common_config":null,"override_layer_types":null,
      "override_layer_configs":null})");
  CHECK(r.found.empty());
  CHECK_FALSE(r.config.mapping_file.has_value());
}

TEST_CASE("what is wrong is reported all at once, with its place") {
  const Read r = read(R"({"skip_layers":["conv2"],
 "om_config":{},
 "common_config":{"quant_enable":"yes","weight_quant_params":3},
 "override_layer_types":[{"layer_type":"torch.nn.Conv2e"},{"layer_type":["Gemm","Gemm",7]},{}],
 "override_layer_configs":[{"layer_name":"conv9"},{"layer_name":"shape"},{"layer_name":"fc","activation_quant_params":[]}]})");
  CHECK(contains(
      r.found, "[config.layer] f:1:17 skip_layers: there is no layer \"conv2\" in the model, did you mean \"conv1\"?"));
  CHECK(contains(r.found, "[config.range] f:2:14 om_config.mapping_file: is missing: the path of an om.json file"));
  CHECK(contains(r.found, "f:3:34 common_config.quant_enable: got \"yes\", expected true or false"));
  CHECK(contains(r.found, "f:3:62 common_config.weight_quant_params: got 3, expected an object"));
  CHECK(contains(r.found,
                 "f:4:40 override_layer_types[0].layer_type: layer type \"torch.nn.Conv2e\" is not known, did you mean "
                 "\"torch.nn.Conv2d\""));
  CHECK(contains(r.found, "override_layer_types[1].layer_type: \"Gemm\" is given more than once"));
  CHECK(contains(r.found, "override_layer_types[1].layer_type: got 7, expected a name"));
  CHECK(contains(r.found, "override_layer_types[2].layer_type: is missing: a name or a list of names"));
  CHECK(contains(r.found, "override_layer_configs[0].layer_name: there is no layer \"conv9\" in the model"));
  CHECK(contains(
      r.found,
      "warning: amct: [config.layer] f:5:65 override_layer_configs[1].layer_name: \"shape\" cannot be quantized"));
  CHECK(contains(r.found, "override_layer_configs[2].activation_quant_params: is empty"));
}

TEST_CASE("a quantizer's name and arguments must be of their types, and not too many") {
  std::string many;
  for (int i = 0; i < 65; ++i) many += (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\":1";
  const Read r = read(R"({"common_config":{"weight_quant_params":{"quantizer":"","quantizer_args":[]}},
      "override_layer_configs":[{"layer_name":"fc","weight_quant_params":{"quantizer":1,"quantizer_args":{)" +
                      many + "}}}]}");
  CHECK(contains(r.found, "common_config.weight_quant_params.quantizer: got \"\", expected the name of an algorithm"));
  CHECK(contains(r.found, "common_config.weight_quant_params.quantizer_args: got a list, expected an object"));
  CHECK(contains(r.found, "weight_quant_params.quantizer: got 1, expected a text"));
  CHECK(contains(r.found, "weight_quant_params.quantizer_args: has 65 arguments, at most 64 are possible"));
}

TEST_CASE("unknown fields are what the flavour makes of them") {
  const std::string text = R"({"batch_num":1,"common_config":{"quantizer":"x"}})";
  CHECK(contains(read(text).found, "warning: amct: [config.syntax] f:1:14 batch_num: is not a known parameter"));
  CHECK(contains(read(text).found, "common_config.quantizer"));
  CHECK(contains(read(text, amct::Flavour::pytorch).found, "amct: [config.syntax] f:1:14 batch_num: is not a known"));
  CHECK_FALSE(contains(read(text, amct::Flavour::pytorch).found, "warning: "));
}

TEST_CASE("a type of the user's own is known by an operator of the network") {
  amct::LayerTable layers{{.name = "x", .kind = amct::LayerKind::other, .op_type = "XLayer"}};
  const std::vector<std::string> nodes{"x"};
  const amct::NetworkNames names(layers, nodes);
  amct::Diagnostics out;
  const amct::FxEasyConfig config =
      amct::read_fx_easy(support::config(R"({"override_layer_types":[{"layer_type":"XLayer"}]})"), "f", layers, names,
                         amct::rules_of(amct::Flavour::hotwheels), out);
  CHECK(out.all().empty());
  REQUIRE(config.type_entries.size() == 1);
  CHECK(config.type_entries[0].matches(layers[0]));
}
