// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/fx_prepare.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/config/fx_json.hpp>

#include "flow/fx_net.hpp"

using namespace amct;

namespace {

const FlavourRules& kRules = rules_of(Flavour::hotwheels);

std::vector<std::string> names_of(const FxPlan& plan, bool enabled) {
  std::vector<std::string> names;
  for (const auto& layer : plan.layers) {
    if (layer.quant_enable == enabled) names.push_back(layer.name);
  }
  return names;
}

flow::PreparedFx full(const ConfigValue& config) {
  return flow::prepare_fx_full(support::fx_net(), config, "config.json", kRules, support::quantizers(), support::ops());
}

}  // namespace

TEST_CASE("The defaults quantize every layer; BatchNormalization stays, layers of several nodes are one") {
  const auto prepared = support::prepared_fx();
  CHECK(names_of(prepared.plan, true) == std::vector<std::string>{"conv1", "maxpool", "conv2", "add", "concat",
                                                                  "reshape", "gelu", "transpose", "matmul", "flatten",
                                                                  "fc"});
  CHECK(prepared.graph.find_node("bn1") != nullptr);
  CHECK(prepared.graph.find_node("gelu.erf") == nullptr);
  CHECK(prepared.graph.find_node("gelu")->op_type == "GELU");
  CHECK(prepared.plan.find("add")->activations.size() == 2);
  REQUIRE(prepared.left_float.size() == 2);
  CHECK(prepared.left_float[0].name == "bn1");
  CHECK(prepared.left_float[1].name == "relu");
  CHECK(prepared.flavour == Flavour::hotwheels);
  // A layer that only moves data is quantized as the one behind it: the product needs offset 0.
  CHECK(prepared.plan.find("transpose")->activations[0].name == "LuqActivationFakeQuantize");
}

TEST_CASE("The checks see the network with BatchNormalization folded") {
  const auto prepared = support::prepared_fx();
  for (const auto& node : prepared.network) CHECK(node.name != "bn1");
  CHECK_FALSE(flow::check_fx_network(prepared).has_errors());
}

TEST_CASE("K44: layers of the matrix unit that stay float are a warning of an easy config and an error of a full one") {
  const auto prepared = support::prepared_fx(R"({"skip_layers": ["conv2"]})");
  CHECK(support::contains(support::text_of(prepared.diagnostics),
                          "warning: amct: [config.layer] easy.yaml layer \"conv2\": Layer conv2 must be quantized"));
  const auto refused = support::error_of([&] { (void)full(to_fx_json(prepared.plan)); });
  REQUIRE(refused.has_value());
  CHECK(support::contains(refused->what(), "Layer conv2 must be quantized as it is an operation calculated on CUBE"));
}

TEST_CASE("The full config of a plan gives the same plan, and a layer deleted from it stays float") {
  const auto prepared = support::prepared_fx();
  ConfigValue config = to_fx_json(prepared.plan);
  CHECK(support::compact(to_fx_json(full(config).plan)) == support::compact(config));

  auto& members = *config.object();
  std::erase_if(members, [](const auto& member) { return member.name == "fc"; });
  const auto refused = support::error_of([&] { (void)full(config); });
  REQUIRE(refused.has_value());
  CHECK(support::contains(refused->what(), "Layer fc must be quantized"));
}

TEST_CASE("Layers may be called by names of the file, unknown ones are named with the nearest") {
  auto graph = support::fx_net();
  graph.find_node("conv2")->name = "/body/conv2/Conv";
  const auto prepared = support::prepared_fx(
      R"({"override_layer_configs": [{"layer_name": "/body/conv2/Conv", "activation_quant_params":
          {"quantizer": "UlqFakeQuantize", "quantizer_args": {"num_bits": 12}}}]})",
      graph);
  CHECK(prepared.plan.find("body.conv2")->activations[0].bits() == 12);
  CHECK(prepared.origins.at("body.conv2") == std::vector<std::string>{"/body/conv2/Conv"});

  const auto unknown = support::error_of([&] { (void)support::prepared_fx(R"({"skip_layers": ["conv3"]})"); });
  REQUIRE(unknown.has_value());
  CHECK(unknown->code() == ErrorCode::config_layer);
  CHECK(support::contains(unknown->what(), "conv2"));
}

TEST_CASE("K41: a mapping file sets bits; without a reader a config with om_config is refused") {
  const char* const easy = R"({"om_config": {"mapping_file": "net.om.json"}})";
  const auto refused = support::error_of([&] { (void)support::prepared_fx(easy); });
  REQUIRE(refused.has_value());
  CHECK(refused->code() == ErrorCode::config_unsupported);

  std::filesystem::path read;
  const flow::OmMapping mapping{.read = [&](const std::filesystem::path& path) {
    read = path;
    return support::config(R"({"graph": [{"op": [{"name": "add", "type": "Eltwise",
        "input_desc": [{"dtype": "DT_INT16"}, {"dtype": "DT_INT8"}]}]}]})");
  }};
  const auto prepared = flow::prepare_fx(support::fx_net(), support::config(easy), "configs/easy.yaml", kRules,
                                         support::quantizers(), support::ops(), mapping);
  CHECK(read == "configs/net.om.json");
  CHECK(prepared.plan.find("add")->activations[0].bits() == 16);
  CHECK(prepared.plan.find("add")->activations[1].bits() == 8);
}

TEST_CASE("Bad arguments of a quantizer are refused with their place") {
  const auto refused = support::error_of([&] {
    (void)support::prepared_fx(R"({"common_config": {"weight_quant_params":
        {"quantizer": "ArqWeightFakeQuantize", "quantizer_args": {"num_bits": 5}}}})");
  });
  REQUIRE(refused.has_value());
  CHECK(refused->code() == ErrorCode::config_range);
  CHECK(support::contains(refused->what(), "num_bits"));
}
