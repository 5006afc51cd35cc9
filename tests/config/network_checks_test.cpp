// SPDX-License-Identifier: Apache-2.0
#include <amct/config/network_checks.hpp>

#include <string>
#include <vector>

#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_resolve.hpp>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

namespace {

using amct::Flavour;
using amct::LayerKind;
using amct::Network;
using amct::NetworkNode;
using amct::NetworkQuantization;
using support::contains;

const amct::FlavourRules& kStatic = amct::rules_of(Flavour::hotwheels);
const amct::FlavourRules& kDynamic = amct::rules_of(Flavour::hotwheels_dynamic);

NetworkNode node(const char* name, const char* op_type, std::vector<std::string> inputs,
                 std::vector<std::string> outputs) {
  return {name, std::string("/") + name, op_type, std::move(inputs), std::move(outputs)};
}

/// One input a layer, with a number of bits; 0 means float.
amct::LayerQuantization bits(int count, std::size_t inputs = 1) {
  amct::LayerQuantization layer{.enabled = count != 0};
  for (std::size_t i = 0; i < inputs; ++i) {
    layer.inputs.push_back({{{"quantizer", "Q"}, {"num_bits", std::to_string(count)}}});
  }
  return layer;
}

std::string check(const Network& network, const NetworkQuantization& quantization,
                  const amct::FlavourRules& rules = kDynamic) {
  amct::Diagnostics out;
  amct::check_network(network, quantization, rules, "config.json", out);
  return support::text_of(out);
}

/// conv -> (add, mul)
const Network kFork{node("conv", "Conv", {"x"}, {"a"}), node("add", "Add", {"a"}, {"b"}),
                    node("mul", "Mul", {"a"}, {"c"})};

}  // namespace

TEST_CASE("K44, scene 1: something must be quantized, in every flavour") {
  const Network network{node("add", "Add", {"x"}, {"y"})};
  const std::string expected =
      "amct: [config.layer] config.json: No quant enable layer in quant config file, please check the quant config "
      "file.\n";
  CHECK(check(network, {{"add", bits(0)}}) == expected);
  CHECK(check(network, {}) == expected);
  CHECK(check(network, {{"add", bits(0)}}, amct::rules_of(Flavour::pytorch)) == expected);
  CHECK(check(network, {{"add", bits(8)}}).empty());
}

TEST_CASE("K44, scene 2: layers that read one tensor must have equal parameters") {
  CHECK(check(kFork, {{"conv", bits(8)}, {"add", bits(8)}, {"mul", bits(8)}}).empty());
  CHECK(
      check(kFork, {{"conv", bits(8)}, {"add", bits(8)}, {"mul", bits(16)}}) ==
      "amct: [config.layer] config.json layer \"mul\": Outputs add(onnx name: /add) and mul(onnx name: /mul) of layer "
      "conv(onnx name: /conv) should have consistent num_bits (8 and 16)\n");
  CHECK(contains(
      check({node("add", "Add", {"x"}, {}), node("mul", "Mul", {"x"}, {})}, {{"add", bits(8)}, {"mul", bits(9)}}),
      "of layer x should have consistent num_bits"));
  // Layers that cannot be quantized are left out.
  CHECK(check(kFork, {{"conv", bits(8)}, {"add", bits(8)}}).empty());
  // The input that reads the tensor counts.
  const Network second{node("add", "Add", {"p", "x"}, {}), node("mul", "Mul", {"x"}, {})};
  NetworkQuantization quantization{{"add", bits(8, 2)}, {"mul", bits(16)}};
  CHECK(contains(check(second, quantization), "num_bits"));
  quantization["add"].inputs[1] = bits(16).inputs[0];
  CHECK(check(second, quantization).empty());
}

TEST_CASE("K44, scene 2: a float layer beside a quantized one is an error or a warning, as the flavour says") {
  const NetworkQuantization mixed{{"conv", bits(8)}, {"add", bits(8)}, {"mul", bits(0)}};
  CHECK(contains(check(kFork, mixed), "amct: [config.layer] config.json layer \"mul\": Outputs"));
  CHECK(contains(check(kFork, mixed), "should have consistent quant_enable\n"));
  CHECK(check(kFork, mixed, kStatic).starts_with("warning: "));
  CHECK(check(kFork, mixed, amct::rules_of(Flavour::pytorch)).empty());
}

TEST_CASE("K44, scene 2: every pair is reported once, with the first reader") {
  Network network{node("conv", "Conv", {"x"}, {"a"})};
  NetworkQuantization quantization{{"conv", bits(8)}};
  for (int i = 0; i < 4; ++i) {
    const std::string name = "add" + std::to_string(i);
    network.push_back(node(name.c_str(), "Add", {"a"}, {}));
    quantization[name] = bits(i == 0 ? 8 : 16);
  }
  const std::string found = check(network, quantization);
  CHECK(std::count(found.begin(), found.end(), '\n') == 3);
}

TEST_CASE("K44, scene 3: layers without instructions must have the parameters of the next layer, except at the end") {
  for (const char* op :
       {"Concat", "Split", "Reshape", "Flatten", "Slice", "Transpose", "Tile", "Squeeze", "Unsqueeze"}) {
    CAPTURE(op);
    const Network network{node("move", op, {"x"}, {"a"}), node("add", "Add", {"a"}, {"b"}),
                          node("last", op, {"b"}, {"c"})};
    CHECK(check(network, {{"move", bits(8)}, {"add", bits(8)}, {"last", bits(16)}}).empty());
    CHECK(
        check(network, {{"move", bits(16)}, {"add", bits(8)}, {"last", bits(8)}}) ==
        "amct: [config.layer] config.json layer \"move\": Layer add should have consistent num_bits (16 and 8) with no "
        "command layer move\n");
  }
  const Network relu{node("relu", "Relu", {"x"}, {"a"}), node("add", "Add", {"a"}, {"b"})};
  CHECK(check(relu, {{"relu", bits(16)}, {"add", bits(8)}}).empty());
}

