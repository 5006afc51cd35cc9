// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/integer/lower.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <amct/exec/integer/axis_order.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/ranks.hpp>
#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::exec::integer;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using Lines = std::vector<std::string>;

namespace {

const support::Attributes kSame{{"pads", Ints{1, 1, 1, 1}}};

/// Adds a 3x3 convolution of two channels.
GraphBuilder& conv(GraphBuilder& builder, const std::string& name, const std::string& from) {
  return builder.initializer(name + ".w", support::whole_numbers({2, 2, 3, 3}, 1))
      .node("Conv", name, {from, name + ".w"}, name + ".y", kSame);
}

LayerRecord entry(const std::string& name) {
  return {.name = name, .scale_d = 0.5F, .offset_d = 3, .scale_w = {1.0F}, .act_type = "INT8"};
}

graph::Graph deployed(const GraphBuilder& builder, const Lines& layers) {
  Record record;
  for (const auto& layer : layers) record.push_back(entry(layer));
  return flow::deploy(builder.build(), record);
}

/// `op_type name(inputs that are no constants) -> outputs` of each node.
Lines lines_of(const graph::Graph& graph) {
  const auto short_name = [&](graph::ValueId id) {
    std::string name = support::name_of(graph, id);
    const auto marker = name.find(".channels_last");
    return marker == std::string::npos ? name : name.substr(0, marker) + '*';
  };
  Lines lines;
  for (const auto& node : graph.nodes) {
    std::string line = node.op_type + ' ' + node.name + '(';
    for (const auto id : node.inputs) {
      if (id == graph::kNoValue || graph.value(id).initializer) continue;
      line += (line.back() == '(' ? "" : ", ") + short_name(id);
    }
    line += ')';
    for (const auto id : node.outputs) line += ' ' + (id == graph::kNoValue ? std::string("-") : short_name(id));
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("A residual block becomes two nodes with channels last; codes and real values leave each as they are read") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x").node("Relu", "r1", {"c1.y"}, "r1.y");
  conv(builder, "c2", "r1.y").node("Add", "add", {"c2.y", "r1.y"}, "add.y").node("Relu", "r2", {"add.y"}, "r2.y");
  conv(builder, "c3", "r2.y").output("c3.y").output("r2.y");
  const auto lowered = lower(deployed(builder, {"c1", "c2", "c3"}));
  CHECK(lines_of(lowered.graph) ==
        Lines{"AscendQuant c1.quant(x) c1.quant.output0",
              "Transpose c1.quant.output0.to_channels_last(c1.quant.output0) c1.quant.output0*",
              "IntegerConv c1(c1.quant.output0*) r1.y* c2.quant.output0*",
              "IntegerConv c2(c2.quant.output0*, r1.y*) r2.y* c3.quant.output0*",
              "IntegerConv c3(c3.quant.output0*) c3.y* -", "Transpose c3.y.from_channels_last(c3.y*) c3.y",
              "Transpose r2.y.from_channels_last(r2.y*) r2.y"});
  CHECK(lowered.channels_last.size() == 6);
  const graph::Node& c2 = lowered.graph.nodes[3];
  CHECK(is_integer_layer(c2));
  CHECK(input_codes(c2).offset == 3);
  CHECK(*c2.attribute<std::vector<float>>(kClip) == std::vector<float>{0.0F, std::numeric_limits<float>::infinity()});
  REQUIRE(next_codes(c2));
  CHECK(next_codes(c2)->scale == 2.0F);
  CHECK(next_codes(c2)->offset == 3);
  CHECK(next_codes(c2)->range == Int8::range);
  CHECK_FALSE(next_codes(lowered.graph.nodes[4]));
}

TEST_CASE("A layer takes in an addition before a Relu, and none behind it") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x")
      .node("Add", "add1", {"x", "c1.y"}, "a1")
      .node("Relu", "r", {"a1"}, "r")
      .node("Add", "add2", {"r", "x"}, "a2")
      .node("Relu", "r2", {"a2"}, "y")
      .output("y");
  const auto lines = lines_of(lower(deployed(builder, {"c1"})).graph);
  REQUIRE(lines.size() == 7);
  CHECK(lines[3] == "IntegerConv c1(c1.quant.output0*, x*) r* -");
  CHECK(lines[4] == "Add add2(r*, x*) a2*");
  CHECK(lines[5] == "Relu r2(a2*) y*");
}

TEST_CASE("With every_layer each layer makes a result, also where the file merged nodes") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x").node("Relu", "r1", {"c1.y"}, "r1.y");
  conv(builder, "c2", "r1.y").output("c2.y");
  const auto graph = deployed(builder, {"c1", "c2"});
  CHECK(lines_of(lower(graph, {.every_layer = true}).graph) ==
        Lines{"AscendQuant c1.quant(x) c1.quant.output0",
              "Transpose c1.quant.output0.to_channels_last(c1.quant.output0) c1.quant.output0*",
              "IntegerConv c1(c1.quant.output0*) c1.dequant.output0* -", "Relu r1(c1.dequant.output0*) r1.y*",
              "AscendQuant c2.quant(r1.y*) c2.quant.output0*", "IntegerConv c2(c2.quant.output0*) c2.y* -",
              "Transpose c2.y.from_channels_last(c2.y*) c2.y"});
  auto merged = graph;
  graph::merge_requant(merged);
  const auto layers = lower(merged, {.every_layer = true}).graph;
  REQUIRE(layers.nodes.size() == 5);
  CHECK(layers.nodes[2].outputs[kRealOutput] != graph::kNoValue);
  CHECK(layers.nodes[2].outputs[kCodesOutput] != graph::kNoValue);
}

