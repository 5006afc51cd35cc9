// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/element_types.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_value;

TEST_CASE("Types follow from inputs, constants and operators") {
  const Graph graph = support::GraphBuilder()
                          .input("x", {2})
                          .initializer("i", support::int64s({0}))
                          .constant("k", Tensor::scalar(std::int32_t{1}))
                          .node("Relu", "relu", {"x"}, "r")
                          .node("Shape", "shape", {"r"}, "s")
                          .node("Gather", "gather", {"s", "i"}, "g")
                          .node("Cast", "cast", {"g"}, "h", {{"to", std::int64_t{10}}})
                          .node("Equal", "equal", {"r", "x"}, "e")
                          .node("Where", "where", {"e", "h", "h"}, "w")
                          .node("Split", "split", {"r"}, std::vector<std::string>{"p", "q"})
                          .node("TopK", "top", {"r", "i"}, std::vector<std::string>{"t", "u"})
                          .node("Add", "after", {"t", "t"}, "v")
                          .build();
  const auto types = element_types(graph);
  const auto type = [&](const char* name) { return types[static_cast<std::size_t>(find_value(graph, name))]; };
  CHECK(type("x") == ElementType::float32);
  CHECK(type("k") == ElementType::int32);
  CHECK(type("r") == ElementType::float32);
  CHECK(type("s") == ElementType::int64);
  CHECK(type("g") == ElementType::int64);
  CHECK(type("h") == ElementType::float16);
  CHECK(type("e") == ElementType::boolean);
  CHECK(type("w") == ElementType::float16);
  CHECK(type("q") == ElementType::float32);
  CHECK(type("t") == std::nullopt);
  CHECK(type("v") == std::nullopt);
}

TEST_CASE("Operators of other domains say nothing of types, nor do unknown numbers") {
  Graph graph = support::GraphBuilder().input("x", {2}).node("Relu", "relu", {"x"}, "r").build();
  graph.nodes[0].domain = "com.example";
  CHECK(element_types(graph)[static_cast<std::size_t>(find_value(graph, "r"))] == std::nullopt);
  CHECK(onnx_element_type(1) == ElementType::float32);
  CHECK(onnx_element_type(8) == std::nullopt);
  CHECK(onnx_element_type(16) == std::nullopt);
}