TEST_CASE("K44, scene 3: all inputs of a Concat count, and chains are followed") {
  const Network concat{node("cat", "Concat", {"x", "y"}, {"a"}), node("add", "Add", {"a"}, {"b"})};
  NetworkQuantization quantization{{"cat", bits(8, 2)}, {"add", bits(8)}};
  CHECK(check(concat, quantization).empty());
  quantization["cat"].inputs[1] = bits(16).inputs[0];
  CHECK(contains(check(concat, quantization), "with no command layer cat"));
  const Network chain{node("r", "Reshape", {"x"}, {"a"}), node("t", "Transpose", {"a"}, {"b"}),
                      node("add", "Add", {"b"}, {"c"})};
  const std::string found = check(chain, {{"r", bits(8)}, {"t", bits(8)}, {"add", bits(16)}});
  CHECK(contains(found, "with no command layer t"));
  CHECK_FALSE(contains(found, "with no command layer r"));
}

TEST_CASE("K44, scene 4: CUBE layers must be quantized, unless they are computed beforehand") {
  for (const char* op :
       {"Conv", "Gemm", "ConvTranspose", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}) {
    CAPTURE(op);
    const Network network{node("cube", op, {"x"}, {"a"}), node("add", "Add", {"y"}, {"b"})};
    const std::string expected =
        "amct: [config.layer] config.json layer \"cube\": Layer cube must be quantized as it is an operation "
        "calculated on CUBE\n";
    CHECK(check(network, {{"cube", bits(0)}, {"add", bits(8)}}, kStatic) == expected);
    CHECK(check(network, {{"add", bits(8)}}, kStatic) == expected);
    CHECK(check(network, {{"cube", bits(8)}, {"add", bits(8)}}, kStatic).empty());
  }
  const Network offline{node("conv", "Conv", {}, {"a"}), node("add", "Add", {"a"}, {"b"})};
  CHECK(check(offline, {{"conv", bits(0)}, {"add", bits(8)}}).empty());
}

TEST_CASE("plans of the static graph: defaults count as stated, the layer's own name does not count") {
  const amct::LayerTable layers{{.name = "conv", .op_type = "Conv"},
                                {.name = "add", .kind = LayerKind::other, .op_type = "Add"},
                                {.name = "mul", .kind = LayerKind::other, .op_type = "Mul"}};
  amct::Diagnostics out;
  amct::FxPlan plan = amct::resolve_fx({}, layers, kStatic, out);
  CHECK(check(kFork, amct::network_quantization(plan, layers, kStatic), kStatic).empty());
  plan.layers[1].activations[0] = {.name = "UlqFakeQuantize"};  // says nothing: the defaults
  CHECK(check(kFork, amct::network_quantization(plan, layers, kStatic), kStatic).empty());
  plan.layers[1].activations[0].set("scales", amct::ConfigValue::List{1, 2.5, amct::ConfigValue::Object{}});
  CHECK(contains(check(kFork, amct::network_quantization(plan, layers, kStatic), kStatic), "consistent scales"));
  plan.layers[2].activations[0] = plan.layers[1].activations[0];
  CHECK(check(kFork, amct::network_quantization(plan, layers, kStatic), kStatic).empty());
  plan.layers[2].activations[0].name = "LuqActivationFakeQuantize";
  CHECK(contains(check(kFork, amct::network_quantization(plan, layers, kStatic), kStatic),
                 "consistent quantizer (UlqFakeQuantize and LuqActivationFakeQuantize)"));
  plan.layers.erase(plan.layers.begin());  // K27: deleted from the config, then the CUBE check speaks
  CHECK(contains(check(kFork, amct::network_quantization(plan, layers, kStatic), kStatic),
                 "Layer conv must be quantized"));
}

TEST_CASE("plans of the classic family: each parameter of an activation counts") {
  const amct::LayerTable layers{{.name = "conv"}, {.name = "add"}, {.name = "mul"}};
  const auto found = [&](const amct::ActivationPlan& other) {
    amct::QuantPlan plan;
    for (const char* name : {"conv", "add", "mul"}) plan.layers.push_back({.name = name});
    plan.layers[2].activations = {other};
    return check(kFork, amct::network_quantization(plan, layers));
  };
  CHECK(found({}).empty());
  CHECK(contains(found({.algorithm = amct::ActivationAlgorithm::hfmg}), "consistent act_algo (ifmr and hfmg)"));
  CHECK(contains(found({.bits = 16}), "consistent num_bits (8 and 16)"));
  CHECK(contains(found({.asymmetric = false}), "consistent asymmetric (true and false)"));
  CHECK(contains(found({.max_percentile = 0.9}), "consistent max_percentile (0.999999 and 0.9)"));
  CHECK(contains(found({.search_end = 1.2}), "consistent search_range (0.7..1.3 and 0.7..1.2)"));
  CHECK(contains(found({.search_step = 0.02}), "consistent search_step"));
}

TEST_CASE("a chain of many layers, and a tensor that many layers read, take no noticeable time") {
  Network network{node("conv", "Conv", {"x"}, {"t0"})};
  NetworkQuantization quantization{{"conv", bits(8)}};
  for (int i = 0; i < 100000; ++i) {
    const std::string name = "r" + std::to_string(i);
    network.push_back(node(name.c_str(), "Reshape", {i % 2 == 0 ? "t0" : "r" + std::to_string(i - 1)}, {name}));
    quantization[name] = bits(8);
  }
  CHECK(check(network, quantization).empty());
}
