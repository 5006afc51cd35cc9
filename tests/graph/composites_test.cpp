// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/composites.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using Names = std::vector<std::string>;

// Each composite in the form of torch 1.13 is a row of quantizable_rules_test.cpp; here are the other forms.

namespace {

/// "type root inputs" of each composite.
Names found(const Graph& graph) {
  const Uses uses(graph);
  Names texts;
  for (const auto& composite : find_composites(graph, uses)) {
    texts.push_back(composite.op_type + ' ' + composite.root->name + ' ' + support::name_of(graph, composite.input) +
                    ' ' + std::to_string(composite.nodes.size()));
  }
  return texts;
}
GraphBuilder constants() {
  GraphBuilder builder;
  const std::pair<const char*, float> numbers[] = {{"half", 0.5F},       {"one", 1},
                                                   {"two", 2},           {"three", 3},
                                                   {"six", 6},           {"zero", 0},
                                                   {"root", 1.4142135F}, {"inverse", 0.70710678F},
                                                   {"kappa", 0.044715F}, {"beta", 0.7978845608F}};
  builder.input("x", {1, 2, 4});
  for (const auto& [name, number] : numbers) builder.initializer(name, Tensor::scalar(number));
  return builder;
}

}  // namespace

TEST_CASE("GELU with a product instead of the quotient, and halves first") {
  CHECK(found(constants()
                  .node("Mul", "m1", {"inverse", "x"}, "a")
                  .node("Erf", "erf", {"a"}, "b")
                  .node("Add", "add", {"one", "b"}, "c")
                  .node("Mul", "m2", {"half", "x"}, "d")
                  .node("Mul", "m3", {"d", "c"}, "y")
                  .output("y")
                  .build()) == Names{"GELU m3 x 5"});
}

TEST_CASE("GELU by tanh, with a power or with products") {
  for (const bool power : {true, false}) {
    auto builder = constants();
    if (power) builder.node("Pow", "cube", {"x", "three"}, "b");
    else builder.node("Mul", "square", {"x", "x"}, "a").node("Mul", "cube", {"x", "a"}, "b");
    CHECK(found(builder.node("Mul", "m1", {"kappa", "b"}, "c")
                    .node("Add", "a1", {"x", "c"}, "d")
                    .node("Mul", "m2", {"beta", "d"}, "e")
                    .node("Tanh", "tanh", {"e"}, "f")
                    .node("Add", "a2", {"one", "f"}, "g")
                    .node("Mul", "m3", {"x", "g"}, "h")
                    .node("Mul", "m4", {"half", "h"}, "y")
                    .output("y")
                    .build()) == Names{power ? "GELU m4 x 8" : "GELU m4 x 9"});
  }
}

TEST_CASE("Hardswish as Paddle writes it") {
  CHECK(found(constants()
                  .node("Add", "add", {"x", "three"}, "a")
                  .node("Clip", "clip", {"a", "zero", "six"}, "b")
                  .node("Mul", "mul", {"x", "b"}, "c")
                  .node("Div", "div", {"c", "six"}, "y")
                  .output("y")
                  .build()) == Names{"Hardswish div x 4"});
}

TEST_CASE("A HardSigmoid of another slope makes no Hardswish") {
  CHECK(found(constants().node("HardSigmoid", "h", {"x"}, "a").node("Mul", "m", {"x", "a"}, "y").output("y").build())
            .empty());
}

namespace {

/// LayerNorm without gamma and beta, with the mean taken off twice as Paddle does.
Graph plain_norm(const Ints& axes, bool declared = true) {
  auto builder = constants();
  if (!declared)
    builder = GraphBuilder().initializer("two", Tensor::scalar(2.0F)).initializer("one", Tensor::scalar(1.0F));
  Graph graph = builder.node("ReduceMean", "mean", {"x"}, "m", {{"axes", axes}})
                    .node("Sub", "sub1", {"x", "m"}, "d")
                    .node("Sub", "sub2", {"x", "m"}, "e")
                    .node("Pow", "pow", {"e", "two"}, "p")
                    .node("ReduceMean", "var", {"p"}, "v", {{"axes", axes}})
                    .node("Add", "add", {"v", "one"}, "s")
                    .node("Sqrt", "sqrt", {"s"}, "t")
                    .node("Div", "div", {"d", "t"}, "y")
                    .output("y")
                    .build();
  if (declared) graph.value(support::find_value(graph, "p")).shape = graph.value(graph.inputs[0]).shape;
  return graph;
}

}  // namespace

TEST_CASE("LayerNorm without gamma and beta; over the last axes only") {
  CHECK(found(plain_norm({-1})) == Names{"LayerNorm div x 8"});
  CHECK(found(plain_norm({-2, -1})) == Names{"LayerNorm div x 8"});
  CHECK(found(plain_norm({2})) == Names{"LayerNorm div x 8"});
  CHECK(found(plain_norm({1})).empty());
  CHECK(found(plain_norm({-2})).empty());
  CHECK(found(plain_norm({2}, false)).empty());
}

TEST_CASE("What others read is no composite") {
  CHECK(found(constants()
                  .node("Sigmoid", "s", {"x"}, "a")
                  .node("Mul", "m", {"x", "a"}, "y")
                  .output("y")
                  .output("a")
                  .build())
            .empty());
  CHECK(found(constants()
                  .node("Sigmoid", "s", {"x"}, "a")
                  .node("Mul", "m", {"x", "a"}, "y")
                  .node("Neg", "n", {"a"}, "z")
                  .output("y")
                  .output("z")
                  .build())
            .empty());
}

TEST_CASE("Composites follow each other without overlap, in model order") {
  CHECK(found(constants()
                  .node("Sigmoid", "s1", {"x"}, "a")
                  .node("Mul", "m1", {"x", "a"}, "b")
                  .node("Sigmoid", "s2", {"b"}, "c")
                  .node("Mul", "m2", {"c", "b"}, "d")
                  .node("Tanh", "t", {"d"}, "e")
                  .node("Sub", "sub", {"d", "e"}, "y")
                  .output("y")
                  .build()) == Names{"SiLU m1 x 2", "SiLU m2 b 2", "Tanhshrink sub d 2"});
}

TEST_CASE("An index knows the composites of the types that were asked for") {
  const Graph graph = constants()
                          .node("Sigmoid", "s", {"x"}, "a")
                          .node("Mul", "m", {"x", "a"}, "y")
                          .node("Relu", "r", {"y"}, "z")
                          .output("z")
                          .build();
  const Uses uses(graph);
  constexpr std::string_view kSilu[] = {"SiLU"};
  constexpr std::string_view kMish[] = {"Mish"};
  const CompositeIndex index(graph, uses, kSilu);
  REQUIRE(index.of(graph.nodes[0]) != nullptr);
  CHECK(index.of(graph.nodes[0]) == index.of(graph.nodes[1]));
  CHECK(index.of(graph.nodes[2]) == nullptr);
  CHECK(CompositeIndex(graph, uses, kMish).of(graph.nodes[0]) == nullptr);
  CHECK(CompositeIndex(graph, uses, {}).of(graph.nodes[0]) == nullptr);
}
