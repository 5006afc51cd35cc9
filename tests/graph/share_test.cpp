// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/share.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_value;
using support::GraphBuilder;

namespace {

/// Two branches joined by a Concat, of which one is split off again.
Graph net() {
  return GraphBuilder()
      .input("x", {1, 4})
      .initializer("shape", support::int64s({2, 2}))
      .initializer("k", support::floats({1, 4}, {1, 2, 3, 4}))
      .node("Reshape", "reshape", {"x", "shape"}, "a")
      .node("Relu", "relu", {"x"}, "b")
      .node("Concat", "concat", {"b", "k"}, "c")
      .node("Split", "split", {"c"}, std::vector<std::string>{"d", "e"})
      .node("Add", "add", {"d", "a"}, "f")
      .node("Add", "add2", {"e", "k"}, "g")
      .node("Neg", "neg", {"f"}, "h")
      .output("g")
      .output("h")
      .build();
}

}  // namespace

TEST_CASE("Operators that move data join what goes in and what comes out; constants do not count") {
  const Graph graph = net();
  const SharingGroups groups(graph);
  const auto id = [&](const char* name) { return find_value(graph, name); };
  CHECK(groups.same(id("x"), id("a")));
  CHECK(groups.same(id("b"), id("c")));
  CHECK(groups.same(id("b"), id("d")));
  CHECK(groups.same(id("d"), id("e")));
  CHECK_FALSE(groups.same(id("a"), id("b")));
  CHECK_FALSE(groups.same(id("k"), id("c")));
  CHECK_FALSE(groups.same(id("shape"), id("a")));
  CHECK_FALSE(groups.same(id("f"), id("h")));
  CHECK(groups.groups() == std::vector<std::vector<ValueId>>{{id("x"), id("a")}, {id("b"), id("c"), id("d"), id("e")}});
  CHECK(groups.representative(id("e")) == id("b"));
}

TEST_CASE("The sets do not depend on the order of nodes, and a ring of moves is one set") {
  Graph graph = net();
  const auto before = SharingGroups(graph).groups();
  std::reverse(graph.nodes.begin(), graph.nodes.end());
  CHECK(SharingGroups(graph).groups() == before);
  const Graph ring = GraphBuilder()
                         .input("x")
                         .node("Identity", "i1", {"x"}, "a")
                         .node("Identity", "i2", {"x"}, "b")
                         .node("Concat", "c", {"a", "b", "x"}, "y")
                         .output("y")
                         .build();
  CHECK(SharingGroups(ring).groups().size() == 1);
  CHECK(SharingGroups(ring).groups()[0].size() == 4);
}

TEST_CASE("Inputs of layers that must be quantized alike") {
  const Graph graph = net();
  const LayerTable layers{{.name = "relu", .kind = LayerKind::other, .op_type = "Relu"},
                          {.name = "add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2},
                          {.name = "add2", .kind = LayerKind::other, .op_type = "Add"},
                          {.name = "neg", .kind = LayerKind::other, .op_type = "Neg"},
                          {.name = "gone", .kind = LayerKind::other, .op_type = "Neg"}};
  using Group = std::vector<LayerInput>;
  CHECK(sharing_inputs(graph, layers) ==
        std::vector<Group>{Group{{"relu", 0}, {"add", 1}}, Group{{"add", 0}, {"add2", 0}}});
  CHECK(sharing_inputs(graph, {}).empty());
}
