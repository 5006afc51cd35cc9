// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_resolve.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"
#include "support/fx_network.hpp"

namespace {

using amct::FxLayerPlan;
using amct::FxPlan;
using amct::rules_of;
using support::contains;

struct Resolved {
  FxPlan plan;
  amct::Diagnostics out;
  std::string found;

  /// "Name{args}" of an input of a layer.
  [[nodiscard]] std::string activation(const char* layer, std::size_t input = 0) const {
    const amct::QuantizerSpec& spec = plan.find(layer)->activations.at(input);
    return spec.name + support::compact(spec.args);
  }
  [[nodiscard]] std::string weights(const char* layer) const {
    const amct::QuantizerSpec& spec = plan.find(layer)->weights.value();
    return spec.name + support::compact(spec.args);
  }
  [[nodiscard]] bool enabled(const char* layer) const { return plan.find(layer)->quant_enable; }
};

Resolved resolve(const amct::ConfigValue& easy) {
  const support::FxNetwork network;
  const amct::FlavourRules& rules = rules_of(amct::Flavour::hotwheels);
  Resolved result;
  const amct::FxEasyConfig config = amct::read_fx_easy(easy, "f", network.layers, network.names, rules, result.out);
  result.plan = amct::resolve_fx(config, network.layers, rules, result.out);
  result.found = support::text_of(result.out);
  return result;
}
Resolved resolve_seed(const std::string& name) { return resolve(support::config_file(support::seed(name))); }
Resolved resolve(const char* text) { return resolve(support::config(text)); }

const char* const kUlq = R"({"num_bits":8,"fixed_min":false,"observer":"IFMRObserver","batch_num":1,"object_layer":)";

}  // namespace

TEST_CASE("K48: the empty config gives every layer the defaults") {
  const Resolved r = resolve(amct::ConfigValue());
  CHECK(r.found.empty());
  REQUIRE(r.plan.layers.size() == 6);
  CHECK(r.activation("conv1") == std::string("UlqFakeQuantize") + kUlq + "\"conv1\"}");
  CHECK(r.weights("conv1") == R"(ArqWeightFakeQuantize{"observer":"ArqObserver","num_bits":8,"channel_wise":true})");
  CHECK(r.weights("fc") == R"(ArqWeightFakeQuantize{"observer":"ArqObserver","num_bits":8,"channel_wise":false})");
  CHECK(r.plan.find("add")->activations.size() == 2);
  CHECK_FALSE(r.plan.find("add")->weights.has_value());
  CHECK(r.enabled("maxpool"));
  CHECK_FALSE(r.enabled("softsign"));  // off by default
  CHECK(resolve("{}").found.empty());
}

TEST_CASE("K7: types that an entry lists are quantized although common_config says quant_enable false") {
  const Resolved r = resolve(R"({"common_config":{"quant_enable":false},
      "override_layer_types":[{"layer_type":["torch.nn.Conv2d","torch.nn.Softsign"]},
                              {"layer_type":"torch.nn.Linear","quant_enable":false}]})");
  CHECK(r.found.empty());
  CHECK(r.enabled("conv1"));
  CHECK(r.enabled("softsign"));
  CHECK_FALSE(r.enabled("fc"));
  CHECK_FALSE(r.enabled("add"));
}

TEST_CASE("K7: an entry without quantizer inherits it and its arguments from the level above") {
  const Resolved r = resolve(R"({
      "common_config":{"activation_quant_params":{"quantizer":"LuqActivationFakeQuantize","quantizer_args":{"num_bits":10,"max_value_eps":0.5}}},
      "override_layer_types":[{"layer_type":"Gemm","activation_quant_params":{"quantizer_args":{"num_bits":12}}}],
      "override_layer_configs":[{"layer_name":"conv1","activation_quant_params":{"quantizer":"LuqActivationFakeQuantize"}}]})");
  CHECK_FALSE(r.out.has_errors());
  CHECK(r.activation("fc") ==
        R"(LuqActivationFakeQuantize{"num_bits":12,"max_value_eps":0.5,"observer":"LuqMseObserver"})");
  CHECK(r.activation("conv1") == R"(LuqActivationFakeQuantize{"num_bits":8,"observer":"LuqMseObserver"})");
}

