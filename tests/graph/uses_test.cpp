// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/uses.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_value;

namespace {

Graph diamond() {
  return support::GraphBuilder()
      .input("x", {1, 2})
      .initializer("w", support::floats({2}, {1, 2}))
      .constant("k", support::floats({2}, {3, 4}))
      .node("Add", "add", {"x", "w"}, "a")
      .node("Mul", "mul", {"a", "a"}, "b")
      .node("Sub", "sub", {"a", "k"}, "c")
      .node("Clip", "clip", {"b", "", "c"}, "d")
      .output("d")
      .output("c")
      .build();
}

}  // namespace

TEST_CASE("The producer of a value is the node that makes it; inputs and initializers have none") {
  const Graph graph = diamond();
  const Uses uses(graph);
  CHECK(uses.producer(find_value(graph, "a")) == graph.find_node("add"));
  CHECK(uses.producer(find_value(graph, "d")) == graph.find_node("clip"));
  CHECK(uses.producer(find_value(graph, "x")) == nullptr);
  CHECK(uses.producer(find_value(graph, "w")) == nullptr);
  CHECK(uses.producer(kNoValue) == nullptr);
}

TEST_CASE("A node that reads a value twice is listed twice among its consumers") {
  const Graph graph = diamond();
  const Uses uses(graph);
  const auto& consumers = uses.consumers(find_value(graph, "a"));
  REQUIRE(consumers.size() == 3);
  CHECK(consumers[0] == graph.find_node("mul"));
  CHECK(consumers[1] == graph.find_node("mul"));
  CHECK(consumers[2] == graph.find_node("sub"));
  CHECK(uses.consumers(find_value(graph, "d")).empty());
}

TEST_CASE("A single use is one reading node and no graph output") {
  const Graph graph = diamond();
  const Uses uses(graph);
  CHECK(uses.has_single_use(find_value(graph, "b")));
  CHECK_FALSE(uses.has_single_use(find_value(graph, "a")));
  CHECK_FALSE(uses.has_single_use(find_value(graph, "c")));  // read once, but also a graph output
  CHECK_FALSE(uses.has_single_use(find_value(graph, "d")));
  CHECK(uses.is_graph_output(find_value(graph, "c")));
  CHECK_FALSE(uses.is_graph_output(find_value(graph, "b")));
}

TEST_CASE("Constants are initializers and outputs of Constant nodes") {
  const Graph graph = diamond();
  const Uses uses(graph);
  REQUIRE(uses.constant(find_value(graph, "w")) != nullptr);
  CHECK(support::values(*uses.constant(find_value(graph, "w"))) == std::vector<float>{1, 2});
  REQUIRE(uses.constant(find_value(graph, "k")) != nullptr);
  CHECK(support::values(*uses.constant(find_value(graph, "k"))) == std::vector<float>{3, 4});
  CHECK(uses.constant(find_value(graph, "x")) == nullptr);
  CHECK(uses.constant(find_value(graph, "a")) == nullptr);
  CHECK(uses.constant(kNoValue) == nullptr);
}
