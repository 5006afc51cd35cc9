// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/insert_quant.hpp>

#include <doctest/doctest.h>

#include <cmath>

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

namespace {

LayerRecord inputs(const std::string& name, std::vector<ActivationRecord> record_d) {
  return {.name = name, .record_d = std::move(record_d)};
}
ActivationRecord at(std::int32_t index, float scale, std::int32_t offset, int bits = 8) {
  return {.scale_d = scale, .offset_d = offset, .index = index, .num_bits_d = bits};
}

Graph sum() {
  return GraphBuilder().input("p", {1, 2}).input("q", {1, 2}).node("Add", "add", {"p", "q"}, "y").output("y").build();
}

}  // namespace

TEST_CASE("Each recorded input of a layer that stays float has a quant and an anti-quant node") {
  Graph graph = sum();
  insert_quant(graph, {inputs("add", {at(1, 0.5F, 3), at(0, 0.25F, -7)})});
  CHECK(node_names(graph) == Names{"add.quant.1", "add.anti_quant.1", "add.quant", "add.anti_quant", "add"});
  const Node& quant = *graph.find_node("add.quant.1");
  const Node& anti = *graph.find_node("add.anti_quant.1");
  CHECK(name_of(graph, quant.inputs[0]) == "q");
  CHECK(quant.attribute_or<float>("scale", 0.0F) == 2.0F);
  CHECK(quant.attribute_or<float>("offset", 0.0F) == 3.0F);
  CHECK(anti.op_type == "AscendAntiQuant");
  CHECK(anti.inputs == quant.outputs);
  CHECK(anti.attribute_or<float>("scale", 0.0F) == 0.5F);
  CHECK(anti.attribute_or<float>("offset", 0.0F) == -3.0F);
  CHECK(anti.attribute_or<std::string>("dst_type", "") == "INT8");
  const Node& add = *graph.find_node("add");
  CHECK(add.inputs == std::vector{graph.find_node("add.anti_quant")->outputs[0], anti.outputs[0]});
  CHECK(graph.value(anti.outputs[0]).shape->size() == 2);
}

TEST_CASE("An input without factors stays as it is") {
  Graph graph = sum();
  insert_quant(graph, {inputs("add", {at(0, 0.25F, 0)})});
  CHECK(node_names(graph) == Names{"add.quant", "add.anti_quant", "add"});
  CHECK(name_of(graph, graph.nodes[2].inputs[1]) == "q");
  Graph untouched = sum();
  insert_quant(untouched, {{.name = "add", .skip_fusion = true}});
  CHECK(node_names(untouched) == Names{"add"});
}

TEST_CASE("Records count the inputs that carry data: constants have no index") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("c", floats({1}, {2}))
                    .node("Mul", "mul", {"c", "x"}, "y")
                    .output("y")
                    .build();
  insert_quant(graph, {inputs("mul", {at(0, 0.5F, 0)})});
  CHECK(name_of(graph, graph.nodes[0].inputs[0]) == "x");
  CHECK(name_of(graph, graph.nodes[2].inputs[0]) == "c");
  const auto error = support::error_of([&] { insert_quant(graph, {inputs("mul", {at(1, 0.5F, 0)})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::record_value);
  CHECK(error->where().layer == "mul");
  CHECK(error->where().field == "record_d.index");
  CHECK(error->message() == "got 1, but 1 input carries data");
}

TEST_CASE("Layers that read one value alike share both nodes, and a layer in integers the codes") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 2, 2})
                    .initializer("w", floats({1, 1, 1, 1}, {1}))
                    .node("Sigmoid", "a", {"x"}, "p")
                    .node("Tanh", "b", {"x"}, "q")
                    .node("Conv", "c", {"x", "w"}, "r")
                    .output("p")
                    .output("q")
                    .output("r")
                    .build();
  LayerRecord conv = inputs("c", {at(0, 0.5F, 1)});
  conv.scale_w = {1.0F};
  insert_quant(graph, {inputs("a", {at(0, 0.5F, 1)}), inputs("b", {at(0, 0.5F, 1)}), conv});
  CHECK(node_names(graph) == Names{"a.quant", "a.anti_quant", "a", "b", "c"});
  CHECK(graph.nodes[3].inputs[0] == graph.nodes[1].outputs[0]);
  CHECK(graph.nodes[4].inputs[0] == graph.nodes[0].outputs[0]);
}

TEST_CASE("Scales that only have the same reciprocal share the codes, and not the numbers they stand for") {
  const float scale = 0x1.fp0F;
  const float next = std::nextafter(scale, 2.0F);
  REQUIRE(1.0F / scale == 1.0F / next);
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Sigmoid", "a", {"x"}, "p")
                    .node("Tanh", "b", {"x"}, "q")
                    .output("p")
                    .output("q")
                    .build();
  insert_quant(graph, {inputs("a", {at(0, scale, 1)}), inputs("b", {at(0, next, 1)})});
  CHECK(node_names(graph) == Names{"a.quant", "a.anti_quant", "a", "b.anti_quant", "b"});
  CHECK(graph.nodes[3].inputs == graph.nodes[0].outputs);
  CHECK(graph.nodes[1].attribute_or<float>("scale", 0.0F) == scale);
  CHECK(graph.nodes[3].attribute_or<float>("scale", 0.0F) == next);
}

TEST_CASE("A product of two quantized data computes in integers, one of a quantized and a float operand does not") {
  const auto product = [] {
    return GraphBuilder()
        .input("p", {2, 2})
        .input("q", {2, 2})
        .node("MatMul", "mm", {"p", "q"}, "y")
        .output("y")
        .build();
  };
  Graph both = product();
  insert_quant(both, {inputs("mm", {at(0, 0.5F, 0, 12), at(1, 0.25F, 0)})});
  CHECK(node_names(both) == Names{"mm.quant", "mm.quant.1", "mm"});
  Graph one = product();
  insert_quant(one, {inputs("mm", {at(0, 0.5F, 0)})});
  CHECK(node_names(one) == Names{"mm.quant", "mm.anti_quant", "mm"});
}

TEST_CASE("The width of the codes is dst_type, or num_bits where no type has it") {
  const auto attributes = [](int bits) {
    Graph graph = siblings();
    LayerRecord layer = inputs("a", {at(0, 0.5F, 0, bits)});
    layer.scale_w = {1.0F};
    insert_quant(graph, {layer});
    return std::pair(graph.nodes[0].attribute_or<std::string>("dst_type", ""),
                     graph.nodes[0].attribute_or<std::int64_t>("num_bits", 0));
  };
  CHECK(attributes(4) == std::pair<std::string, std::int64_t>("INT4", 0));
  CHECK(attributes(8) == std::pair<std::string, std::int64_t>("INT8", 0));
  CHECK(attributes(9) == std::pair<std::string, std::int64_t>("INT16", 9));
  CHECK(attributes(12) == std::pair<std::string, std::int64_t>("INT16", 12));
  CHECK(attributes(16) == std::pair<std::string, std::int64_t>("INT16", 0));
}
