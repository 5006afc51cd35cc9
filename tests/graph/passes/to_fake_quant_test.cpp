// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/to_fake_quant.hpp>

#include <doctest/doctest.h>

#include <amct/graph/passes/insert_dequant.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/passes/quantize_bias.hpp>
#include <amct/graph/passes/quantize_weights.hpp>
#include <amct/graph/uses.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::find_value;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using support::name_of;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

// That the result computes what integers would is tested with an interpreter, in tests/flow/deploy_test.cpp.

namespace {

LayerRecord entry(const std::string& name, std::vector<float> scale_w, const std::string& type = "INT8") {
  return {.name = name, .scale_d = 0.5F, .offset_d = -3, .scale_w = std::move(scale_w), .act_type = type};
}

Graph deployed(const GraphBuilder& builder, const Record& record) {
  Graph graph = builder.build();
  quantize_bias(graph, record);
  quantize_weights(graph, record);
  insert_quant(graph, record);
  insert_dequant(graph, record);
  return graph;
}

GraphBuilder conv_net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w", floats({2, 1, 1, 1}, {1, -2}))
      .initializer("b", floats({2}, {0.25F, 1}))
      .node("Conv", "conv", {"x", "w", "b"}, "c")
      .node("Relu", "relu", {"c"}, "y")
      .output("y");
}

std::vector<float> constant(const Graph& graph, const std::string& node) {
  const Node* found = graph.find_node(node);
  REQUIRE(found != nullptr);
  CHECK(found->op_type == "Constant");
  return values(*found->attribute<Tensor>("value"));
}

}  // namespace

TEST_CASE("Quant and dequant nodes become chains of standard operators named after them") {
  Graph graph = deployed(conv_net(), {entry("conv", {0.5F, 0.25F})});
  to_fake_quant(graph);
  CHECK(node_names(graph) == Names{"conv.quant.fakequant.scale", "conv.quant.fakequant.offset",
                                   "conv.quant.fakequant.min_val", "conv.quant.fakequant.max_val",
                                   "conv.quant.fakequant.mul", "conv.quant.fakequant.round", "conv.quant.fakequant.add",
                                   "conv.quant.fakequant.clip", "conv.quant.fakequant.sub", "conv",
                                   "conv.fakedequant.dqscale", "conv.fakedequant.mul", "relu"});
  const Names types{"Constant", "Constant", "Constant", "Constant", "Mul", "Round", "Add",
                    "Clip",     "Sub",      "Conv",     "Constant", "Mul", "Relu"};
  for (std::size_t i = 0; i < types.size(); ++i) CHECK(graph.nodes[i].op_type == types[i]);
  CHECK(constant(graph, "conv.quant.fakequant.scale") == std::vector<float>{2});
  CHECK(constant(graph, "conv.quant.fakequant.offset") == std::vector<float>{-3});
  CHECK(constant(graph, "conv.quant.fakequant.min_val") == std::vector<float>{-128});
  CHECK(constant(graph, "conv.quant.fakequant.max_val") == std::vector<float>{127});
  CHECK(constant(graph, "conv.fakedequant.dqscale") == std::vector<float>{0.25F, 0.125F});
}

TEST_CASE("The chain is wired from the layer's input through all steps to the layer") {
  Graph graph = deployed(conv_net(), {entry("conv", {0.5F})});
  to_fake_quant(graph);
  const Uses uses(graph);
  const Node* node = graph.find_node("conv");
  for (const char* step : {"sub", "clip", "add", "round", "mul"}) {
    node = uses.producer(node->inputs[0]);
    REQUIRE(node != nullptr);
    CHECK(node->name == std::string("conv.quant.fakequant.") + step);
  }
  CHECK(name_of(graph, node->inputs[0]) == "x");
  const Node* mul = graph.find_node("conv.fakedequant.mul");
  CHECK(mul->inputs[0] == graph.find_node("conv")->outputs[0]);
  CHECK(graph.find_node("relu")->inputs[0] == mul->outputs[0]);
  CHECK(name_of(graph, mul->outputs[0]) == "conv.fakedequant.mul.output0");
}

