// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/explain.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using flow::Explanation;
using support::contains;
using support::floats;
using support::GraphBuilder;

namespace {

/// Conv (one channel of zeros, one ten times as wide as the others) and BatchNormalization; a MaxPool beside the Conv.
graph::Graph net() {
  return GraphBuilder()
      .input("x", {-1, 1, 2, 2})
      .initializer("conv.weight", floats({4, 1, 1, 1}, {1, 0, 1, 10}))
      .initializer("ones", floats({4}, {1, 1, 1, 1}))
      .initializer("zeros", floats({4}, {0, 0, 0, 0}))
      .node("Conv", "/block/conv/Conv", {"x", "conv.weight"}, "c")
      .node("BatchNormalization", "/block/bn/BatchNormalization", {"c", "ones", "zeros", "zeros", "ones"}, "y",
            {{"epsilon", 0.0F}})
      .node("GlobalAveragePool", "pool", {"x"}, "z")
      .node("Sin", "sin", {"z"}, "s")
      .output("y")
      .output("s")
      .build();
}

Explanation explain(const std::string& name, const flow::AnyConfig& config = {}, const Record* record = nullptr,
                    Flavour flavour = Flavour::pytorch, std::vector<graph::Fault> faults = {}) {
  const graph::Graph model = net();
  const auto network = flow::plan_network(model, config, {}, rules_of(flavour), {}, support::ops());
  return flow::explain(
      {.model = model, .network = network, .config = config, .record = record, .faults = std::move(faults)}, name);
}

/// The text of a fact; empty if there is none.
std::string fact(const Explanation& explanation, const std::string& section, const std::string& name) {
  for (const auto& one : explanation.sections) {
    if (one.title != section) continue;
    for (const auto& entry : one.facts) {
      if (entry.name == name) return entry.text;
    }
  }
  return {};
}

std::string decided_by(const Explanation& explanation, const std::string& parameter) {
  for (const auto& value : explanation.values) {
    if (value.parameter == parameter) return value.value + ", " + value.by;
  }
  return {};
}

}  // namespace

TEST_CASE("A layer is explained under any of its names: names, tensors, how it is quantized") {
  for (const char* name : {"block.conv", "/block/conv/Conv", "conv"}) {
    const auto found = explain(name);
    CHECK(fact(found, "Names", "layer") == "block.conv");
    CHECK(fact(found, "Names", "node in the model") == "/block/conv/Conv");
    CHECK(fact(found, "Names", "stands for") == "/block/conv/Conv + /block/bn/BatchNormalization");
    CHECK(fact(found, "Tensors", "reads x") == "float32 [?, 1, 2, 2], an input of the model");
    CHECK(contains(fact(found, "Tensors", "makes c"), "read by block.bn"));
    CHECK(fact(found, "Quantization", "weights") == "int8 arq, a scale a channel");
  }
  CHECK(support::error_of([] { (void)explain("nothing"); })->code() == ErrorCode::config_layer);
}

TEST_CASE("Why a layer stays float") {
  EasyConfig easy{.file = "q.cfg"};
  easy.skip_layers = {"block.conv"};
  CHECK(fact(explain("pool"), "Quantization", "stays float") == "flavour pytorch does not quantize GlobalAveragePool");
  CHECK(fact(explain("block.bn"), "Quantization", "is part of") == "block.conv");
  const auto skipped = explain("conv", {.content = easy, .file = "q.cfg"}, nullptr, Flavour::hotwheels_dynamic);
  CHECK(fact(skipped, "Quantization", "stays float") == "skipped by the configuration");
  CHECK(decided_by(skipped, "quant_enable") == "false, skip_layers (q.cfg)");
}