TEST_CASE("priorities: layer over type over common over default, part by part") {
  const Resolved r = resolve(R"({
      "common_config":{"weight_quant_params":{"quantizer":"ArqWeightFakeQuantize","quantizer_args":{"num_bits":4}},
                       "activation_quant_params":{"quantizer":"UlqFakeQuantize","quantizer_args":{"num_bits":9}}},
      "override_layer_types":[
        {"layer_type":"Conv","activation_quant_params":{"quantizer":"UlqFakeQuantize","quantizer_args":{"num_bits":10}}},
        {"layer_type":"Conv2d","activation_quant_params":{"quantizer":"UlqFakeQuantize","quantizer_args":{"num_bits":11}}}],
      "override_layer_configs":[
        {"layer_name":["fc"],"weight_quant_params":{"quantizer":"LnqFakeQuantize"}}]})");
  CHECK_FALSE(r.out.has_errors());
  CHECK(r.plan.find("conv1")->activations[0].bits() == 10);  // the first type that matches
  CHECK(r.plan.find("conv1")->weights->bits() == 4);
  CHECK(r.plan.find("fc")->activations[0].bits() == 9);
  CHECK(r.weights("fc") == R"(LnqFakeQuantize{"observer":"SnqObserver"})");
}

TEST_CASE("K7: one object counts for all inputs, a list has one for each") {
  const Resolved one = resolve(R"({"override_layer_configs":[
      {"layer_name":"add","activation_quant_params":{"quantizer":"UlqFakeQuantize","quantizer_args":{"num_bits":12}}}]})");
  CHECK(one.found.empty());
  CHECK(one.plan.find("add")->activations[0].bits() == 12);
  CHECK(one.plan.find("add")->activations[1].bits() == 12);
  const Resolved each = resolve(R"({"override_layer_configs":[
      {"layer_name":"add","activation_quant_params":[{"quantizer_args":{"num_bits":12}},{"quantizer_args":{"num_bits":10}}]}]})");
  CHECK(each.found.empty());
  CHECK(each.plan.find("add")->activations[0].bits() == 12);
  CHECK(each.plan.find("add")->activations[1].bits() == 10);
  const Resolved wrong = resolve(R"({"override_layer_types":[
      {"layer_type":"Add","activation_quant_params":[{"quantizer":"UlqFakeQuantize"}]}]})");
  CHECK(contains(wrong.found,
                 "[config.layer] f:2:54 layer \"add\" override_layer_types[0].activation_quant_params: lists 1 "
                 "quantizer, but the layer has 2 inputs to quantize"));
}

TEST_CASE("skip_layers comes last and takes wildcards; an empty layer_name does nothing") {
  const Resolved r = resolve(R"({"skip_layers":["conv1","ma*"],
      "override_layer_configs":[{"layer_name":"conv1"},{"layer_name":[],"weight_quant_params":{"quantizer":"x"}}]})");
  CHECK(r.found.empty());
  CHECK_FALSE(r.enabled("conv1"));
  CHECK_FALSE(r.enabled("maxpool"));
  CHECK_FALSE(r.enabled("matmul"));
  CHECK(r.enabled("fc"));
}

TEST_CASE("channel_wise that a layer cannot have becomes false, with a warning where the layer is named") {
  const Resolved common = resolve(R"({"common_config":{"weight_quant_params":
      {"quantizer":"ArqWeightFakeQuantize","quantizer_args":{"channel_wise":true}}}})");
  CHECK(common.found.empty());
  CHECK_FALSE(common.plan.find("fc")->weights->flag("channel_wise", true));
  CHECK(common.plan.find("conv1")->weights->flag("channel_wise", false));
  const Resolved named = resolve(R"({"override_layer_types":[{"layer_type":"Linear","weight_quant_params":
      {"quantizer":"ArqWeightFakeQuantize","quantizer_args":{"channel_wise":true}}}]})");
  CHECK(contains(named.found,
                 "warning: amct: [config.range] f:2:77 layer \"fc\" "
                 "weight_quant_params.quantizer_args.channel_wise: true is taken as false"));
}

TEST_CASE("K35: channel_wise of LNQ has no effect, which is said") {
  const Resolved r = resolve(R"({"override_layer_configs":[{"layer_name":"conv1","weight_quant_params":
      {"quantizer":"LnqFakeQuantize","quantizer_args":{"channel_wise":true}}}]})");
  CHECK(contains(r.found, "warning: "));
  CHECK(contains(r.found, "true has no effect with LnqFakeQuantize"));
}

