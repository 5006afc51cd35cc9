// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/fixed_shapes.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::int64s;

namespace {

/// A view as exporters write it, and the places of its values that are not zero.
graph::Graph net() {
  return support::GraphBuilder()
      .input("x", {-1, 3, 4})
      .initializer("0", Tensor::scalar(std::int64_t{0}))
      .initializer("rest", int64s({-1}))
      .initializer("axis", int64s({0}))
      .node("Shape", "shape", {"x"}, "s")
      .node("Gather", "gather", {"s", "0"}, "n", {{"axis", std::int64_t{0}}})
      .node("Unsqueeze", "unsqueeze", {"n", "axis"}, "u")
      .node("Concat", "concat", {"u", "rest"}, "c", {{"axis", std::int64_t{0}}})
      .node("Reshape", "view", {"x", "c"}, "v")
      .node("NonZero", "nonzero", {"v"}, "z")
      .node("Transpose", "turn", {"z"}, "t")
      .output("v")
      .output("t")
      .build();
}

std::vector<std::int64_t> sizes_of(const graph::Graph& graph, const char* name) {
  std::vector<std::int64_t> sizes;
  const auto& shape = graph.value(support::find_value(graph, name)).shape;
  if (!shape) return {-99};
  for (const auto& dim : *shape) sizes.push_back(dim.size);
  return sizes;
}

}  // namespace

TEST_CASE("A run on zeros gives the shapes that follow from the inputs', not those that follow from data") {
  graph::Graph graph = net();
  CHECK(flow::fix_shapes(graph, {{"x", Shape{2, 3, 4}}}, support::ops()));
  CHECK(sizes_of(graph, "x") == std::vector<std::int64_t>{2, 3, 4});
  CHECK(sizes_of(graph, "c") == std::vector<std::int64_t>{2});
  CHECK(sizes_of(graph, "v") == std::vector<std::int64_t>{2, 12});
  const graph::Graph before = net();
  for (const char* name : {"z", "t"}) CHECK(sizes_of(graph, name) == sizes_of(before, name));
}

TEST_CASE("Open inputs and networks that cannot be run are left as they are") {
  graph::Graph open = net();
  CHECK(!flow::fix_shapes(open, {}, support::ops()));
  CHECK(sizes_of(open, "v") == sizes_of(net(), "v"));
  graph::Graph unknown = support::GraphBuilder().input("x", {2}).node("NoSuch", "n", {"x"}, "y").output("y").build();
  CHECK(!flow::fix_shapes(unknown, {}, support::ops()));
  const std::int64_t wraps = 6148914691236517206;  // three times this are 2^64 + 2
  graph::Graph huge =
      support::GraphBuilder().input("x", {3, wraps}).node("Transpose", "n", {"x"}, "y").output("y").build();
  CHECK(!flow::fix_shapes(huge, {}, support::ops()));
}
