// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/find_siblings.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::contains;
using support::GraphBuilder;

namespace {

const FlavourRules& kHotwheels = rules_of(Flavour::hotwheels);

/// The guide's figure: a Slice that a Sub reads behind a Cast, and a Mul directly.
Graph net() {
  return GraphBuilder()
      .input("x", {1, 2})
      .input("z", {1, 2})
      .node("Relu", "slice", {"x"}, "s")
      .node("Cast", "cast", {"s"}, "c", {{"to", std::int64_t{1}}})
      .node("Sub", "sub_6", {"c", "z"}, "d")
      .node("Mul", "mul_6", {"s", "z"}, "m")
      .output("d")
      .output("m")
      .build();
}

QuantPlan plan_of(const std::vector<std::string>& names) {
  QuantPlan plan;
  for (const auto& name : names) {
    plan.layers.push_back(
        {.name = name, .kind = LayerKind::other, .activations = {ActivationPlan{}, ActivationPlan{}}});
  }
  return plan;
}

std::vector<Fault> siblings_of(const Graph& graph, const QuantPlan& plan) {
  return find_siblings(graph, network_quantization(plan, {}), kHotwheels);
}

}  // namespace

TEST_CASE("K21 siblings with unequal parameters behind a Cast are found, and made equal") {
  const Graph graph = net();
  QuantPlan plan = plan_of({"sub_6", "mul_6"});
  CHECK(siblings_of(graph, plan).empty());
  plan.layers[1].activations[0].bits = 16;
  const auto faults = siblings_of(graph, plan);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].kind == FaultKind::siblings);
  CHECK(faults[0].layer == "mul_6");
  CHECK(contains(faults[0].text, "as sub_6 does, but differs in num_bits (8 and 16); only a Cast"));
  CHECK(find_siblings(graph, network_quantization(plan, {}), rules_of(Flavour::pytorch)).empty());
  align_siblings(plan, graph, kHotwheels);
  CHECK(siblings_of(graph, plan).empty());
  CHECK(plan.layers[1].activations[0].bits == 8);
}

TEST_CASE("K21 one quantized and one float sibling: both stay float as in the guide") {
  const Graph graph = net();
  QuantPlan plan = plan_of({"sub_6", "mul_6"});
  plan.layers[1].enabled = false;
  const auto faults = siblings_of(graph, plan);
  REQUIRE(!faults.empty());
  CHECK(contains(faults[0].text, "quant_enable"));
  CHECK(faults[0].skip == std::vector<std::string>{"sub_6"});
  align_siblings(plan, graph, kHotwheels);
  CHECK(siblings_of(graph, plan).empty());
  CHECK(!plan.layers[0].enabled);
}

TEST_CASE("K21 K15 a float layer beside one of the matrix unit is quantized too") {
  const Graph graph = GraphBuilder()
                          .input("x", {1, 1, 2, 2})
                          .initializer("w", support::floats({1, 1, 1, 1}, {2}))
                          .node("Conv", "conv", {"x", "w"}, "c")
                          .node("Sigmoid", "sigmoid", {"x"}, "s")
                          .output("c")
                          .output("s")
                          .build();
  QuantPlan plan = plan_of({"conv", "sigmoid"});
  plan.layers[1].enabled = false;
  align_siblings(plan, graph, kHotwheels);
  CHECK(plan.layers[0].enabled);
  CHECK(plan.layers[1].enabled);
}

TEST_CASE("K21 layers that hang together over several tensors are switched together") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 1, 2, 2})
                         .input("z", {1, 1, 2, 2})
                         .initializer("w", support::floats({1, 1, 1, 1}, {2}))
                         .node("Conv", "conv", {"x", "w"}, "c")
                         .node("Add", "add", {"x", "z"}, "a")
                         .node("Sigmoid", "sigmoid", {"z"}, "s")
                         .output("c")
                         .output("a")
                         .output("s")
                         .build();
  QuantPlan plan = plan_of({"conv", "add", "sigmoid"});
  plan.layers[2].enabled = false;
  align_siblings(plan, graph, kHotwheels);
  for (const auto& layer : plan.layers) CHECK_MESSAGE(layer.enabled, layer.name);
}

TEST_CASE("K21 K27 a sibling of a layer that only moves data agrees with what stands behind that") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 1, 2, 2})
                         .initializer("w", support::floats({1, 1, 1, 1}, {2}))
                         .node("Abs", "abs", {"x"}, "a")
                         .node("Transpose", "move", {"x"}, "t", {{"perm", support::Ints{0, 1, 3, 2}}})
                         .node("Conv", "conv", {"t", "w"}, "c")
                         .output("a")
                         .output("c")
                         .build();
  QuantPlan plan = plan_of({"abs", "move", "conv"});
  plan.layers[0].enabled = false;
  plan.layers[1].activations[0].asymmetric = false;
  align_siblings(plan, graph, kHotwheels);
  for (const auto& layer : plan.layers) {
    CHECK(layer.enabled);
    CHECK(layer.activations[0] == plan.layers[0].activations[0]);
  }
}

TEST_CASE("A quantizer that a sibling takes over names its own layer") {
  const Graph graph = net();
  FxPlan plan;
  for (const char* name : {"sub_6", "mul_6"}) {
    QuantizerSpec spec{.name = "IFMRObserver"};
    spec.set("object_layer", std::string(name));
    plan.layers.push_back({.name = name, .activations = {spec, spec}});
  }
  plan.layers[0].activations[0].set("num_bits", 12);
  align_siblings(plan, graph, kHotwheels);
  const QuantizerSpec& spec = plan.layers[1].activations[0];
  CHECK(spec.bits() == 12);
  CHECK(spec.text("object_layer", "") == "mul_6");
}

TEST_CASE("The parameters of a product go before those of its siblings") {
  const Graph graph = GraphBuilder()
                          .input("x", {2, 2})
                          .input("z", {2, 2})
                          .node("Sigmoid", "sigmoid", {"z"}, "s")
                          .node("MatMul", "product", {"x", "z"}, "m")
                          .output("s")
                          .output("m")
                          .build();
  QuantPlan plan = plan_of({"sigmoid", "product"});
  plan.layers[1].activations[1].asymmetric = false;
  align_siblings(plan, graph, kHotwheels);
  CHECK(!plan.layers[0].activations[0].asymmetric);
}
