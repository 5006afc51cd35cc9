// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/diff.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::Ints;

namespace {

Graph net(const std::vector<float>& weights = {1, 2}, const Ints& pads = {0, 0}, const char* act = "Relu") {
  return GraphBuilder()
      .input("x", {1, 1, 2})
      .initializer("w", floats({1, 1, 2}, weights))
      .node("Conv", "conv", {"x", "w"}, "c", {{"pads", pads}})
      .node(act, "act", {"c"}, "y")
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("Equal networks do not differ, whatever constants are called") {
  CHECK(diff_graphs(net(), net()).empty());
  Graph renamed = net();
  renamed.value(support::find_value(renamed, "w")).name = "weight";
  CHECK(diff_graphs(net(), renamed).empty());
}

TEST_CASE("Operators, attributes and weights that differ are named with both values") {
  const auto found = diff_graphs(net(), net({1, 2.5F}, {1, 1}, "Sigmoid"));
  REQUIRE(found.size() == 3);
  CHECK(found[0] == GraphDifference{"conv", "input 1 w", "1 of 2 elements", "differ by up to 0.5"});
  CHECK(found[1] == GraphDifference{"conv", "attribute pads", "[0, 0]", "[1, 1]"});
  CHECK(found[2] == GraphDifference{"act", "operator", "Relu", "Sigmoid"});
  CHECK(diff_graphs(net(), net({1, 2.5F}), 0.5).empty());
  const auto undefined = diff_graphs(net({std::nanf(""), 2}), net({1, 2.5F}), 0.25);
  REQUIRE(undefined.size() == 1);
  CHECK(undefined[0] == GraphDifference{"conv", "input 1 w", "2 of 2 elements", "differ by up to nan"});
}

TEST_CASE("Integers are compared as such") {
  const auto slice = [](std::int64_t end) {
    return GraphBuilder()
        .input("x", {4})
        .initializer("from", support::int64s({0}))
        .initializer("to", support::int64s({end}))
        .node("Slice", "slice", {"x", "from", "to"}, "y")
        .output("y")
        .build();
  };
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(diff_graphs(slice(most), slice(most)).empty());
  CHECK(diff_graphs(slice(most), slice(most - 1)).size() == 1);
}

TEST_CASE("Nodes, inputs, outputs and opset") {
  Graph other = net();
  other.nodes[1].name = "relu";
  other.opset = 11;
  other.value(other.inputs[0]).shape->at(0) = {-1, "batch"};
  const auto found = diff_graphs(net(), other);
  REQUIRE(found.size() == 4);
  CHECK(found[0] == GraphDifference{"", "opset", "13", "11"});
  CHECK(found[1] == GraphDifference{"", "inputs", "x float32[1,1,2]", "x float32[batch,1,2]"});
  CHECK(found[2] == GraphDifference{"act", "only in the first", "Relu", ""});
  CHECK(found[3] == GraphDifference{"relu", "only in the second", "", "Relu"});
}

TEST_CASE("What nodes read, and what bodies hold") {
  const auto with_body = [](const char* op, const char* read) {
    const Body body =
        std::make_shared<const Graph>(GraphBuilder().input("a").node(op, "in", {"a"}, "b").output("b").build());
    return GraphBuilder()
        .input("c")
        .input("d")
        .node("If", "if", {read}, "y", {{"then_branch", body}})
        .output("y")
        .build();
  };
  const auto found = diff_graphs(with_body("Abs", "c"), with_body("Neg", "d"));
  REQUIRE(found.size() == 2);
  CHECK(found[0] == GraphDifference{"if", "input 0", "c", "d"});
  CHECK(found[1] == GraphDifference{"if.then_branch/in", "operator", "Abs", "Neg"});
}