TEST_CASE("Weights and biases become floats that hold the integers") {
  Graph graph = deployed(conv_net(), {entry("conv", {0.5F})});
  to_fake_quant(graph);
  CHECK(find_initializer(graph, "w")->type() == ElementType::float32);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{2, -4});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{1, 4});
  CHECK(find_initializer(graph, "conv.dequant.param") == nullptr);
}

TEST_CASE("A graph output keeps its name") {
  Graph graph = deployed(GraphBuilder()
                             .input("x", {1, 2})
                             .initializer("w", floats({2, 1}, {1, 1}))
                             .node("MatMul", "mm", {"x", "w"}, "y")
                             .output("y"),
                         {entry("mm", {1.0F})});
  to_fake_quant(graph);
  CHECK(name_of(graph, graph.outputs[0]) == "y");
  CHECK(graph.find_node("mm.fakedequant.mul")->outputs[0] == graph.outputs[0]);
  CHECK(name_of(graph, graph.find_node("mm")->outputs[0]) == "mm_output0");
}

TEST_CASE("The dequant scale has the shape that fits the output of its layer") {
  const auto shape_behind = [](const std::string& op, const Shape& weight, std::vector<float> scales) {
    GraphBuilder builder;
    builder.input("x").node(op, "layer", weight.rank() == 0 ? Names{"x"} : Names{"x", "w"}, "y").output("y");
    if (weight.rank() != 0) builder.initializer("w", support::whole_numbers(weight, 1));
    Graph graph = deployed(builder, {entry("layer", std::move(scales))});
    to_fake_quant(graph);
    return graph.find_node("layer.fakedequant.dqscale")->attribute<Tensor>("value")->shape();
  };
  CHECK(shape_behind("Conv", {2, 1, 1}, {1, 2}) == Shape{1, 2, 1});
  CHECK(shape_behind("Conv", {2, 1, 1, 1}, {1, 2}) == Shape{1, 2, 1, 1});
  CHECK(shape_behind("Conv", {2, 1, 1, 1, 1}, {1, 2}) == Shape{1, 2, 1, 1, 1});
  CHECK(shape_behind("ConvTranspose", {1, 2, 1}, {1, 2}) == Shape{1, 2, 1});
  CHECK(shape_behind("ConvTranspose", {1, 2, 1, 1}, {1, 2}) == Shape{1, 2, 1, 1});
  CHECK(shape_behind("MatMul", {2, 2}, {1}) == Shape{1, 1});
  CHECK(shape_behind("Gemm", {2, 2}, {1}) == Shape{1, 1});
  CHECK(shape_behind("AveragePool", {}, {1}) == Shape{1, 1});
}

TEST_CASE("Activations are clipped to the ends of their width, unknown types are refused") {
  for (const int bits : {4, 8, 9, 12, 16}) {
    Graph graph = deployed(conv_net(), {entry("conv", {0.5F}, "INT" + std::to_string(bits))});
    to_fake_quant(graph);
    const CodeRange range{bits};
    CHECK(constant(graph, "conv.quant.fakequant.min_val") == std::vector{static_cast<float>(range.min())});
    CHECK(constant(graph, "conv.quant.fakequant.max_val") == std::vector{static_cast<float>(range.max())});
  }

  Graph graph = deployed(conv_net(), {entry("conv", {0.5F})});
  graph.find_node("conv.quant")->set_attribute("dst_type", std::string("UINT8"));
  const auto error = support::error_of([&] { to_fake_quant(graph); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "conv.quant");
  CHECK(support::contains(error->what(), "UINT8"));
}

TEST_CASE("A shared quant node becomes one chain") {
  Graph graph = deployed(GraphBuilder()
                             .input("x", {1, 2})
                             .initializer("w1", floats({2, 1}, {1, 1}))
                             .initializer("w2", floats({2, 1}, {1, 1}))
                             .node("MatMul", "a", {"x", "w1"}, "p")
                             .node("MatMul", "b", {"x", "w2"}, "q")
                             .output("p")
                             .output("q"),
                         {entry("a", {1.0F}), entry("b", {1.0F})});
  to_fake_quant(graph);
  CHECK(graph.find_node("a")->inputs[0] == graph.find_node("b")->inputs[0]);
  CHECK(graph.find_node("b.quant.fakequant.mul") == nullptr);
  CHECK(graph.find_node("b.fakedequant.mul") != nullptr);
}

TEST_CASE("Layers that stay float are not touched") {
  Graph graph = deployed(conv_net()
                             .initializer("w2", floats({2, 2, 1, 1}, {0.1F, 0.2F, 0.3F, 0.4F}))
                             .node("Conv", "float", {"y", "w2"}, "z")
                             .output("z"),
                         {entry("conv", {0.5F})});
  to_fake_quant(graph);
  CHECK(values(*find_initializer(graph, "w2")) == std::vector<float>{0.1F, 0.2F, 0.3F, 0.4F});
}

TEST_CASE("A MatMul with an int32 bias in its Add: weight and bias become floats, one Mul follows the Add") {
  Graph graph = deployed(GraphBuilder()
                             .input("x", {1, 2, 2})
                             .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
                             .initializer("b", floats({2}, {3, -3}))
                             .node("MatMul", "mm", {"x", "w"}, "m")
                             .node("Add", "add", {"m", "b"}, "y")
                             .output("y"),
                         {entry("mm", {1.0F})});
  to_fake_quant(graph);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1, 2, 3, 4});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{6, -6});
  const Node* mul = graph.find_node("mm.fakedequant.mul");
  REQUIRE(mul != nullptr);
  CHECK(mul->inputs[0] == graph.find_node("add")->outputs[0]);
  CHECK(name_of(graph, mul->outputs[0]) == "y");
  CHECK(constant(graph, "mm.fakedequant.dqscale") == std::vector<float>{0.5F});
}

