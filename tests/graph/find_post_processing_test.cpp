// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/find_post_processing.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct::graph;
using support::GraphBuilder;
using Names = std::vector<std::string>;

namespace {

/// Conv, then the arithmetic of the guide's example; a Relu stands before the Conv.
GraphBuilder net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w", support::floats({1, 1, 1, 1}, {2}))
      .node("Relu", "relu", {"x"}, "r")
      .node("Conv", "conv", {"r", "w"}, "c")
      .node("Concat", "cat", {"c", "c"}, "a")
      .node("Flatten", "view", {"a"}, "f")
      .node("Sigmoid", "sigmoid", {"f"}, "s");
}
const std::set<std::string> kQuantized{"relu", "conv", "cat", "view", "sigmoid", "mul", "exp", "abs"};

}  // namespace

TEST_CASE("K21 the tail of small layers behind the last convolution is found as one region") {
  const Graph graph = net()
                          .node("Mul", "mul", {"s", "s"}, "m")
                          .node("Exp", "exp", {"m"}, "e")
                          .node("Abs", "abs", {"e"}, "y")
                          .output("y")
                          .build();
  const auto faults = find_post_processing(graph, kQuantized);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].kind == FaultKind::post_processing);
  CHECK(faults[0].layer == "cat");
  CHECK(faults[0].skip == Names{"cat", "view", "sigmoid", "mul", "exp", "abs"});
}

TEST_CASE("K21 a tail that picks results is found however short, one of few layers is none") {
  const Graph picks = net().node("TopK", "top", {"s", "s"}, Names{"y", "i"}).output("y").build();
  REQUIRE(find_post_processing(picks, kQuantized).size() == 1);
  CHECK(find_post_processing(picks, kQuantized)[0].skip == Names{"cat", "view", "sigmoid"});
  CHECK(find_post_processing(picks, {"conv"}).empty());
  CHECK(find_post_processing(net().output("s").build(), kQuantized).empty());
}
