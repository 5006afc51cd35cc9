// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/to_qdq.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/graph/passes/from_qdq.hpp>
#include <amct/graph/passes/insert_dequant.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/passes/quantize_bias.hpp>
#include <amct/graph/passes/quantize_weights.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::contains;
using support::error_of;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::name_of;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

// That other programs compute the same with the result is tested in tests/onnxruntime.

namespace {

LayerRecord entry(const std::string& name, std::vector<float> scale_w, const std::string& type = "INT8") {
  const std::vector<std::int32_t> zeros(scale_w.size(), 0);
  return {.name = name,
          .scale_d = 0.3F,
          .offset_d = -3,
          .scale_w = std::move(scale_w),
          .offset_w = zeros,
          .act_type = type,
          .wts_type = "INT8"};
}

GraphBuilder conv_net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w", floats({2, 1, 1, 1}, {1, -2}))
      .initializer("b", floats({2}, {0.3F, 1}))
      .node("Conv", "conv", {"x", "w", "b"}, "c")
      .node("Relu", "relu", {"c"}, "y")
      .output("y");
}

Graph deployed(Graph graph, const Record& record) {
  quantize_bias(graph, record);
  quantize_weights(graph, record);
  insert_quant(graph, record);
  insert_dequant(graph, record);
  return graph;
}

struct Written {
  Graph graph;
  std::int64_t opset = 0;
  std::vector<ValueId> int4{};
};
Written written(const GraphBuilder& builder, const Record& record, QdqForm form = {}) {
  Graph graph = deployed(builder.build(), record);
  QdqNeeds needs = to_qdq(graph, record, form);
  return {std::move(graph), needs.opset, std::move(needs.int4)};
}

const Node& node_of(const Graph& graph, const std::string& name) {
  const Node* node = graph.find_node(name);
  REQUIRE_MESSAGE(node != nullptr, name);
  return *node;
}
/// The constant that a node reads.
const Tensor& constant(const Graph& graph, const std::string& node, std::size_t input) {
  const auto& data = graph.value(node_of(graph, node).inputs.at(input)).initializer;
  REQUIRE(data);
  return *data;
}

}  // namespace

TEST_CASE("A layer gets a pair for its data, and DequantizeLinear for its weight and bias") {
  const auto [graph, opset, int4] = written(conv_net(), {entry("conv", {0.5F, 0.25F})});
  CHECK(opset == 13);
  CHECK(int4.empty());
  CHECK(node_names(graph) ==
        Names{"conv.quant", "conv.quant.dequant", "conv.weight.dequant", "conv.bias.dequant", "conv", "relu"});
  const Node& conv = node_of(graph, "conv");
  CHECK(name_of(graph, node_of(graph, "conv.quant").inputs[0]) == "x");
  CHECK(node_of(graph, "conv.quant.dequant").inputs[0] == node_of(graph, "conv.quant").outputs[0]);
  CHECK(conv.inputs == std::vector<ValueId>{node_of(graph, "conv.quant.dequant").outputs[0],
                                            node_of(graph, "conv.weight.dequant").outputs[0],
                                            node_of(graph, "conv.bias.dequant").outputs[0]});
  CHECK(name_of(graph, conv.outputs[0]) == "c");
  CHECK(node_of(graph, "relu").inputs[0] == conv.outputs[0]);
}

TEST_CASE("Scales are those of the record, zero points the offsets, and channels have their axis") {
  const auto graph = written(conv_net(), {entry("conv", {0.5F, 0.25F})}).graph;
  for (const char* node : {"conv.quant", "conv.quant.dequant"}) {
    CHECK(values(constant(graph, node, 1)) == std::vector<float>{0.3F});
    CHECK(values<std::int8_t>(constant(graph, node, 2)) == std::vector<std::int8_t>{-3});
    CHECK(constant(graph, node, 1).shape().rank() == 0);
  }
  CHECK(values<std::int8_t>(constant(graph, "conv.weight.dequant", 0)) == std::vector<std::int8_t>{2, -8});
  CHECK(values(constant(graph, "conv.weight.dequant", 1)) == std::vector<float>{0.5F, 0.25F});
  CHECK(values<std::int8_t>(constant(graph, "conv.weight.dequant", 2)) == std::vector<std::int8_t>{0, 0});
  CHECK(node_of(graph, "conv.weight.dequant").attribute_or<std::int64_t>("axis", -1) == 0);
  CHECK(values<std::int32_t>(constant(graph, "conv.bias.dequant", 0)) == std::vector<std::int32_t>{2, 13});
  CHECK(values(constant(graph, "conv.bias.dequant", 1)) == std::vector<float>{0.3F * 0.5F, 0.3F * 0.25F});
  CHECK(node_of(graph, "conv.bias.dequant").inputs.size() == 2);
  CHECK(node_of(graph, "conv.bias.dequant").attribute_or<std::int64_t>("axis", -1) == 0);
}

