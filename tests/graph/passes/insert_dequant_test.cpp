// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/insert_dequant.hpp>

#include <doctest/doctest.h>

#include <bit>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

namespace {

LayerRecord entry(const std::string& name, float scale_d, std::vector<float> scale_w) {
  return {.name = name, .scale_d = scale_d, .offset_d = 0, .scale_w = std::move(scale_w)};
}

GraphBuilder two_layers() {
  return GraphBuilder()
      .input("x", {1, 2})
      .initializer("w1", floats({2, 2}, {1, 2, 3, 4}))
      .initializer("w2", floats({2, 2}, {1, 2, 3, 4}))
      .node("MatMul", "a", {"x", "w1"}, "p")
      .node("Relu", "relu", {"p"}, "r")
      .node("MatMul", "b", {"r", "w2"}, "y")
      .output("y");
}

}  // namespace

TEST_CASE("The dequant parameter holds the float32 bits of the accumulator scale, the upper half is zero") {
  const Tensor parameter = dequant_parameter(0.5F, {0.5F, 3.0F, 0.1F});
  CHECK(parameter.type() == ElementType::uint64);
  CHECK(parameter.shape() == Shape{3});
  CHECK(parameter.data<std::uint64_t>()[0] == 0x3E800000U);  // 0.25
  CHECK(parameter.data<std::uint64_t>()[1] == 0x3FC00000U);  // 1.5
  CHECK(parameter.data<std::uint64_t>()[2] == std::bit_cast<std::uint32_t>(0.5F * 0.1F));
  const volatile float product = 0.0123F * 0.0456F;
  CHECK(dequant_parameter(0.0123F, {0.0456F}).data<std::uint64_t>()[0] == std::bit_cast<std::uint32_t>(float{product}));
}

TEST_CASE("A dequant node stands behind its layer and feeds all that read it") {
  Graph graph = two_layers().node("Neg", "neg", {"p"}, "n").output("n").build();
  insert_dequant(graph, {entry("a", 0.5F, {0.5F})});
  CHECK(node_names(graph) == Names{"a", "a.dequant", "relu", "b", "neg"});
  const Node& dequant = graph.nodes[1];
  CHECK(dequant.op_type == "AscendDequant");
  CHECK(dequant.domain.empty());
  CHECK(dequant.attribute_or<std::int64_t>("dtype", 9) == 0);
  REQUIRE(dequant.inputs.size() == 2);
  CHECK(dequant.inputs[0] == graph.nodes[0].outputs[0]);
  CHECK(name_of(graph, dequant.inputs[1]) == "a.dequant.param");
  CHECK(graph.nodes[2].inputs[0] == dequant.outputs[0]);
  CHECK(graph.nodes[4].inputs[0] == dequant.outputs[0]);
  REQUIRE(find_initializer(graph, "a.dequant.param") != nullptr);
  CHECK(find_initializer(graph, "a.dequant.param")->data<std::uint64_t>()[0] == 0x3E800000U);
}

TEST_CASE("Inside the net the layer keeps the name of its value") {
  Graph graph = two_layers().build();
  insert_dequant(graph, {entry("a", 0.5F, {0.5F})});
  CHECK(name_of(graph, graph.nodes[0].outputs[0]) == "p");
  CHECK(name_of(graph, graph.nodes[1].outputs[0]) == "a.dequant.output0");
}

TEST_CASE("At a graph output the dequant node takes the name and the layer's value gets another") {
  Graph graph = two_layers().build();
  insert_dequant(graph, {entry("b", 0.5F, {0.5F})});
  CHECK(node_names(graph) == Names{"a", "relu", "b", "b.dequant"});
  CHECK(name_of(graph, graph.nodes[2].outputs[0]) == "b_output0");
  CHECK(name_of(graph, graph.nodes[3].outputs[0]) == "y");
  CHECK(graph.outputs[0] == graph.nodes[3].outputs[0]);
}

