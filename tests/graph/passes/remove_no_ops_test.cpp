// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/remove_no_ops.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::Attributes;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

namespace {

/// Relu - node - Neg on data of [2, 3]
GraphBuilder between(const std::string& op, Names inputs, Attributes attributes = {}) {
  return GraphBuilder()
      .input("x", {2, 3})
      .initializer("zero", Tensor::scalar(0.0F))
      .initializer("one", floats({1}, {1}))
      .initializer("ones", floats({3}, {1, 1, 1}))
      .initializer("tall", floats({4, 1, 1}, {1, 1, 1, 1}))
      .initializer("starts", int64s({0}))
      .initializer("three", int64s({3}))
      .initializer("two", int64s({2}))
      .initializer("most", int64s({9223372036854775807}))
      .initializer("axis", int64s({-1}))
      .initializer("step", int64s({1}))
      .initializer("shape", int64s({-1, 3}))
      .initializer("other", int64s({3, 2}))
      .initializer("false", Tensor::scalar(false))
      .initializer("true", Tensor::scalar(true))
      .node(op, "node", std::move(inputs), "a", std::move(attributes))
      .node("Neg", "neg", {"a"}, "y")
      .output("y");
}
/// What the pass says of the node; empty if the node stays.
std::string removed(const GraphBuilder& builder) {
  Graph graph = builder.build();
  const auto report = remove_no_ops(graph);
  CHECK(report.refused.empty());
  CHECK(graph.nodes.size() == 2 - report.changed.size());
  CHECK(graph.find_node("neg") != nullptr);
  return report.changed.empty() ? "" : report.changed[0].text;
}

}  // namespace

TEST_CASE("Neutral operands") {
  CHECK(removed(between("Add", {"x", "zero"})) == "x + 0");
  CHECK(removed(between("Add", {"zero", "x"})) == "x + 0");
  CHECK(removed(between("Sub", {"x", "zero"})) == "x - 0");
  CHECK(removed(between("Mul", {"x", "one"})) == "x * 1");
  CHECK(removed(between("Mul", {"ones", "x"})) == "x * 1");
  CHECK(removed(between("Div", {"x", "ones"})) == "x / 1");
  CHECK(removed(between("Sub", {"zero", "x"})) == "");
  CHECK(removed(between("Div", {"one", "x"})) == "");
  CHECK(removed(between("Add", {"x", "one"})) == "");
  CHECK(removed(between("Mul", {"x", "zero"})) == "");
  CHECK(removed(between("Mul", {"x", "x"})) == "");
}

TEST_CASE("A neutral operand that broadcasting makes the result larger by is one that matters") {
  CHECK(removed(between("Mul", {"x", "tall"})) == "");
  auto unknown = between("Mul", {"x", "one"}).build();
  unknown.value(unknown.inputs[0]).shape.reset();
  CHECK(remove_no_ops(unknown).changed.empty());
  auto scalar = between("Add", {"x", "zero"}).build();
  scalar.value(scalar.inputs[0]).shape.reset();
  CHECK(remove_no_ops(scalar).changed.size() == 1);
}

TEST_CASE("Slices of everything") {
  CHECK(removed(between("Slice", {"x", "starts", "three", "axis"})) == "slice of everything");
  CHECK(removed(between("Slice", {"x", "starts", "most", "axis", "step"})) == "slice of everything");
  CHECK(removed(between("Slice", {"x", "starts", "two"})) == "slice of everything");
  CHECK(removed(between("Slice", {"x", "starts", "two", "axis"})) == "");
  CHECK(removed(between("Slice", {"x", "step", "three", "axis"})) == "");
  CHECK(removed(between("Slice", {"x", "starts", "most", "axis", "two"})) == "");
  CHECK(removed(between("Slice", {"x"}, {{"starts", Ints{0, 0}}, {"ends", Ints{2, 3}}})) == "slice of everything");
  CHECK(removed(between("Slice", {"x"}, {{"starts", Ints{0, 0}}, {"ends", Ints{2, 2}}})) == "");
}