TEST_CASE("Unsigned activations have zero points larger by half of the range") {
  const auto graph = written(conv_net(), {entry("conv", {0.5F})}, {.unsigned_activations = true}).graph;
  CHECK(values<std::uint8_t>(constant(graph, "conv.quant", 2)) == std::vector<std::uint8_t>{125});
  CHECK(graph.value(node_of(graph, "conv.quant").outputs[0]).type == ElementType::uint8);
  CHECK(constant(graph, "conv.weight.dequant", 0).type() == ElementType::int8);
  CHECK(constant(graph, "conv.weight.dequant", 1).shape().rank() == 0);
  const auto wide = written(conv_net(), {entry("conv", {0.5F}, "INT16")}, {.unsigned_activations = true}).graph;
  CHECK(values<std::uint16_t>(constant(wide, "conv.quant", 2)) == std::vector<std::uint16_t>{32765});
}

TEST_CASE("from_qdq gives record and codes back, whether activations are signed or not") {
  const Record record{entry("conv", {0.5F, 0.25F})};
  for (const bool is_unsigned : {false, true}) {
    auto graph = written(conv_net(), record, {is_unsigned}).graph;
    const auto found = from_qdq(graph);
    CHECK(found.record == record);
    CHECK(found.refused.empty());
    CHECK(node_names(graph) == Names{"conv", "relu"});
    const Graph again = deployed(graph, found.record);
    CHECK(values<std::int8_t>(*again.value(node_of(again, "conv").inputs[1]).initializer) ==
          std::vector<std::int8_t>{2, -8});
  }
}

TEST_CASE("More than 8 bits need opset 21; widths that ONNX lacks get a Clip in front") {
  const auto wide = written(conv_net(), {entry("conv", {0.5F}, "INT16")});
  CHECK(wide.opset == 21);
  CHECK(values<std::int16_t>(constant(wide.graph, "conv.quant", 2)) == std::vector<std::int16_t>{-3});
  CHECK(wide.graph.find_node("conv.quant.clip") == nullptr);

  const auto narrow = written(conv_net(), {entry("conv", {0.5F}, "INT4")});
  CHECK(narrow.opset == 13);
  CHECK(values(constant(narrow.graph, "conv.quant.clip", 1)) == std::vector<float>{-5 * 0.3F});  // code -8
  CHECK(values(constant(narrow.graph, "conv.quant.clip", 2)) == std::vector<float>{10 * 0.3F});  // code 7
  CHECK(node_of(narrow.graph, "conv.quant").inputs[0] == node_of(narrow.graph, "conv.quant.clip").outputs[0]);
}

TEST_CASE("Weights of 4 bits are int8 with the same codes, or INT4 if asked") {
  Record record{entry("conv", {0.5F, 0.25F})};
  record[0].wts_type = "INT4";
  const auto as_int8 = written(conv_net(), record);
  CHECK(as_int8.opset == 13);
  CHECK(as_int8.int4.empty());
  CHECK(values<std::int8_t>(constant(as_int8.graph, "conv.weight.dequant", 0)) == std::vector<std::int8_t>{2, -8});

  const auto as_int4 = written(conv_net(), record, {.int4_weights = true});
  CHECK(as_int4.opset == 21);
  const Node& dequant = node_of(as_int4.graph, "conv.weight.dequant");
  CHECK(as_int4.int4 == std::vector<ValueId>{dequant.inputs[0], dequant.inputs[2]});

  record[0].wts_type = "INT8";
  CHECK(written(conv_net(), record, {.int4_weights = true}).int4.empty());
}