TEST_CASE("K11: a product of two tensors gets offset 0 and 8 bits for its second input where it is not named") {
  const Resolved by_default = resolve("{}");
  const char* const symmetric =
      R"(LuqActivationFakeQuantize{"num_bits":8,"observer":"IFMRObserver","batch_num":1,"object_layer":"matmul","qscheme":"symmetric","with_offset":false})";
  CHECK(by_default.activation("matmul", 0) == symmetric);
  CHECK(by_default.activation("matmul", 1) == symmetric);
  const Resolved common = resolve(
      R"({"common_config":{"activation_quant_params":{"quantizer":"UlqFakeQuantize","quantizer_args":{"num_bits":12}}}})");
  CHECK(common.plan.find("matmul")->activations[0].bits() == 12);
  CHECK(common.plan.find("matmul")->activations[1].bits() == 8);
  CHECK(contains(common.found, "layer \"matmul\" activation_quant_params[0]: a product of two tensors needs offset 0"));
  CHECK(
      contains(common.found, "layer \"matmul\" activation_quant_params[1]: the second input of a product has 8 bits"));
  CHECK_FALSE(common.out.has_errors());
}

TEST_CASE("weights of a layer that has none are a warning where it is named, and nothing otherwise") {
  CHECK(resolve(R"({"common_config":{"weight_quant_params":{"quantizer":"ArqWeightFakeQuantize"}}})").found.empty());
  const Resolved r = resolve(
      R"({"override_layer_configs":[{"layer_name":"add","weight_quant_params":{"quantizer":"ArqWeightFakeQuantize"}}]})");
  CHECK(contains(r.found, "warning: amct: [config.layer] f:1:70 layer \"add\" weight_quant_params: the layer has no"));
}

TEST_CASE("the guide's easy config: layers, types and common, builtin and torch's algorithms") {
  const Resolved r = resolve_seed("yaml_easy.yaml");
  CHECK_FALSE(r.out.has_errors());
  CHECK(
      r.activation("add") ==
      R"(UlqFakeQuantize{"num_bits":8,"observer":"IFMRObserver","fixed_min":false,"batch_num":1,"object_layer":"add"})");
  CHECK(r.activation("maxpool") == R"(LuqActivationFakeQuantize{"num_bits":8,"observer":"LuqMseObserver"})");
  CHECK(r.weights("fc") == R"(ArqWeightFakeQuantize{"observer":"ArqObserver","num_bits":8,"channel_wise":false})");
  CHECK(
      r.weights("conv1") ==
      R"(torch.quantization.FakeQuantize{"observer":"torch.quantization.PerChannelMinMaxObserver","quant_min":-128,"quant_max":127,"dtype":"torch.qint8","qscheme":"torch.per_channel_symmetric","reduce_range":false,"ch_axis":0})");
  CHECK(r.plan.find("conv1")->activations[0].text("observer", "") == "torch.quantization.MovingAverageMinMaxObserver");
  const support::FxNetwork network;
  amct::Diagnostics out;
  const amct::FxEasyConfig easy =
      amct::read_fx_easy(support::config_file(support::seed("yaml_easy.yaml")), "f", network.layers, network.names,
                         rules_of(amct::Flavour::hotwheels), out);
  CHECK(easy.mapping_file == "./om_json/resnet50.om.json");
}

TEST_CASE("the guide's easy config as yaml.dump writes it") {
  const Resolved r = resolve_seed("yaml_dump.yaml");
  CHECK(r.found.empty());
  CHECK(r.plan.find("fc")->activations[0].bits() == 12);
  CHECK(r.plan.find("conv1")->activations[0].bits() == 8);
}

TEST_CASE("the guide's cube-only configs quantize the matrix unit's layers only") {
  for (const int bits : {8, 12}) {
    CAPTURE(bits);
    const std::string width = std::to_string(bits);
    const Resolved r = resolve_seed("yaml_cube_only_" + width + "bit.yaml");
    CHECK(r.found.empty());
    for (const char* layer : {"conv1", "maxpool", "matmul", "fc"}) CHECK(r.enabled(layer));
    for (const char* layer : {"add", "softsign"}) CHECK_FALSE(r.enabled(layer));
    CHECK(r.activation("fc") == R"(UlqFakeQuantize{"observer":"IFMRObserver","num_bits":)" + width +
                                    R"(,"fixed_min":false,"batch_num":1,"object_layer":"fc"})");
    CHECK(r.weights("fc") == R"(ArqWeightFakeQuantize{"observer":"ArqObserver","num_bits":8,"channel_wise":false})");
    CHECK(r.weights("conv1") == R"(ArqWeightFakeQuantize{"observer":"ArqObserver","num_bits":8,"channel_wise":true})");
    CHECK(r.activation("matmul", 0) ==
          R"(LuqActivationFakeQuantize{"observer":"IFMRObserver","num_bits":)" + width +
              R"(,"batch_num":1,"qscheme":"symmetric","with_offset":false,"object_layer":"matmul"})");
    CHECK(r.plan.find("matmul")->activations[1].bits() == 8);
    CHECK(r.plan.find("maxpool")->activations[0].bits() == bits);
  }
}