TEST_CASE("Casts to the type that is there") {
  CHECK(removed(between("Cast", {"x"}, {{"to", std::int64_t{1}}})) == "Cast from float32 to float32");
  CHECK(removed(between("Cast", {"x"}, {{"to", std::int64_t{10}}})) == "");
  CHECK(removed(between("Cast", {"x"}, {{"to", std::int64_t{99}}})) == "");
}

TEST_CASE("Reshape and Transpose to what is there") {
  CHECK(removed(between("Reshape", {"x", "shape"})) == "Reshape to the same shape");
  CHECK(removed(between("Reshape", {"x", "other"})) == "");
  CHECK(removed(between("Reshape", {"x", "most"})) == "");
  CHECK(removed(between("Transpose", {"x"}, {{"perm", Ints{0, 1}}})) == "Transpose to the same order");
  CHECK(removed(between("Transpose", {"x"}, {{"perm", Ints{1, 0}}})) == "");
  CHECK(removed(between("Transpose", {"x"})) == "");
}

TEST_CASE("Operators of one tensor, Identity, Dropout in inference") {
  CHECK(removed(between("Identity", {"x"})) == "Identity");
  CHECK(removed(between("Concat", {"x"})) == "Concat of one tensor");
  CHECK(removed(between("Sum", {"x"})) == "Sum of one tensor");
  CHECK(removed(between("Concat", {"x", "ones"})) == "");
  CHECK(removed(between("Dropout", {"x"})) == "Dropout in inference");
  CHECK(removed(between("Dropout", {"x", "zero", "false"})) == "Dropout in inference");
  CHECK(removed(between("Dropout", {"x", "zero", "true"})) == "");
  CHECK(removed(between("Dropout", {"x"}).opset(6)) == "");
}

TEST_CASE("A sum that starts at zero loses its first term only") {
  Graph graph = GraphBuilder()
                    .input("x", {2})
                    .input("y", {2})
                    .initializer("zero", Tensor::scalar(0.0F))
                    .node("Add", "add0", {"x", "zero"}, "a")
                    .node("Add", "add1", {"a", "y"}, "z")
                    .output("z")
                    .build();
  remove_no_ops(graph);
  CHECK(node_names(graph) == Names{"add1"});
  CHECK(name_of(graph, graph.nodes[0].inputs[0]) == "x");
}

TEST_CASE("A chain of them goes, and a graph output keeps its name") {
  Graph graph = GraphBuilder()
                    .input("x", {2})
                    .node("Relu", "relu", {"x"}, "a")
                    .node("Identity", "i1", {"a"}, "b")
                    .node("Identity", "i2", {"b"}, "y")
                    .node("Neg", "neg", {"b"}, "z")
                    .output("y")
                    .output("z")
                    .build();
  remove_no_ops(graph);
  CHECK(node_names(graph) == Names{"relu", "neg"});
  CHECK(name_of(graph, graph.nodes[0].outputs[0]) == "y");
  CHECK(name_of(graph, graph.outputs[0]) == "y");
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
}

TEST_CASE("Between two names that the user gave a node stays and is reported") {
  Graph input = GraphBuilder().input("x").node("Identity", "id", {"x"}, "y").output("y").build();
  const auto report = remove_no_ops(input);
  CHECK(report.changed.empty());
  REQUIRE(report.refused.size() == 1);
  CHECK(report.refused[0].node == "id");
  CHECK(input.nodes.size() == 1);

  Graph outputs = GraphBuilder()
                      .input("x")
                      .node("Relu", "r", {"x"}, "y")
                      .node("Identity", "id", {"y"}, "z")
                      .output("y")
                      .output("z")
                      .build();
  CHECK(remove_no_ops(outputs).refused.size() == 1);
  CHECK(outputs.nodes.size() == 2);
}

TEST_CASE("A value that a body captures is replaced there too") {
  Graph graph = GraphBuilder()
                    .input("c")
                    .input("x", {2})
                    .node("Relu", "relu", {"x"}, "a")
                    .node("Identity", "id", {"a"}, "b")
                    .node("If", "if", {"c", "b"}, "y")
                    .output("y")
                    .build();
  graph.nodes[2].captured = 1;
  remove_no_ops(graph);
  CHECK(node_names(graph) == Names{"relu", "if"});
  CHECK(name_of(graph, graph.nodes[1].inputs[1]) == "a");
}