TEST_CASE("Channels of Gemm, MatMul and ConvTranspose lie where the operator has them") {
  const auto axis_of = [](const std::string& op, const Shape& weight, support::Attributes attributes = {}) {
    const auto channels = op == "Conv" ? weight[0] : weight[1];
    const auto builder = GraphBuilder()
                             .input("x")
                             .initializer("w", support::whole_numbers(weight, 1))
                             .node(op, "layer", {"x", "w"}, "y", std::move(attributes))
                             .output("y");
    const std::vector<float> scales(static_cast<std::size_t>(channels), 0.5F);
    const auto graph = written(builder, {entry("layer", scales)}).graph;
    return node_of(graph, "layer.weight.dequant").attribute_or<std::int64_t>("axis", -1);
  };
  CHECK(axis_of("Conv", {2, 1, 3}) == 0);
  CHECK(axis_of("MatMul", {4, 2}) == 1);
  CHECK(axis_of("Gemm", {4, 2}) == 1);
  CHECK(axis_of("ConvTranspose", {3, 2, 1, 1}) == 1);
}

TEST_CASE("Groups of a transposed convolution: scales along the input channels, or along both axes by a Mul") {
  const auto graph_of = [](const Shape& weight, std::vector<float> scales) {
    const auto builder = GraphBuilder()
                             .input("x")
                             .initializer("w", support::whole_numbers(weight, 1))
                             .node("ConvTranspose", "up", {"x", "w"}, "y", {{"group", std::int64_t{2}}})
                             .output("y");
    return written(builder, {entry("up", std::move(scales))}).graph;
  };
  const auto depthwise = graph_of({4, 1, 1}, {1, 2});
  CHECK(values(constant(depthwise, "up.weight.dequant", 1)) == std::vector<float>{1, 1, 2, 2});
  CHECK(node_of(depthwise, "up.weight.dequant").attribute_or<std::int64_t>("axis", -1) == 0);

  const auto both = graph_of({4, 2, 1}, {1, 2, 3, 4});
  CHECK(constant(both, "up.weight.scaled", 1).shape() == Shape{4, 2, 1});
  CHECK(values(constant(both, "up.weight.scaled", 1)) == std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(values(constant(both, "up.weight.dequant", 1)) == std::vector<float>{1});
  CHECK(node_of(both, "up").inputs[1] == node_of(both, "up.weight.scaled").outputs[0]);
}

TEST_CASE("The bias in the Add behind a MatMul, of as many axes as the data") {
  auto builder = GraphBuilder()
                     .input("x", {1, 2, 2})
                     .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
                     .initializer("b", floats({2}, {3, -3}))
                     .node("MatMul", "mm", {"x", "w"}, "m")
                     .node("Add", "add", {"m", "b"}, "y")
                     .output("y");
  const auto bias_of = [&](const std::optional<std::vector<Dim>>& shape) {
    Graph graph = builder.build();
    graph.value(graph.find_node("mm")->outputs[0]).shape = shape;
    const Record record{entry("mm", {1, 2})};
    graph = deployed(std::move(graph), record);
    (void)to_qdq(graph, record);
    CHECK(node_names(graph) ==
          Names{"mm.quant", "mm.quant.dequant", "mm.weight.dequant", "mm", "mm.bias.dequant", "add"});
    CHECK(name_of(graph, graph.outputs[0]) == "y");
    CHECK(values(constant(graph, "mm.bias.dequant", 1)) == std::vector<float>{0.3F, 0.6F});
    CHECK(values<std::int32_t>(constant(graph, "mm.bias.dequant", 0)) == std::vector<std::int32_t>{10, -5});
    return std::pair(constant(graph, "mm.bias.dequant", 0).shape(),
                     node_of(graph, "mm.bias.dequant").attribute_or<std::int64_t>("axis", -1));
  };
  CHECK(bias_of(std::nullopt) == std::pair(Shape{2}, std::int64_t{0}));
  CHECK(bias_of(std::vector<Dim>(2)) == std::pair(Shape{2}, std::int64_t{0}));
  CHECK(bias_of(std::vector<Dim>(3)) == std::pair(Shape{1, 1, 2}, std::int64_t{2}));
}

TEST_CASE("A pool has no weight; layers that stay float are not touched") {
  const auto builder = GraphBuilder()
                           .input("x", {1, 1, 2, 2})
                           .node("AveragePool", "pool", {"x"}, "p", {{"kernel_shape", support::Ints{2, 2}}})
                           .initializer("w", floats({1, 1, 1, 1}, {0.1F}))
                           .node("Conv", "float", {"p", "w"}, "y")
                           .output("y");
  const auto graph = written(builder, {entry("pool", {1})}).graph;
  CHECK(node_names(graph) == Names{"pool.quant", "pool.quant.dequant", "pool", "float"});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{0.1F});
}

