// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/merge_requant.hpp>

#include <doctest/doctest.h>

#include <tuple>
#include <utility>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::Attributes;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

namespace {

Attributes quant(float scale = 2.0F, float offset = -20.0F) {
  return {{"scale", scale}, {"offset", offset}, {"dst_type", std::string("INT8")}};
}

Tensor parameter() { return dequant_parameter(0.5F, {0.5F}); }

/// A layer `a` with its dequant node, whose result is "d".
GraphBuilder dequantized(const std::string& op = "Conv") {
  return GraphBuilder()
      .input("x")
      .initializer("param", parameter())
      .node(op, "a", {"x", "w"}, "acc")
      .node("AscendDequant", "a.dequant", {"acc", "param"}, "d");
}
GraphBuilder& quantized(GraphBuilder& builder, const std::string& from, Attributes attributes = quant()) {
  return builder.node("AscendQuant", "b.quant", {from}, "q", std::move(attributes))
      .node("Conv", "b", {"q", "v"}, "y")
      .output("y");
}

/// The codes that the only ReQuant of a graph may make.
std::pair<std::int32_t, std::int32_t> bounds(GraphBuilder builder, const std::string& from,
                                             RequantRule rule = RequantRule::two_products) {
  Graph graph = quantized(builder, from).build();
  (void)merge_requant(graph, rule);
  CHECK(node_names(graph) == Names{"a", "a.requant", "b"});
  const QuantTarget target = quant_target(graph.nodes[1]);
  return {target.lowest, target.highest};
}
/// Why a graph has no ReQuant.
Names refused(const GraphBuilder& builder) {
  Graph graph = builder.build();
  const Names before = node_names(graph);
  Names reasons;
  for (const auto& note : merge_requant(graph).refused) reasons.push_back(note.node + ": " + note.text);
  CHECK(node_names(graph) == before);
  return reasons;
}

}  // namespace

TEST_CASE("A dequant node and the quant node behind it become one node that reads the accumulator") {
  GraphBuilder builder = dequantized();
  Graph graph = quantized(builder, "d").build();
  const PassReport report = merge_requant(graph);
  CHECK(node_names(graph) == Names{"a", "a.requant", "b"});
  const Node& node = graph.nodes[1];
  CHECK(node.op_type == "AscendReQuant");
  CHECK(node.domain.empty());
  CHECK(name_of(graph, node.inputs[0]) == "acc");
  CHECK(name_of(graph, node.inputs[1]) == "param");
  CHECK(graph.nodes[2].inputs[0] == node.outputs[0]);
  CHECK(quant_target(node) == QuantTarget{.scale = 2.0F, .offset = -20});
  CHECK(node.attribute_or<std::string>("contract", "") == "two_products");
  CHECK(node.attribute<std::int64_t>("code_min") == nullptr);
  CHECK(node.attribute<std::int64_t>("code_max") == nullptr);
  REQUIRE(report.changed.size() == 1);
  CHECK(report.changed[0].text == "stands for a.dequant and b.quant");
  CHECK(report.refused.empty());
}

TEST_CASE("A Relu or Clip in between becomes bounds of the codes") {
  const auto clip = [](const Names& inputs, Attributes attributes = {}) {
    return dequantized()
        .initializer("low", floats({}, {-1.25F}))
        .initializer("high", floats({}, {6}))
        .node("Clip", "clip", inputs, "c", std::move(attributes));
  };
  CHECK(bounds(dequantized().node("Relu", "relu", {"d"}, "r"), "r") == std::pair(-20, 127));
  CHECK(bounds(clip({"d", "low", "high"}), "c") == std::pair(-22, -8));  // -2.5 and 12, halves to even
  CHECK(bounds(clip({"d", "", "high"}), "c") == std::pair(-128, -8));
  CHECK(bounds(clip({"d", "low"}), "c") == std::pair(-22, 127));
  CHECK(bounds(clip({"d"}, {{"min", 1.0F}, {"max", 1e30F}}), "c") == std::pair(-18, 127));
  // Bounds that cross: the upper one counts, as ONNX has it.
  CHECK(bounds(clip({"d"}, {{"min", 3.0F}, {"max", 1.0F}}), "c") == std::pair(-18, -18));
  CHECK(bounds(dequantized().node("Relu", "relu", {"d"}, "r").node("Clip", "clip", {"r"}, "c", {{"max", 6.0F}}), "c") ==
        std::pair(-20, -8));
}

