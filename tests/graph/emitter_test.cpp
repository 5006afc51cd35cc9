// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/emitter.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct::graph;
using support::name_of;

TEST_CASE("Nodes and their results get names that are free, a layer keeps its own") {
  Graph graph = support::GraphBuilder().input("x").input("a.output0").node("Relu", "a", {"x"}, "y").build();
  UniqueNames names(graph);
  std::vector<Node> nodes;
  Emitter emit(graph, names, nodes);
  const ValueId first = emit.node("Neg", "a", {0});
  const ValueId second = emit.named("Neg", "a", {first}, {{"k", std::int64_t{1}}});
  CHECK(emit.node("Neg", "b", {second}, {}, 2) == 2);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0].name == "a_2");
  CHECK(name_of(graph, first) == "a_2.output0");
  CHECK(nodes[1].name == "a");
  CHECK(name_of(graph, second) == "a.output0_2");
  CHECK(nodes[1].inputs == std::vector<ValueId>{first});
  CHECK(nodes[1].attribute_or<std::int64_t>("k", 0) == 1);
  CHECK(nodes[2].outputs == std::vector<ValueId>{2});
}