TEST_CASE("A graph output keeps its name") {
  const auto builder = GraphBuilder()
                           .input("x", {1, 2})
                           .initializer("w", floats({2, 1}, {1, 1}))
                           .node("MatMul", "mm", {"x", "w"}, "y")
                           .output("y");
  const auto graph = written(builder, {entry("mm", {1.0F})}).graph;
  CHECK(name_of(graph, graph.outputs[0]) == "y");
  CHECK(node_of(graph, "mm").outputs[0] == graph.outputs[0]);
}

TEST_CASE("AscendAntiQuant goes, or becomes an Identity in front of a graph output") {
  Graph graph = GraphBuilder().input("x", {1, 2}).node("Relu", "relu", {"x"}, "r").output("r").build();
  const ValueId codes = graph.add_value({.name = "codes"});
  const ValueId real = graph.add_value({.name = "real"});
  const ValueId result = graph.add_value({.name = "result"});
  graph.nodes.insert(graph.nodes.begin(), {make_quant("q", {0.5F, 1}, graph.inputs[0], codes),
                                           make_anti_quant("a", {0.5F, 1}, codes, real)});
  graph.nodes[2].inputs[0] = real;
  graph.nodes.push_back(make_anti_quant("b", {0.5F, 1}, codes, result));
  graph.outputs.push_back(result);
  (void)to_qdq(graph, {});
  CHECK(node_names(graph) == Names{"q", "q.dequant", "relu", "b"});
  CHECK(node_of(graph, "relu").inputs[0] == codes);
  CHECK(node_of(graph, "b").op_type == "Identity");
  CHECK(values(constant(graph, "q", 1)) == std::vector<float>{0.5F});
}

TEST_CASE("AscendReQuant becomes a pair behind its layer, with a Clip for narrower codes") {
  const Record record{entry("conv", {0.5F})};
  Graph graph = deployed(conv_net().build(), record);
  Node& dequant = *graph.find_node("conv.dequant");
  dequant.op_type = kReQuantOp;
  dequant.attributes = {{"scale", 2.0F}, {"offset", 4.0F}, {"dst_type", std::string("INT8")}};
  dequant.set_attribute("code_min", std::int64_t{4});
  (void)to_qdq(graph, record);
  CHECK(node_names(graph) == Names{"conv.quant", "conv.quant.dequant", "conv.weight.dequant", "conv.bias.dequant",
                                   "conv", "conv.dequant.clip", "conv.dequant", "conv.dequant.dequant", "relu"});
  CHECK(values(constant(graph, "conv.dequant.clip", 1)) == std::vector<float>{0});
  CHECK(values(constant(graph, "conv.dequant.clip", 2)) == std::vector<float>{61.5F});
  CHECK(values<std::int8_t>(constant(graph, "conv.dequant", 2)) == std::vector<std::int8_t>{4});
}

TEST_CASE("AscendReQuant beside an AscendDequant quantizes what that one makes") {
  for (const std::int64_t code_min : {-128, 4}) {
    CAPTURE(code_min);
    const Record record{entry("conv", {0.5F})};
    Graph graph = deployed(conv_net().build(), record);
    Node requant = *graph.find_node("conv.dequant");
    requant.op_type = kReQuantOp;
    requant.name = "requant";
    requant.attributes = {{"scale", 2.0F}, {"offset", 4.0F}, {"dst_type", std::string("INT8")}, {"code_min", code_min}};
    requant.outputs = {graph.add_value({.name = "codes"})};
    graph.outputs.push_back(requant.outputs[0]);
    graph.nodes.push_back(requant);
    (void)to_qdq(graph, record);
    const Node& reader = node_of(graph, code_min == 4 ? "requant.clip" : "requant");
    CHECK(reader.inputs[0] == node_of(graph, "relu").inputs[0]);
    CHECK(reader.inputs[0] == node_of(graph, "conv").outputs[0]);
  }
}

TEST_CASE("What has no such form is refused by name") {
  const Record record{entry("conv", {0.5F})};
  const auto refusal = [](const Graph& graph, const Record& of) {
    const auto error = error_of([&] {
      Graph copy = graph;
      (void)to_qdq(copy, of);
    });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_unsupported);
    CHECK(error->where().layer == "conv.dequant");
    return error->message();
  };
  Graph graph = deployed(conv_net().build(), record);
  CHECK(contains(refusal(graph, {}), "no factors in the record"));
  graph.value(graph.find_node("conv.dequant")->inputs[1]).initializer = dequant_parameter(0.3F, {0.5F}, {2});
  CHECK(contains(refusal(graph, record), "shift_bit"));
}
