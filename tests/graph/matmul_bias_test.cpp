// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/matmul_bias.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;

namespace {

GraphBuilder linear(const std::vector<std::string>& inputs, Tensor bias = floats({3}, {1, 2, 3})) {
  return GraphBuilder()
      .input("x")
      .initializer("w", floats({2, 3}, {1, 2, 3, 4, 5, 6}))
      .initializer("b", std::move(bias))
      .node("MatMul", "mm", {"x", "w"}, "m")
      .node("Add", "add", inputs, "y")
      .output("y");
}
bool has_add(const GraphBuilder& builder) {
  const Graph graph = builder.build();
  return bias_add(graph.nodes[0], Uses(graph)) != nullptr;
}

}  // namespace

TEST_CASE("The Add of a MatMul has one constant a column, on either side, and nobody else reads the product") {
  CHECK(has_add(linear({"m", "b"})));
  CHECK(has_add(linear({"b", "m"})));
  CHECK_FALSE(has_add(linear({"m", "x"})));
  CHECK_FALSE(has_add(linear({"m", "m"})));
  CHECK_FALSE(has_add(linear({"m", "b"}, floats({1}, {1}))));
  CHECK_FALSE(has_add(linear({"m", "b"}, floats({1, 3}, {1, 2, 3}))));
  CHECK_FALSE(has_add(linear({"m", "b"}, support::int64s({1, 2, 3}))));
  CHECK_FALSE(has_add(linear({"m", "b"}).output("m")));
}

TEST_CASE("AMCT knows the bias of a MatMul as the second input of the Add only") {
  const auto place = [](const Graph& graph) { return bias_place(graph.nodes[0], Uses(graph)); };
  const Graph second = linear({"m", "b"}).build();
  CHECK(place(second).node == &second.nodes[1]);
  CHECK(place(second).input == 1);
  CHECK(place(linear({"b", "m"}).build()).node == nullptr);
}

TEST_CASE("Other layers have their bias themselves") {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .input("w")
                          .input("b")
                          .node("Conv", "c", {"x", "w", "b"}, "y")
                          .node("Conv", "d", {"y", "w"}, "z")
                          .build();
  CHECK(bias_place(graph.nodes[0], Uses(graph)).node == &graph.nodes[0]);
  CHECK(bias_place(graph.nodes[0], Uses(graph)).input == 2);
  CHECK(bias_place(graph.nodes[1], Uses(graph)).node == nullptr);
}

TEST_CASE("The Add of a MatMul of integers is known by its int32 bias") {
  const auto integer = [](Tensor bias) {
    const Graph graph = linear({"m", "b"}, std::move(bias)).build();
    return integer_bias_add(graph.nodes[0], Uses(graph)) != nullptr;
  };
  CHECK(integer(Tensor(ElementType::int32, {3})));
  CHECK_FALSE(integer(floats({3}, {1, 2, 3})));
}
