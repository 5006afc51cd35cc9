// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/offline.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct::graph;

TEST_CASE("Nodes that depend on constants alone, but not those that draw numbers") {
  const Graph graph = support::GraphBuilder()
                          .input("x", {2})
                          .constant("c", support::floats({2}, {1, 2}))
                          .initializer("d", support::floats({2}, {1, 2}))
                          .node("Neg", "first", {"c"}, "n")
                          .node("Add", "second", {"n", "d"}, "s")
                          .node("RandomUniformLike", "random", {"d"}, "r")
                          .node("Sub", "drawn", {"r", "d"}, "u")
                          .node("Mul", "online", {"s", "x"}, "y")
                          .output("y")
                          .output("u")
                          .build();
  std::set<std::string> names;
  for (const Node* node : offline_nodes(graph)) names.insert(node->name);
  CHECK(names == std::set<std::string>{"first", "second"});
}
