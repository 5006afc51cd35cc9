// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/constant_weights.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/graph_builder.hpp"

using namespace amct;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

TEST_CASE("Constants that layers read as weights become initializers of the same name") {
  auto graph = GraphBuilder()
                   .input("x", {1, 2})
                   .constant("w", floats({2, 2}, {1, 2, 3, 4}))
                   .constant("b", floats({2}, {5, 6}))
                   .constant("m", floats({2, 2}, {7, 8, 9, 10}))
                   .constant("low", Tensor::scalar(0.0F))
                   .node("Gemm", "gemm", {"x", "w", "b"}, "a")
                   .node("MatMul", "mm", {"m", "a"}, "c")
                   .node("Clip", "clip", {"c", "low"}, "y")
                   .output("y")
                   .build();
  amct::onnx::make_weights_initializers(graph);
  CHECK(node_names(graph) == Names{"make_low", "gemm", "mm", "clip"});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1, 2, 3, 4});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{5, 6});
  CHECK(find_initializer(graph, "m") != nullptr);
  CHECK(find_initializer(graph, "low") == nullptr);
}

TEST_CASE("A constant that a layer reads as its data, and operators of other domains, change nothing") {
  auto graph = GraphBuilder()
                   .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
                   .constant("x", floats({1, 2}, {5, 6}))
                   .node("Gemm", "gemm", {"x", "w"}, "a")
                   .constant("v", floats({1}, {7}))
                   .node("Gemm", "own", {"a", "v"}, "y")
                   .output("y")
                   .build();
  graph.find_node("own")->domain = "com.example";
  amct::onnx::make_weights_initializers(graph);
  CHECK(node_names(graph) == Names{"make_x", "gemm", "make_v", "own"});
}