TEST_CASE("Names that are taken are avoided") {
  Graph graph = two_layers().input("b_output0").input("b.dequant.param").build();
  graph.nodes[1].name = "b.dequant";
  insert_dequant(graph, {entry("b", 0.5F, {0.5F})});
  CHECK(graph.nodes[3].name == "b.dequant_2");
  CHECK(name_of(graph, graph.nodes[2].outputs[0]) == "b_output0_2");
}

TEST_CASE("Layers without a record are left alone") {
  Graph graph = two_layers().build();
  insert_dequant(graph, {entry("elsewhere", 0.5F, {0.5F})});
  CHECK(node_names(graph) == Names{"a", "relu", "b"});
}

TEST_CASE("Behind a MatMul whose Add has an int32 bias the dequant node follows the Add") {
  const auto names = [](ElementType type) {
    Graph graph = support::GraphBuilder()
                      .input("x")
                      .initializer("w", Tensor(ElementType::int8, {2, 2}))
                      .initializer("b", Tensor(type, {2}))
                      .node("MatMul", "mm", {"x", "w"}, "m")
                      .node("Add", "add", {"m", "b"}, "y")
                      .output("y")
                      .build();
    insert_dequant(graph, {entry("mm", 0.5F, {0.5F})});
    CHECK(name_of(graph, graph.outputs[0]) == "y");
    return node_names(graph);
  };
  CHECK(names(ElementType::int32) == Names{"mm", "add", "mm.dequant"});
  CHECK(names(ElementType::float32) == Names{"mm", "mm.dequant", "add"});
}

TEST_CASE("shift_bit is in bits 39 to 32 of the parameter, for each channel or once for all") {
  for (const std::vector<std::uint32_t>& shifts : {std::vector<std::uint32_t>{3, 16}, std::vector<std::uint32_t>{5}}) {
    Graph graph = two_layers().build();
    LayerRecord layer = entry("a", 0.5F, {0.5F, 3.0F});
    layer.shift_bit = shifts;
    insert_dequant(graph, {layer});
    const auto parameter = support::values<std::uint64_t>(*find_initializer(graph, "a.dequant.param"));
    CHECK(parameter == std::vector<std::uint64_t>{0x3E800000U | std::uint64_t{shifts[0]} << 32U,
                                                  0x3FC00000U | std::uint64_t{shifts.back()} << 32U});
  }
}

TEST_CASE("Layers that stay float have no dequant node; a pool without weight factors has, and a product of two data") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 2, 2})
                    .input("z", {2, 2})
                    .node("Relu", "relu", {"x"}, "p")
                    .node("AveragePool", "pool", {"p"}, "q", {{"kernel_shape", support::Ints{1, 1}}})
                    .node("MatMul", "mm", {"q", "z"}, "y")
                    .output("y")
                    .build();
  LayerRecord product{.name = "mm"};
  for (const float scale : {0.5F, 3.0F}) {
    const auto index = static_cast<std::int32_t>(product.record_d.size());
    product.record_d.push_back({.scale_d = scale, .offset_d = 0, .index = index});
  }
  insert_dequant(graph, {entry("relu", 0.5F, {}), entry("pool", 0.25F, {}), product});
  CHECK(node_names(graph) == Names{"relu", "pool", "pool.dequant", "mm", "mm.dequant"});
  CHECK(find_initializer(graph, "pool.dequant.param")->data<std::uint64_t>()[0] == 0x3E800000U);
  CHECK(find_initializer(graph, "mm.dequant.param")->data<std::uint64_t>()[0] == 0x3FC00000U);
}

TEST_CASE("The dequant node of a non-uniform layer lists the codes in use") {
  Graph graph = two_layers().build();
  LayerRecord layer = entry("a", 0.5F, {0.5F});
  layer.params = {64, -85, 7};
  layer.num_bits_w = 4;
  insert_dequant(graph, {layer, entry("b", 0.5F, {0.5F})});
  const auto* levels = graph.find_node("a.dequant")->attribute<std::vector<std::int64_t>>("weight_levels");
  REQUIRE(levels != nullptr);
  CHECK(*levels == std::vector<std::int64_t>{-85, 7, 64});
  CHECK(graph.find_node("b.dequant")->attribute<std::vector<std::int64_t>>("weight_levels") == nullptr);
}
