// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/keep_reduced_dims.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct::graph;
using support::GraphBuilder;
using support::Ints;

namespace {

constexpr std::string_view kBoth[] = {"ReduceMax", "ReduceSum"};

GraphBuilder reduction(std::int64_t opset, std::int64_t keepdims, support::Attributes more = {}) {
  more.emplace_back("keepdims", keepdims);
  return GraphBuilder().opset(opset).input("x", {2, 3}).node("ReduceMax", "max", {"x"}, "y", more).output("y");
}

}  // namespace

TEST_CASE("A reduction keeps its axes and its name, a Squeeze takes the place of its result") {
  Graph graph = reduction(11, 0, {{"axes", Ints{1}}}).build();
  CHECK(keep_reduced_dims(graph, kBoth).changed_nodes() == std::vector<std::string>{"max"});
  REQUIRE(support::node_names(graph) == std::vector<std::string>{"max", "max.squeeze"});
  CHECK(graph.nodes[0].attribute_or<std::int64_t>("keepdims", 0) == 1);
  CHECK(*graph.nodes[1].attribute<Ints>("axes") == Ints{1});
  CHECK(graph.nodes[1].outputs == graph.outputs);
}

TEST_CASE("Axes are an input of Squeeze since opset 13, whichever way the reduction has them") {
  Graph attribute = reduction(13, 0, {{"axes", Ints{-1}}}).build();
  keep_reduced_dims(attribute, kBoth);
  CHECK(support::values<std::int64_t>(*support::find_initializer(attribute, "max.axes")) == Ints{-1});
  Graph input = GraphBuilder()
                    .input("x", {2, 3})
                    .initializer("axes", support::int64s({0}))
                    .node("ReduceSum", "sum", {"x", "axes"}, "y", {{"keepdims", std::int64_t{0}}})
                    .output("y")
                    .build();
  keep_reduced_dims(input, kBoth);
  CHECK(input.nodes[1].inputs[1] == input.nodes[0].inputs[1]);
  Graph all = reduction(13, 0, {{"axes", Ints{}}}).build();
  keep_reduced_dims(all, kBoth);
  CHECK(all.nodes[1].inputs.size() == 1);
}

TEST_CASE("What keeps its axes, and what is not asked for, stays as it is") {
  Graph kept = reduction(13, 1).build();
  CHECK(keep_reduced_dims(kept, kBoth).changed.empty());
  Graph other = reduction(13, 0).build();
  constexpr std::string_view kSum[] = {"ReduceSum"};
  CHECK(keep_reduced_dims(other, kSum).changed.empty());
  Graph noop = reduction(13, 0, {{"noop_with_empty_axes", std::int64_t{1}}}).build();
  CHECK(keep_reduced_dims(noop, kBoth).refused.size() == 1);
  CHECK(noop.nodes.size() == 1);
}
