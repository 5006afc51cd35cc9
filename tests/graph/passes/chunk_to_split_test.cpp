// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/chunk_to_split.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::name_of;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

namespace {

/// x.chunk(2, 1) as torch 1.13 exports it: pieces of (size + 1) / 2.
Graph chunk(std::int64_t size, std::int64_t opset = 13) {
  return GraphBuilder()
      .opset(opset)
      .input("x", {-1, size})
      .constant("axis", int64s({1}))
      .constant("zero", int64s({0}))
      .constant("one", int64s({1}))
      .constant("two", int64s({2}))
      .node("Shape", "/a/Shape", {"x"}, "s")
      .node("Gather", "/a/Gather", {"s", "axis"}, "n")
      .node("Add", "/a/Add", {"n", "one"}, "m")
      .node("Div", "/a/Div", {"m", "two"}, "piece")
      .node("Mul", "/a/Mul", {"piece", "one"}, "end1")
      .node("Slice", "/a/Slice", {"x", "zero", "end1", "axis"}, "p")
      .node("Mul", "/a/Mul_1", {"piece", "two"}, "end2")
      .node("Slice", "/a/Slice_1", {"x", "end1", "end2", "axis"}, "q")
      .node("Neg", "neg", {"q"}, "y")
      .output("p")
      .output("y")
      .build();
}

/// Slices of [4, 6] along axis 1 with constant bounds.
Graph slices(const std::vector<std::pair<std::int64_t, std::int64_t>>& bounds, Ints steps = {1}) {
  GraphBuilder builder;
  builder.input("x", {4, 6}).initializer("axis", int64s({-1})).initializer("step", int64s(steps));
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const std::string n = std::to_string(i);
    builder.initializer("s" + n, int64s({bounds[i].first})).initializer("e" + n, int64s({bounds[i].second}));
    builder.node("Slice", "slice" + n, {"x", "s" + n, "e" + n, "axis", "step"}, "y" + n).output("y" + n);
  }
  return builder.build();
}
std::size_t splits(Graph graph) { return chunk_to_split(graph).changed.size(); }

}  // namespace

TEST_CASE("A chunk becomes a Split, and the arithmetic of its bounds goes") {
  Graph graph = chunk(6);
  CHECK(chunk_to_split(graph).changed == std::vector<PassNote>{{"/a/Split", "stands for 2 slices"}});
  CHECK(node_names(graph) == Names{"/a/Split", "neg"});
  const Node& split = graph.nodes[0];
  CHECK(split.attribute_or<std::int64_t>("axis", 0) == 1);
  CHECK(name_of(graph, split.inputs[0]) == "x");
  CHECK(values<std::int64_t>(*find_initializer(graph, "/a/Split.split")) == Ints{3, 3});
  CHECK(name_of(graph, split.outputs[0]) == "p");
  CHECK(name_of(graph, split.outputs[1]) == "q");
}

TEST_CASE("The last chunk may be shorter; below opset 13 the sizes are an attribute") {
  Graph graph = chunk(5, 12);
  chunk_to_split(graph);
  REQUIRE(graph.nodes.size() == 2);
  CHECK(*graph.nodes[0].attribute<Ints>("split") == Ints{3, 2});
  CHECK(graph.nodes[0].inputs.size() == 1);
}

TEST_CASE("A size that is not known leaves the chunk as it is") {
  Graph graph = chunk(-1);
  const auto report = chunk_to_split(graph);
  CHECK(report.changed.empty());
  CHECK(graph.find_node("/a/Slice_1") != nullptr);
}

TEST_CASE("Slices with constant bounds serve too, in any order, up to the end") {
  Graph graph = slices({{4, 9223372036854775807}, {0, 1}, {1, 4}});
  CHECK(chunk_to_split(graph).changed.size() == 1);
  REQUIRE(graph.nodes.size() == 1);
  CHECK(values<std::int64_t>(*graph.value(graph.nodes[0].inputs[1]).initializer) == Ints{1, 3, 2});
  CHECK(name_of(graph, graph.nodes[0].outputs[0]) == "y1");
  CHECK(name_of(graph, graph.nodes[0].outputs[2]) == "y0");
}

TEST_CASE("Gaps, overlaps, parts, steps and negative bounds are no chunk") {
  CHECK(splits(slices({{0, 3}, {3, 6}})) == 1);
  CHECK(splits(slices({{0, 2}, {3, 6}})) == 0);
  CHECK(splits(slices({{0, 4}, {3, 6}})) == 0);
  CHECK(splits(slices({{0, 3}, {3, 5}})) == 0);
  CHECK(splits(slices({{0, 6}})) == 0);
  CHECK(splits(slices({{0, 3}, {0, 3}})) == 0);
  CHECK(splits(slices({{0, 3}, {3, 6}}, {2})) == 0);
  CHECK(splits(slices({{-6, -3}, {-3, 6}})) == 0);
}

TEST_CASE("Arithmetic that could overflow or divides by zero is not followed") {
  Graph graph = chunk(6);
  graph.find_node("make_two")->set_attribute("value", int64s({0}));
  CHECK(chunk_to_split(graph).changed.empty());
  Graph huge = chunk(6);
  huge.find_node("make_one")->set_attribute("value", int64s({9223372036854775807}));
  CHECK(chunk_to_split(huge).changed.empty());
}
