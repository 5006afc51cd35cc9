// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/insert_quant.hpp>

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

LayerRecord entry(const std::string& name, float scale, std::int32_t offset, const std::string& type = "INT8") {
  return {.name = name, .scale_d = scale, .offset_d = offset, .scale_w = {1.0F}, .offset_w = {0}, .act_type = type};
}

Graph siblings() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w1", floats({1, 1, 1, 1}, {1}))
      .initializer("w2", floats({1, 1, 1, 1}, {2}))
      .node("Conv", "a", {"x", "w1"}, "p")
      .node("Conv", "b", {"x", "w2"}, "q")
      .node("Add", "add", {"p", "q"}, "y")
      .output("y")
      .build();
}

GraphBuilder padded_pool(Attributes pad_attributes, const Names& pad_inputs = {"x", "pads"}) {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("pads", int64s({0, 0, 1, 1, 0, 0, 1, 1}))
      .initializer("zero", Tensor::scalar(0.0F))
      .initializer("one", Tensor::scalar(1.0F))
      .node("Pad", "pool_pad", pad_inputs, "p", std::move(pad_attributes))
      .node("AveragePool", "pool", {"p"}, "y", {{"kernel_shape", Ints{2, 2}}})
      .output("y");
}

}  // namespace

TEST_CASE("A quant node stands before its layer and carries scale, offset and type") {
  Graph graph = siblings();
  insert_quant(graph, {entry("b", 0.5F, -3)});
  CHECK(node_names(graph) == Names{"a", "b.quant", "b", "add"});
  const Node& quant = graph.nodes[1];
  CHECK(quant.op_type == "AscendQuant");
  CHECK(quant.domain.empty());
  CHECK(name_of(graph, quant.inputs[0]) == "x");
  CHECK(name_of(graph, quant.outputs[0]) == "b.quant.output0");
  REQUIRE(quant.attributes.size() == 3);
  CHECK(quant.attribute_or<float>("scale", 0.0F) == 2.0F);
  CHECK(quant.attribute_or<float>("offset", 0.0F) == -3.0F);
  CHECK(quant.attribute_or<std::string>("dst_type", "") == "INT8");
  CHECK(graph.nodes[2].inputs[0] == quant.outputs[0]);
  CHECK(name_of(graph, graph.nodes[0].inputs[0]) == "x");
}

TEST_CASE("The scale attribute is the reciprocal rounded to float32") {
  Graph graph = siblings();
  insert_quant(graph, {entry("a", 0.1F, 0)});
  CHECK(graph.nodes[0].attribute_or<float>("scale", 0.0F) == 1.0F / 0.1F);
}

TEST_CASE("Layers that read the same value with equal numbers share the node of the first") {
  Graph graph = siblings();
  insert_quant(graph, {entry("a", 0.25F, 7), entry("b", 0.25F, 7)});
  CHECK(node_names(graph) == Names{"a.quant", "a", "b", "add"});
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
  CHECK(graph.nodes[2].inputs[0] == graph.nodes[0].outputs[0]);
}

TEST_CASE("Layers with another scale, offset or type do not share") {
  for (const LayerRecord& other : {entry("b", 0.5F, 7), entry("b", 0.25F, 6), entry("b", 0.25F, 7, "INT16")}) {
    Graph graph = siblings();
    insert_quant(graph, {entry("a", 0.25F, 7), other});
    CHECK(node_names(graph) == Names{"a.quant", "a", "b.quant", "b", "add"});
    CHECK(graph.nodes[3].inputs[0] == graph.nodes[2].outputs[0]);
    CHECK(name_of(graph, graph.nodes[2].inputs[0]) == "x");
    CHECK(graph.nodes[2].attribute_or<std::string>("dst_type", "") == *other.act_type);
  }
}

TEST_CASE("Layers that read different values do not share") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("w1", floats({1, 1}, {1}))
                    .initializer("w2", floats({1, 1}, {1}))
                    .node("MatMul", "a", {"x", "w1"}, "p")
                    .node("MatMul", "b", {"p", "w2"}, "y")
                    .output("y")
                    .build();
  insert_quant(graph, {entry("a", 0.25F, 7), entry("b", 0.25F, 7)});
  CHECK(node_names(graph) == Names{"a.quant", "a", "b.quant", "b"});
  CHECK(name_of(graph, graph.nodes[2].inputs[0]) == "p");
}

TEST_CASE("The name of a quant node avoids names that are taken") {
  Graph graph = siblings();
  graph.nodes[2].name = "a.quant";
  insert_quant(graph, {entry("a", 0.25F, 7)});
  CHECK(node_names(graph) == Names{"a.quant_2", "a", "b", "a.quant"});
}

TEST_CASE("An average pool behind a zero pad is quantized before the pad") {
  for (const Names& inputs : {Names{"x", "pads"}, Names{"x", "pads", ""}, Names{"x", "pads", "zero"}}) {
    Graph graph = padded_pool({}, inputs).build();
    insert_quant(graph, {entry("pool", 0.5F, 1)});
    CHECK(node_names(graph) == Names{"pool.quant", "pool_pad", "pool"});
    CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
    CHECK(name_of(graph, graph.nodes[2].inputs[0]) == "p");
  }
}

TEST_CASE("A pad with another border, another mode or another reader stays before the quant node") {
  const Names expected{"pool_pad", "pool.quant", "pool"};
  SUBCASE("a border of ones") {
    Graph graph = padded_pool({}, {"x", "pads", "one"}).build();
    insert_quant(graph, {entry("pool", 0.5F, 1)});
    CHECK(node_names(graph) == expected);
    CHECK(name_of(graph, graph.nodes[1].inputs[0]) == "p");
  }
  SUBCASE("a border that is computed") {
    Graph graph = padded_pool({}, {"x", "pads", "v"}).input("v").build();
    insert_quant(graph, {entry("pool", 0.5F, 1)});
    CHECK(node_names(graph) == expected);
  }
  SUBCASE("reflection") {
    Graph graph = padded_pool({{"mode", std::string("reflect")}}).build();
    insert_quant(graph, {entry("pool", 0.5F, 1)});
    CHECK(node_names(graph) == expected);
  }
  SUBCASE("a second reader") {
    Graph graph = padded_pool({}).node("Relu", "relu", {"p"}, "r").output("r").build();
    insert_quant(graph, {entry("pool", 0.5F, 1)});
    CHECK(node_names(graph) == Names{"pool_pad", "pool.quant", "pool", "relu"});
  }
}

TEST_CASE("A pad before a convolution stays before the quant node") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 2, 2})
                    .initializer("pads", int64s({0, 0, 1, 1, 0, 0, 1, 1}))
                    .initializer("w", floats({1, 1, 1, 1}, {1}))
                    .node("Pad", "pad", {"x", "pads"}, "p")
                    .node("Conv", "conv", {"p", "w"}, "y")
                    .output("y")
                    .build();
  insert_quant(graph, {entry("conv", 0.5F, 1)});
  CHECK(node_names(graph) == Names{"pad", "conv.quant", "conv"});
}

TEST_CASE("Without records nothing is inserted") {
  Graph graph = siblings();
  insert_quant(graph, {});
  CHECK(node_names(graph) == Names{"a", "b", "add"});
}
