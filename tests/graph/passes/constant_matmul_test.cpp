// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/constant_matmul.hpp>

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using Names = std::vector<std::string>;

namespace {

Graph product(Names operands, Tensor constant, const Shape& data = {2, 3, 3}) {
  return GraphBuilder()
      .input("x", data)
      .initializer("c", std::move(constant))
      .node("MatMul", "mix", std::move(operands), "y")
      .output("y")
      .build();
}

std::string refused(Graph graph) {
  const auto report = constant_matmul(graph);
  CHECK(graph.nodes.size() == 1);
  return report.refused.empty() ? "" : report.refused[0].text;
}

}  // namespace

TEST_CASE("A constant on the left becomes a weight on the right, turned") {
  Graph graph = product({"c", "x"}, floats({1, 3}, {1, 2, 3}));
  constant_matmul(graph);
  REQUIRE(support::node_names(graph) == Names{"mix.transpose", "mix", "mix.transpose_back"});
  CHECK(support::find_initializer(graph, "mix.weight")->shape() == Shape{3, 1});
  CHECK(graph.nodes[2].outputs == graph.outputs);
}

TEST_CASE("A matrix with axes of size 1 in front becomes a matrix") {
  Graph graph = product({"x", "c"}, floats({1, 3, 1}, {1, 2, 3}));
  constant_matmul(graph);
  CHECK(support::node_names(graph) == Names{"mix"});
  CHECK(support::find_initializer(graph, "mix.weight")->shape() == Shape{3, 1});
}

TEST_CASE("What is a weight already, or cannot be one, stays") {
  CHECK(refused(product({"x", "c"}, floats({3, 1}, {1, 2, 3}))).empty());
  CHECK(refused(product({"x", "x"}, floats({3, 1}, {1, 2, 3}))).empty());
  CHECK(refused(product({"x", "c"}, support::whole_numbers({2, 3, 1}, 1))) ==
        "its constant operand is no matrix of float32");
  CHECK(refused(product({"x", "c"}, floats({1, 3, 1}, {1, 2, 3}), {3, 3})) ==
        "its constant operand has more axes than its data");
  Graph unknown = product({"c", "x"}, floats({1, 3}, {1, 2, 3}));
  unknown.value(unknown.inputs[0]).shape.reset();
  CHECK(refused(std::move(unknown)) == "the number of axes of its data is not known");
}