TEST_CASE("Bounds are codes in the arithmetic of the rule") {
  GraphBuilder clip = dequantized().node("Clip", "clip", {"d"}, "c", {{"min", 0.75F}, {"max", 1.25F}});
  Attributes odd = quant(2.0F, -19.0F);
  for (const auto& [rule, low, high] : {std::tuple(RequantRule::two_products, -17, -17),
                                        std::tuple(RequantRule::one_product_add_then_round, -18, -16)}) {
    GraphBuilder builder = clip;
    Graph graph = quantized(builder, "c", odd).build();
    (void)merge_requant(graph, rule);
    const QuantTarget target = quant_target(*graph.find_node("a.requant"));
    CHECK(target.lowest == low);
    CHECK(target.highest == high);
    CHECK(requant_rule(*graph.find_node("a.requant")) == rule);
  }
}

TEST_CASE("Operators that move data stand behind the ReQuant then") {
  GraphBuilder builder = dequantized().node("Relu", "relu", {"d"}, "r").node("MaxPool", "pool", {"r"}, "p");
  Graph graph = quantized(builder, "p").build();
  const PassReport report = merge_requant(graph);
  CHECK(node_names(graph) == Names{"a", "a.requant", "pool", "b"});
  CHECK(graph.nodes[2].inputs[0] == graph.nodes[1].outputs[0]);
  const auto* took_in = graph.nodes[1].attribute<std::vector<std::string>>("took_in");
  REQUIRE(took_in != nullptr);
  CHECK(*took_in == Names{"relu"});
  CHECK(report.changed_nodes() == Names{"pool", "b.quant", "a.requant"});
}

TEST_CASE("Quant nodes of one format share a ReQuant, others have one each") {
  Graph graph = dequantized()
                    .node("Relu", "relu", {"d"}, "r")
                    .node("AscendQuant", "b.quant", {"d"}, "q", quant(2.0F, -128.0F))
                    .node("AscendQuant", "c.quant", {"r"}, "s", quant(2.0F, -128.0F))
                    .node("AscendQuant", "e.quant", {"r"}, "t", quant(4.0F, -128.0F))
                    .node("Sum", "sum", {"q", "s", "t"}, "y")
                    .output("y")
                    .build();
  (void)merge_requant(graph);
  CHECK(node_names(graph) == Names{"a", "a.requant", "a.requant_2", "sum"});
  const Node& sum = graph.nodes[3];
  CHECK(sum.inputs[0] == sum.inputs[1]);  // the offset is the least code, so Relu changes nothing
  CHECK(sum.inputs[2] == graph.nodes[2].outputs[0]);
  CHECK(graph.nodes[2].attribute_or<float>("scale", 0.0F) == 4.0F);
}

TEST_CASE("A dequant node stays where somebody needs its value") {
  GraphBuilder output = dequantized();
  CHECK(refused(quantized(output, "d").output("d")) == Names{"a.dequant: its value is a graph output"});
  GraphBuilder reader = dequantized().node("Neg", "neg", {"d"}, "n").output("n");
  CHECK(refused(quantized(reader, "d")) == Names{"a.dequant: neg reads its float value"});
  GraphBuilder behind = dequantized().node("Relu", "relu", {"d"}, "r").node("Neg", "neg", {"r"}, "n").output("n");
  CHECK(refused(quantized(behind, "r")) == Names{"a.dequant: neg reads its float value"});
  GraphBuilder computed = dequantized().input("m").node("Clip", "clip", {"d", "m"}, "c");
  CHECK(refused(quantized(computed, "c")).empty());
  GraphBuilder pool = dequantized("AveragePool");
  CHECK(refused(quantized(pool, "d")) == Names{"a.dequant: what it reads is no sum of integers"});
}

TEST_CASE("The list of codes of a non-uniform layer goes along") {
  GraphBuilder builder = dequantized();
  Graph graph = quantized(builder, "d").build();
  graph.find_node("a.dequant")->set_attribute("weight_levels", Ints{-85, 64});
  (void)merge_requant(graph);
  REQUIRE(graph.find_node("a.requant")->attribute<Ints>("weight_levels") != nullptr);
  CHECK(*graph.find_node("a.requant")->attribute<Ints>("weight_levels") == Ints{-85, 64});
}