TEST_CASE("Which level of an easy config decided a value") {
  EasyConfig easy{.file = "q.cfg"};
  easy.activation_offset = false;
  ActivationSetting common{.bits = 8};
  common.places.block.line = 3;
  common.max_percentile = 0.99;
  easy.common.activation = common;
  WeightSetting of_type{.bits = 8};
  of_type.places.block.line = 7;
  LayerSetting type;
  type.weights = of_type;
  easy.layer_types = {{"Conv2d", type}};
  const flow::AnyConfig config{.content = easy, .file = "q.cfg"};
  const auto inherited = explain("conv", config, nullptr, Flavour::hotwheels_dynamic);
  CHECK(decided_by(inherited, "activation_quant_params[0].max_percentile") == "0.99, common_config (q.cfg:3)");
  CHECK(decided_by(inherited, "activation_quant_params[0].min_percentile") == "0.999999, default");
  CHECK(decided_by(inherited, "weight_quant_params.num_bits") == "8, override_layer_types Conv2d (q.cfg:7)");
  CHECK(decided_by(inherited, "weight_quant_params.channel_wise") == "true, default");
  // In AMCT's PyTorch line an override counts as a whole: what it leaves out is not that of the common level.
  const auto whole = explain("conv", config);
  CHECK(decided_by(whole, "activation_quant_params.max_percentile") == "0.999999, default");
  CHECK(decided_by(whole, "activation_quant_params.asymmetric") == "false, activation_offset (q.cfg)");
  const auto silent = explain("conv", {.content = EasyConfig{.file = "q.cfg"}, .file = "q.cfg"});
  CHECK(decided_by(silent, "activation_quant_params.asymmetric") == "true, default");
}

TEST_CASE("Which member of a full config decided a value") {
  ConfigValue activation;
  activation.add("num_bits", 8);
  ConfigValue layer;
  layer.add("quant_enable", true);
  layer.add("activation_quant_params", activation);
  ConfigValue full;
  full.add("conv", layer);
  const auto found = explain("conv", {.content = flow::FullConfigText{full}, .file = "config.json"});
  CHECK(decided_by(found, "activation_quant_params.num_bits") == "8, the layer (config.json)");
  CHECK(decided_by(found, "activation_quant_params.search_step") == "0.01, default");
}

TEST_CASE("Factors, neighbours, what INT8 weights cost, and advice") {
  const Record record{{.name = "conv", .scale_d = 0.5F, .offset_d = 0, .scale_w = {0.25F, 1.0F}, .wts_type = "INT8"}};
  const graph::Fault fault{.kind = graph::FaultKind::no_op, .layer = "block.conv", .text = "x * 1", .fixable = true};
  const auto found = explain("conv", {}, &record, Flavour::hotwheels_dynamic, {fault});
  CHECK(fact(found, "Factors in the record", "data 0") == "scale_d 0.5, offset_d 0, INT8: -64.0000 to 63.5000");
  CHECK(fact(found, "Factors in the record", "weight scales") == "2 of INT8, scale_w 0.25 to 1.0");
  CHECK(fact(found, "Shares parameters with", "input 0") == "pool");
  CHECK(fact(found, "INT8 weights", "size") == "16 bytes, 4 in INT8");
  CHECK(fact(found, "INT8 weights", "channels") ==
        "4, of which 1 hold zeros only; the widest is 10.0 times the median one");
  CHECK(contains(fact(found, "INT8 weights", "largest sum"), "32385 for any 8-bit data, below 2^24"));
  const auto advised = [&](const char* text) {
    return std::any_of(found.advice.begin(), found.advice.end(),
                       [&](const auto& line) { return contains(line, text); });
  };
  CHECK(advised("[graph.no_op] x * 1. Fix: it is removed (amct check --fix)"));
  CHECK(advised("channels differ in width"));
  CHECK(advised("bias_aware"));
}

TEST_CASE("Weights that are not finite have no cost in INT8") {
  const auto cost = [](float weight) {
    const auto graph = GraphBuilder()
                           .input("x", {1, 1, 2, 2})
                           .initializer("w", floats({2, 1, 1, 1}, {1, weight}))
                           .node("Conv", "conv", {"x", "w"}, "y")
                           .output("y")
                           .build();
    return flow::weight_cost(graph.nodes[0], graph).has_value();
  };
  CHECK(cost(2.0F));
  CHECK(!cost(std::numeric_limits<float>::quiet_NaN()));
  CHECK(!cost(-std::numeric_limits<float>::infinity()));
}
