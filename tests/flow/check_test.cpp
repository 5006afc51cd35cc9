// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/check.hpp>

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::floats;
using support::GraphBuilder;
using Names = std::vector<std::string>;

namespace {

/// Conv, Relu and a tail of small layers.
graph::Graph net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("conv.weight", floats({2, 1, 1, 1}, {2, 0.5F}))
      .node("Conv", "/conv/Conv", {"x", "conv.weight"}, "c")
      .node("Sin", "sin", {"c"}, "s")
      .node("Abs", "abs", {"s"}, "a")
      .node("Sigmoid", "sigmoid", {"s"}, "g")
      .node("Mul", "mul", {"a", "g"}, "m")
      .node("Tanh", "tanh", {"m"}, "y")
      .output("y")
      .build();
}

flow::PlannedNetwork plan(flow::AnyConfig config, Flavour flavour, const Names& skip = {}) {
  return flow::plan_network(net(), std::move(config), skip, rules_of(flavour), {}, support::ops());
}

ConfigValue full_layer(bool enabled, const char* offset) {
  ConfigValue activation;
  activation.add("num_bits", 8);
  activation.add("asymmetric", std::string(offset) == "true");
  ConfigValue layer;
  layer.add("quant_enable", enabled);
  layer.add("activation_quant_params", ConfigValue::List{activation});
  return layer;
}

}  // namespace

TEST_CASE("A dry run tells how each layer would be quantized, under both of its names") {
  const auto network = plan({}, Flavour::pytorch);
  const auto layers = flow::checked_layers(network);
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].layer == "conv");
  CHECK(layers[0].node == "/conv/Conv");
  CHECK(layers[0].type == "Conv2d");
  CHECK(layers[0].activations == "int8 ifmr");
  CHECK(layers[0].weights == "int8 arq, a scale a channel");
  CHECK(network.quantized() == std::set<std::string>{"conv"});
  CHECK(flow::planned_faults(network).empty());
}

TEST_CASE("K15 K27 layers of the matrix unit that a full config leaves out are an error, and siblings are findings") {
  ConfigValue full;
  full.add("abs", full_layer(true, "true"));
  full.add("sigmoid", full_layer(true, "false"));
  const auto network = plan({.content = flow::FullConfigText{full}, .file = "config.json"}, Flavour::hotwheels_dynamic);
  CHECK(network.diagnostics.has_errors());
  CHECK(
      contains(network.diagnostics.all().back().message, "must be quantized as it is an operation calculated on CUBE"));
  const auto faults = flow::planned_faults(network);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].kind == graph::FaultKind::siblings);
  CHECK(faults[0].layer == "sigmoid");
  CHECK(contains(faults[0].text, "asymmetric"));
}

TEST_CASE("K21 advice on configs is followed: the tail stays float and siblings agree") {
  auto network = plan({}, Flavour::hotwheels_dynamic);
  const auto faults = flow::planned_faults(network);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].kind == graph::FaultKind::post_processing);
  CHECK(faults[0].skip == Names{"abs", "sigmoid", "mul", "tanh"});
  flow::repair_plan(network, faults);
  for (const auto& layer : std::get<QuantPlan>(network.plan).layers) CHECK(layer.enabled == (layer.name == "conv"));
}

TEST_CASE("K28 layers of a region stay float beside those that a config names, in any form of config") {
  const Names tail{"mul", "tanh"};
  CHECK(!plan({}, Flavour::hotwheels_dynamic, tail).quantized().contains("mul"));
  EasyConfig easy;
  easy.skip_layers = {"abs"};
  const auto left = plan({.content = easy}, Flavour::hotwheels_dynamic, tail).quantized();
  CHECK(left == std::set<std::string>{"conv", "sigmoid"});
  ConfigValue full;
  for (const char* name : {"conv", "tanh", "abs"}) full.add(name, full_layer(true, "true"));
  const auto kept = plan({.content = flow::FullConfigText{full}}, Flavour::hotwheels_dynamic, tail).quantized();
  CHECK(kept == std::set<std::string>{"conv", "abs"});
  ConfigValue alias;  // the file may call the layers by other names than the plan
  for (const char* name : {"/conv/Conv", "tanh"}) alias.add(name, full_layer(true, "true"));
  CHECK(plan({.content = flow::FullConfigText{alias}}, Flavour::hotwheels_dynamic, {"conv"}).quantized() ==
        std::set<std::string>{"tanh"});
}

TEST_CASE("The ranges of tensors that a record knows") {
  const auto network = plan({}, Flavour::pytorch);
  const Record record{{.name = "conv", .scale_d = 0.5F, .offset_d = -128}};
  const auto ranges = flow::recorded_ranges(record, network.graph);
  REQUIRE(ranges.size() == 1);
  CHECK(ranges.at("x").lowest == 0.0);
  CHECK(ranges.at("x").highest == 127.5);
}
