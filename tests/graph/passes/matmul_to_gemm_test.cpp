// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/matmul_to_gemm.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using support::name_of;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

// That all forms compute the same is tested with an interpreter, in tests/passes/results_test.cpp.

namespace {

Graph linear(const Shape& data, const Names& add = {"b", "m"}) {
  return GraphBuilder()
      .input("x", data)
      .initializer("w", floats({2, 3}, {1, 2, 3, 4, 5, 6}))
      .initializer("b", floats({3}, {7, 8, 9}))
      .node("MatMul", "mm", {"x", "w"}, "m")
      .node("Add", "add", add, "y")
      .output("y")
      .build();
}
std::string reason(Graph graph, WideLinear wide) {
  const auto report = matmul_to_gemm(graph, wide);
  CHECK(node_names(graph) == Names{"mm", "add"});
  REQUIRE(report.refused.size() == 1);
  return report.refused[0].text;
}

}  // namespace

TEST_CASE("On two axes MatMul and Add become a Gemm, on whichever side the bias stands") {
  for (const Names& add : {Names{"b", "m"}, Names{"m", "b"}}) {
    Graph graph = linear({-1, 2}, add);
    CHECK(matmul_to_gemm(graph).changed == std::vector<PassNote>{{"mm", "is a Gemm with the bias of add"}});
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].name == "mm");
    CHECK(graph.nodes[0].op_type == "Gemm");
    CHECK(name_of(graph, graph.nodes[0].inputs[1]) == "w");
    CHECK(name_of(graph, graph.nodes[0].inputs[2]) == "b");
    CHECK(name_of(graph, graph.nodes[0].outputs[0]) == "y");
  }
}

TEST_CASE("More or unknown axes stay unless a form is asked for") {
  CHECK(reason(linear({1, 4, 2}), WideLinear::kept) == "its data have 3 axes");
  Graph unknown = linear({1, 2});
  unknown.value(unknown.inputs[0]).shape.reset();
  for (const auto wide : {WideLinear::kept, WideLinear::reshaped, WideLinear::convolution}) {
    CHECK(reason(unknown, wide) == "the number of axes of its data is not known");
  }
  CHECK(reason(linear({-1, -1, 2}), WideLinear::reshaped) == "its data have 3 axes, of which 2 sizes are not known");
  CHECK(reason(linear({1, 1, 1, 1, 2}), WideLinear::convolution) == "its data have 5 axes, expected 3 or 4");
  CHECK(reason(linear({2}), WideLinear::reshaped) == "its data have 1 axes");
}

TEST_CASE("Reshaped: to two axes and back, one size may be unknown") {
  Graph graph = linear({-1, 4, 2});
  matmul_to_gemm(graph, WideLinear::reshaped);
  CHECK(node_names(graph) == Names{"mm.flatten", "mm", "mm.unflatten"});
  CHECK(graph.nodes[1].op_type == "Gemm");
  CHECK(values<std::int64_t>(*find_initializer(graph, "mm.flat_shape")) == Ints{-1, 2});
  CHECK(values<std::int64_t>(*find_initializer(graph, "mm.shape")) == Ints{-1, 4, 3});
  CHECK(name_of(graph, graph.nodes[2].outputs[0]) == "y");
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
}

TEST_CASE("Convolution: the last axis becomes channels; weight [K, N] becomes [N, K, 1, 1]") {
  Graph image = linear({1, 4, 5, 2});
  matmul_to_gemm(image, WideLinear::convolution);
  CHECK(node_names(image) == Names{"mm.to_channels", "mm", "mm.from_channels"});
  CHECK(image.nodes[1].op_type == "Conv");
  CHECK(find_initializer(image, "mm.weight_1x1")->shape() == Shape{3, 2, 1, 1});
  CHECK(values(*find_initializer(image, "mm.weight_1x1")) == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(find_initializer(image, "w") == nullptr);
  for (const std::int64_t opset : {12, 13}) {
    Graph row = linear({1, 4, 2});
    row.opset = opset;
    matmul_to_gemm(row, WideLinear::convolution);
    CHECK(node_names(row) == Names{"mm.unsqueeze", "mm.to_channels", "mm", "mm.from_channels", "mm.squeeze"});
    CHECK(row.nodes[0].inputs.size() == (opset < 13 ? 1 : 2));
    CHECK(name_of(row, row.nodes[4].outputs[0]) == "y");
  }
}

TEST_CASE("A MatMul without bias is left alone without a word") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 2})
                    .initializer("w", floats({2, 1}, {1, 2}))
                    .node("MatMul", "mm", {"x", "w"}, "y")
                    .output("y")
                    .build();
  const auto report = matmul_to_gemm(graph);
  CHECK(report.changed.empty());
  CHECK(report.refused.empty());
}