TEST_CASE("Codes move through pooling and concatenation without arithmetic") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x");
  conv(builder, "c2", "x");
  builder.node("Concat", "concat", {"c1.y", "c2.y"}, "cat.y", {{"axis", std::int64_t{1}}})
      .node("MaxPool", "pool", {"cat.y"}, "pool.y", {{"kernel_shape", Ints{2, 2}}})
      .initializer("w", support::whole_numbers({1, 4, 1, 1}, 2))
      .node("Conv", "c3", {"pool.y", "w"}, "y")
      .output("y");
  const auto lowered = lower(deployed(builder, {"c1", "c2", "c3"}));
  const auto lines = lines_of(lowered.graph);
  REQUIRE(lines.size() == 8);
  CHECK(lines[2].starts_with("IntegerConv c1(c1.quant.output0*) - "));
  CHECK(lines[3].starts_with("IntegerConv c2(c1.quant.output0*) - "));
  CHECK(lines[4].starts_with("Concat concat("));
  CHECK(lowered.graph.nodes[4].attribute_or<std::int64_t>("axis", 0) == 3);
  CHECK(lines[5].starts_with("MaxPool pool("));
  CHECK(lowered.graph.nodes[5].domain == kDomain);
}

TEST_CASE("Convolutions that follow each other through a Transpose of the network need one Transpose at most") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x").node("Transpose", "t", {"c1.y"}, "t.y", {{"perm", Ints{0, 2, 3, 1}}}).output("t.y");
  const auto lowered = lower(deployed(builder, {"c1"}));
  REQUIRE(lowered.graph.nodes.size() == 4);
  CHECK(lines_of(lowered.graph)[3] == "Transpose t(c1.dequant.output0*) t.y");
  CHECK(*lowered.graph.nodes[3].attribute<Ints>("perm") == Ints{0, 1, 2, 3});
}

TEST_CASE("What stays float is marked for float16 if that is wanted") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x").node("Relu", "fused", {"c1.y"}, "r").node("Exp", "float", {"r"}, "y").output("y");
  for (const bool every_layer : {false, true}) {
    const auto graph = lower(deployed(builder, {"c1"}), {.every_layer = every_layer, .float16_layers = true}).graph;
    for (const auto& node : graph.nodes) {
      CAPTURE(node.name);
      CHECK((node.attribute<std::int64_t>(exec::kFloat16) != nullptr) == (node.name == "float"));
    }
  }
}

TEST_CASE("Axes are counted through operators that keep them") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2, 8, 8})
                         .node("Relu", "r", {"x"}, "a")
                         .initializer("b", floats({2, 1, 1}, {1, 2}))
                         .node("Add", "add", {"b", "a"}, "c")
                         .node("Flatten", "f", {"c"}, "d")
                         .output("d")
                         .build();
  const Ranks ranks(graph);
  for (const auto* name : {"x", "a", "c"}) CHECK(ranks.of(support::find_value(graph, name)) == 4U);
  CHECK(ranks.of(support::find_value(graph, "b")) == 3U);
  CHECK_FALSE(ranks.of(support::find_value(graph, "d")));
}

TEST_CASE("Orders of axes to and from channels last undo each other") {
  CHECK(to_channels_last(4) == Ints{0, 2, 3, 1});
  CHECK(from_channels_last(4) == Ints{0, 3, 1, 2});
  CHECK(to_channels_last(3) == from_channels_last(3));
  CHECK(to_channels_last(2) == Ints{0, 1});
  CHECK(axis_with_channels_last(1, 4) == 3);
  CHECK(axis_with_channels_last(-1, 4) == 2);
  CHECK(axis_with_channels_last(0, 4) == 0);
  CHECK(axis_with_channels_last(7, 4) == 7);
  CHECK(support::values<std::int64_t>(list_with_channels_last(support::int64s({0, 1, 2, 3, 4, 5}), 3)) ==
        Ints{0, 2, 1, 3, 5, 4});
}

TEST_CASE("Nodes that only lowering makes are refused in a network and in its bodies") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  conv(builder, "c1", "x").output("c1.y");
  const auto plain = deployed(builder, {"c1"});
  const auto lowered = lower(plain).graph;
  const auto refused = [](const graph::Graph& graph) {
    const auto error = support::error_of([&] { (void)lower(graph); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_unsupported);
    CHECK(error->where().layer == "c1");
    CHECK(error->where().field == "IntegerConv");
  };
  refused(lowered);
  auto outer = plain;
  const graph::Body body = std::make_shared<const graph::Graph>(lowered);
  outer.nodes.push_back({.op_type = "If", .name = "if", .inputs = outer.inputs, .attributes = {{"else_branch", body}}});
  refused(outer);
}
