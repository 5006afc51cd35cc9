// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/fold_weight_transpose.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using support::floats;

namespace {

amct::graph::Graph linear(support::Ints perm) {
  return support::GraphBuilder()
      .input("x", {1, 2})
      .initializer("w", floats({3, 2}, {1, 2, 3, 4, 5, 6}))
      .node("Transpose", "t", {"w"}, "wt", {{"perm", std::move(perm)}})
      .node("MatMul", "fc", {"x", "wt"}, "y")
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("a MatMul takes in the Transpose of its weight") {
  amct::graph::Graph graph = linear({1, 0});
  CHECK(amct::graph::fold_weight_transpose(graph).changed_nodes() == std::vector<std::string>{"fc"});
  REQUIRE(graph.nodes.size() == 1);
  const auto& weight = graph.value(graph.nodes[0].inputs[1]);
  CHECK(weight.name == "fc.weight_transposed");
  REQUIRE(weight.initializer);
  CHECK(weight.initializer->shape() == amct::Shape{2, 3});
  CHECK(support::values(*weight.initializer) == std::vector<float>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("an order of axes that changes nothing is left alone") {
  amct::graph::Graph graph = linear({0, 1});
  CHECK(amct::graph::fold_weight_transpose(graph).changed.empty());
  CHECK(graph.nodes.size() == 2);
}

TEST_CASE("a Transpose that another node reads too stays for it") {
  amct::graph::Graph graph = support::GraphBuilder()
                                 .input("x", {1, 2})
                                 .initializer("w", floats({3, 2}, {1, 2, 3, 4, 5, 6}))
                                 .node("Transpose", "t", {"w"}, "wt", {{"perm", support::Ints{1, 0}}})
                                 .node("MatMul", "fc", {"x", "wt"}, "y")
                                 .node("Identity", "i", {"wt"}, "z")
                                 .output("y")
                                 .output("z")
                                 .build();
  amct::graph::fold_weight_transpose(graph);
  CHECK(graph.nodes.size() == 3);
  CHECK(graph.value(graph.find_node("fc")->inputs[1]).name == "fc.weight_transposed");
  CHECK(graph.value(graph.find_node("i")->inputs[0]).name == "wt");
}
