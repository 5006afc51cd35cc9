// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/pack_int4_weights.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::GraphBuilder;
using support::values;
using Codes = std::vector<std::int8_t>;

namespace {

Tensor codes(Shape shape) {
  Tensor tensor(ElementType::int8, std::move(shape));
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    tensor.data<std::int8_t>()[i] = static_cast<std::int8_t>(static_cast<int>(i * 7 % 16) - 8);
  }
  return tensor;
}

Graph layer(const std::string& op, const Shape& input, const Tensor& weight, support::Attributes attributes = {}) {
  return GraphBuilder()
      .input("x", input)
      .initializer("w", weight)
      .node(op, "layer", {"x", "w"}, "y", std::move(attributes))
      .output("y")
      .build();
}

LayerRecord four_bits(const std::string& name = "layer") {
  return {.name = name, .scale_w = {1.0F}, .offset_w = {0}, .wts_type = "INT4"};
}

/// The weight after packing; checks that unpacking gives the codes back.
Tensor packed(const std::string& op, const Shape& input, const Tensor& weight, support::Attributes attributes = {}) {
  Graph graph = pack_int4_weights(layer(op, input, weight, std::move(attributes)), {four_bits()});
  const Tensor result = *find_initializer(graph, "w");
  unpack_int4_weights(graph);
  CHECK(values<std::int8_t>(*find_initializer(graph, "w")) == values<std::int8_t>(weight));
  CHECK(find_initializer(graph, "w")->shape() == weight.shape());
  return result;
}

}  // namespace

TEST_CASE("Two codes of neighbouring input channels share a byte, the first in the low nibble") {
  const Tensor weight = codes({1, 4, 1, 2});  // -8 -1, 6 -3, 4 -5, 2 -7
  const Tensor bytes = packed("Conv", {1, 4, 5, 5}, weight);
  CHECK(bytes.shape() == Shape{1, 2, 1, 2});
  CHECK(values<std::int8_t>(bytes) ==
        Codes{0x68, static_cast<std::int8_t>(0xDF), 0x24, static_cast<std::int8_t>(0x9B)});
}

TEST_CASE("The axis of the input channels is halved, whichever it is") {
  CHECK(packed("Conv", {1, 4, 8}, codes({3, 4, 3})).shape() == Shape{3, 2, 3});
  CHECK(packed("ConvTranspose", {1, 4, 8, 8}, codes({4, 3, 3, 3})).shape() == Shape{2, 3, 3, 3});
  CHECK(packed("MatMul", {2, 3, 6}, codes({6, 5})).shape() == Shape{3, 5});
  CHECK(packed("Gemm", {2, 6}, codes({6, 5})).shape() == Shape{3, 5});
  CHECK(packed("Gemm", {2, 6}, codes({5, 6}), {{"transB", std::int64_t{1}}}).shape() == Shape{5, 3});
}

TEST_CASE("Groups and odd numbers of channels are not packed") {
  CHECK(packed("Conv", {1, 4, 5, 5}, codes({4, 2, 1, 1}), {{"group", std::int64_t{2}}}).shape() == Shape{4, 2, 1, 1});
  CHECK(packed("Conv", {1, 3, 5, 5}, codes({4, 3, 1, 1})).shape() == Shape{4, 3, 1, 1});
}

TEST_CASE("Only weights of four bits are packed, and not those with levels of INT8") {
  LayerRecord eight = four_bits();
  eight.wts_type = "INT8";
  LayerRecord levels = four_bits();
  levels.params = {-85, 7, 64};
  for (const LayerRecord& record :
       {eight, levels, LayerRecord{.name = "gone", .scale_w = {1.0F}, .wts_type = "INT4"}}) {
    const Graph graph = pack_int4_weights(layer("MatMul", {2, 6}, codes({6, 5})), {record});
    CHECK(find_initializer(graph, "w")->shape() == Shape{6, 5});
  }
}

TEST_CASE("A shared weight is packed once, if all that read it have it packed alike") {
  GraphBuilder two;
  two.input("x", {6, 6})
      .initializer("w", codes({6, 6}))
      .node("MatMul", "layer", {"x", "w"}, "p")
      .node("Gemm", "other", {"p", "w"}, "y")
      .output("y");
  const Record both{four_bits(), four_bits("other")};
  Graph graph = two.build();
  graph.value(support::find_value(graph, "p")).shape = std::vector<Dim>{{6, {}}, {6, {}}};
  graph = pack_int4_weights(std::move(graph), both);
  CHECK(find_initializer(graph, "w")->shape() == Shape{3, 6});
  unpack_int4_weights(graph);
  CHECK(values<std::int8_t>(*find_initializer(graph, "w")) == values<std::int8_t>(codes({6, 6})));

  CHECK(find_initializer(pack_int4_weights(two.build(), {four_bits()}), "w")->shape() == Shape{6, 6});
  Graph transposed = two.build();
  transposed.find_node("other")->set_attribute("transB", std::int64_t{1});
  CHECK(find_initializer(pack_int4_weights(transposed, both), "w")->shape() == Shape{6, 6});
}

TEST_CASE("Weights that fit their data, float ones, and data of unknown size are left alone") {
  for (const Shape& input : {Shape{2, 6}, Shape{}}) {
    Graph graph = layer("MatMul", input, codes({6, 5}));
    if (input.rank() == 0) graph.value(graph.inputs[0]).shape.reset();
    unpack_int4_weights(graph);
    CHECK(find_initializer(graph, "w")->shape() == Shape{6, 5});
  }
  Graph floats = layer("MatMul", {2, 12}, support::whole_numbers({6, 5}, 1));
  unpack_int4_weights(floats);
  CHECK(find_initializer(floats, "w")->shape() == Shape{6, 5});
}