TEST_CASE("Layers that share codes become float together") {
  Graph graph = deployed(GraphBuilder()
                             .input("x", {1, 1, 2, 2})
                             .initializer("w", floats({1, 1, 1, 1}, {3}))
                             .node("Conv", "a", {"x", "w"}, "c")
                             .node("Conv", "b", {"c", "w"}, "y")
                             .output("y"),
                         {entry("a", {1.0F}), entry("b", {1.0F})});
  to_fake_quant(graph);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{3});
  CHECK(graph.find_node("a")->inputs[1] == graph.find_node("b")->inputs[1]);
}

TEST_CASE("Behind a MatMul by a vector the scale has no axes, as the output lacks one") {
  Graph graph = deployed(GraphBuilder()
                             .input("x", {5, 4})
                             .initializer("w", floats({4}, {1, 2, 3, 4}))
                             .node("MatMul", "mm", {"x", "w"}, "y")
                             .output("y"),
                         {entry("mm", {1.0F})});
  to_fake_quant(graph);
  CHECK(graph.find_node("mm.fakedequant.dqscale")->attribute<Tensor>("value")->shape() == Shape{});
}

TEST_CASE("An anti-quant node becomes one Mul, since the codes have lost their offset already") {
  LayerRecord record{.name = "sigmoid"};
  record.record_d.push_back({.scale_d = 0.5F, .offset_d = -3, .index = 0});
  Graph graph = deployed(GraphBuilder().input("x").node("Sigmoid", "sigmoid", {"x"}, "y").output("y"), {record});
  to_fake_quant(graph);
  const Node* mul = graph.find_node("sigmoid.anti_quant.fakeantiquant.mul");
  REQUIRE(mul != nullptr);
  CHECK(mul->op_type == "Mul");
  CHECK(mul->inputs[0] == graph.find_node("sigmoid.quant.fakequant.sub")->outputs[0]);
  CHECK(constant(graph, "sigmoid.anti_quant.fakeantiquant.scale") == std::vector<float>{0.5F});
  CHECK(graph.find_node("sigmoid")->inputs[0] == mul->outputs[0]);
}

namespace {

/// A MatMul whose accumulator becomes codes of another scale.
Graph requantized(const std::string& contract) {
  Graph graph = deployed(conv_net(), {entry("conv", {0.5F, 0.25F})});
  Node& dequant = *graph.find_node("conv.dequant");
  dequant.op_type = "AscendReQuant";
  dequant.name = "conv.requant";
  dequant.attributes = {{"scale", 10.0F},
                        {"offset", -7.0F},
                        {"dst_type", std::string("INT8")},
                        {"contract", contract},
                        {"code_min", std::int64_t{-7}}};
  to_fake_quant(graph);
  return graph;
}
Names types_of(const Graph& graph, const std::string& start) {
  Names types;
  for (const Node& node : graph.nodes) {
    if (node.name.starts_with(start)) types.push_back(node.op_type);
  }
  return types;
}

}  // namespace

TEST_CASE("A ReQuant becomes the nodes of a dequant and a quant node") {
  const Graph graph = requantized("two_products");
  CHECK(types_of(graph, "conv.requant.fakedequant.") == Names{"Constant", "Mul"});
  CHECK(types_of(graph, "conv.requant.fakequant.") ==
        Names{"Constant", "Constant", "Constant", "Constant", "Mul", "Round", "Add", "Clip", "Sub"});
  CHECK(constant(graph, "conv.requant.fakedequant.dqscale") == std::vector<float>{0.25F, 0.125F});
  CHECK(graph.find_node("conv.requant.fakedequant.dqscale")->attribute<Tensor>("value")->shape() == Shape{1, 2, 1, 1});
  CHECK(constant(graph, "conv.requant.fakequant.scale") == std::vector<float>{10});
  CHECK(constant(graph, "conv.requant.fakequant.min_val") == std::vector<float>{-7});
  CHECK(constant(graph, "conv.requant.fakequant.max_val") == std::vector<float>{127});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{2, -8});
}

TEST_CASE("A ReQuant with one product has one Mul; the NPU's adds before it rounds") {
  const Graph one = requantized("one_product");
  CHECK(constant(one, "conv.requant.fakedequant.dqscale") == std::vector<float>{2.5F, 1.25F});
  CHECK(types_of(one, "conv.requant.fakequant.") ==
        Names{"Constant", "Constant", "Constant", "Round", "Add", "Clip", "Sub"});
  CHECK(types_of(requantized("one_product_add_then_round"), "conv.requant.fakequant.") ==
        Names{"Constant", "Constant", "Constant", "Add", "Round", "Clip", "Sub"});
}

TEST_CASE("With shift_bit the accumulator is shifted down and kept within sixteen bits") {
  LayerRecord record = entry("conv", {0.5F, 0.25F});
  record.shift_bit = {1, 4};
  Graph graph = deployed(conv_net(), {record});
  to_fake_quant(graph);
  CHECK(types_of(graph, "conv.fakedequant.") ==
        Names{"Constant", "Constant", "Constant", "Mul", "Floor", "Clip", "Constant", "Mul"});
  CHECK(constant(graph, "conv.fakedequant.shift") == std::vector<float>{0.5F, 0.0625F});
  CHECK(constant(graph, "conv.fakedequant.shift_min") == std::vector<float>{-32768});
  CHECK(constant(graph, "conv.fakedequant.shift_max") == std::vector<float>{32767});
  CHECK(constant(graph, "conv.fakedequant.dqscale") == std::vector<float>{0.5F, 2});
}

TEST_CASE("Packed weights of four bits are unpacked") {
  Graph graph = deployed(GraphBuilder()
                             .input("x", {1, 2})
                             .initializer("w", floats({2, 1}, {3, -4}))
                             .node("MatMul", "mm", {"x", "w"}, "y")
                             .output("y"),
                         {{.name = "mm", .scale_d = 0.5F, .offset_d = 0, .scale_w = {1.0F}, .wts_type = "INT4"}});
  graph = pack_int4_weights(std::move(graph), {{.name = "mm", .scale_w = {1.0F}, .wts_type = "INT4"}});
  REQUIRE(find_initializer(graph, "w")->shape() == Shape{1, 1});
  to_fake_quant(graph);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{3, -4});
}

TEST_CASE("A dequant node that reads no layer's accumulator is refused") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("param", dequant_parameter(1.0F, {1.0F}))
                    .node("AscendDequant", "d", {"x", "param"}, "y")
                    .output("y")
                    .build();
  const auto error = support::error_of([&] { to_fake_quant(graph); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "d");
}

TEST_CASE("A node of another domain that makes nothing does no harm") {
  Graph graph = deployed(conv_net(), {entry("conv", {0.5F})});
  graph.nodes.push_back({.op_type = "Log", .domain = "com.example", .name = "log", .inputs = graph.inputs});
  to_fake_quant(graph);
  CHECK(graph.find_node("conv.fakedequant.mul") != nullptr);
}
