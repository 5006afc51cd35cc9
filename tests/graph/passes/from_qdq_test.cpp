// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/from_qdq.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using support::floats;
using support::GraphBuilder;

namespace {

Tensor int8s(Shape shape, const std::vector<std::int8_t>& values) {
  return {std::move(shape), std::span<const std::int8_t>(values)};
}
Tensor uint8s(Shape shape, const std::vector<std::uint8_t>& values) {
  return {std::move(shape), std::span<const std::uint8_t>(values)};
}

/// x through a QuantizeLinear/DequantizeLinear pair named `name`, to `name`_out.
GraphBuilder& pair(GraphBuilder& builder, const std::string& name, const std::string& from, float scale, Tensor zero,
                   std::int64_t axis = 1) {
  return builder.initializer(name + "_scale", floats({}, {scale}))
      .initializer(name + "_zero", std::move(zero))
      .node("QuantizeLinear", name + "_q", {from, name + "_scale", name + "_zero"}, name + "_codes", {{"axis", axis}})
      .node("DequantizeLinear", name + "_dq", {name + "_codes", name + "_scale", name + "_zero"}, name + "_out",
            {{"axis", axis}});
}

/// A 1x1 convolution of two channels whose weight comes from `weight`.
GraphBuilder& conv(GraphBuilder& builder, const std::string& x, const std::string& weight) {
  return builder.node("Conv", "conv", {x, weight}, "y").output("y");
}

const Tensor& weight_of(const graph::Graph& graph, const char* node) {
  return *graph.value(graph.find_node(node)->inputs[1]).initializer;
}

}  // namespace

TEST_CASE("A layer between pairs becomes float with a record entry") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 3, 3});
  pair(builder, "act", "x", 0.5F, int8s({}, {3}));
  builder.initializer("w", floats({2, 2, 1, 1}, {0.26F, -0.5F, 1, 300}))
      .initializer("ws", floats({2}, {0.25F, 2}))
      .initializer("wz", int8s({2}, {0, 0}))
      .node("QuantizeLinear", "wq", {"w", "ws", "wz"}, "wc", {{"axis", std::int64_t{0}}})
      .node("DequantizeLinear", "wdq", {"wc", "ws", "wz"}, "wf", {{"axis", std::int64_t{0}}});
  auto graph = conv(builder, "act_out", "wf").build();

  const auto found = graph::from_qdq(graph);
  REQUIRE(found.record.size() == 1);
  const LayerRecord& entry = found.record[0];
  CHECK(entry.name == "conv");
  CHECK(entry.scale_d == 0.5F);
  CHECK(entry.offset_d == 3);
  CHECK(entry.scale_w == std::vector<float>{0.25F, 2});
  CHECK(entry.offset_w == std::vector<std::int32_t>{0, 0});
  CHECK(entry.act_type == "INT8");
  CHECK(entry.wts_type == "INT8");
  CHECK(found.refused.empty());
  CHECK(found.dropped.empty());
  CHECK(support::node_names(graph) == std::vector<std::string>{"conv"});
  CHECK(support::name_of(graph, graph.nodes[0].inputs[0]) == "x");
  CHECK(support::values(weight_of(graph, "conv")) == std::vector<float>{0.25F, -0.5F, 0 /* tie to even */, 254});
}

TEST_CASE("Unsigned codes are counted as signed ones; constant codes and an int32 bias are dequantized") {
  GraphBuilder builder;
  builder.input("x", {1, 2});
  pair(builder, "act", "x", 0.5F, uint8s({}, {128}));
  builder.initializer("w", uint8s({2, 2}, {127, 130, 128, 0}))
      .initializer("ws", floats({}, {0.5F}))
      .initializer("wz", uint8s({}, {128}))
      .node("DequantizeLinear", "wdq", {"w", "ws", "wz"}, "wf")
      .initializer("b", Tensor(Shape{2}, std::span<const std::int32_t>(std::vector<std::int32_t>{8, -4})))
      .initializer("bs", floats({}, {0.25F}))
      .node("DequantizeLinear", "bdq", {"b", "bs"}, "bf")
      .node("Gemm", "fc", {"act_out", "wf", "bf"}, "y", {{"transB", std::int64_t{1}}})
      .output("y");
  auto graph = builder.build();
  const auto found = graph::from_qdq(graph);
  REQUIRE(found.record.size() == 1);
  CHECK(found.record[0].offset_d == 0);
  CHECK(found.record[0].scale_w == std::vector<float>{0.5F});
  CHECK(support::values(weight_of(graph, "fc")) == std::vector<float>{-0.5F, 1, 0, -64});
  CHECK(support::values(*graph.value(graph.nodes[0].inputs[2]).initializer) == std::vector<float>{2, -1});
}

TEST_CASE("Scales go with their axis through a Transpose") {
  GraphBuilder builder;
  builder.input("x", {1, 1, 2});
  pair(builder, "act", "x", 1, int8s({}, {0}));
  builder
      .initializer("w", int8s({1, 2, 1}, {1, 2}))  // [Cin, Cout, 1]
      .initializer("ws", floats({2}, {1, 10}))
      .initializer("wz", int8s({2}, {0, 0}))
      .node("DequantizeLinear", "wdq", {"w", "ws", "wz"}, "wf")
      .node("Transpose", "t", {"wf"}, "wt", {{"perm", support::Ints{1, 0, 2}}});
  auto graph = conv(builder, "act_out", "wt").build();
  const auto found = graph::from_qdq(graph);
  REQUIRE(found.record.size() == 1);
  CHECK(found.record[0].scale_w == std::vector<float>{1, 10});
  CHECK(weight_of(graph, "conv").shape() == Shape{2, 1, 1});
  CHECK(support::values(weight_of(graph, "conv")) == std::vector<float>{1, 20});
}

TEST_CASE("A grouped transposed convolution has one scale a real output channel") {
  GraphBuilder builder;
  builder.input("x", {1, 2, 1});
  pair(builder, "act", "x", 1, int8s({}, {0}));
  builder.initializer("w", int8s({2, 2, 1}, {1, 2, 3, 4}))
      .initializer("ws", floats({2}, {1, 10}))
      .node("DequantizeLinear", "wdq", {"w", "ws"}, "wf")
      .node("ConvTranspose", "up", {"act_out", "wf"}, "y", {{"group", std::int64_t{2}}})
      .output("y");
  auto graph = builder.build();
  CHECK(graph::from_qdq(graph).record.at(0).scale_w == std::vector<float>{1, 10, 1, 10});
}

TEST_CASE("What AMCT's form cannot say becomes float with a reason") {
  const auto refused = [](const auto& make) {
    GraphBuilder builder;
    builder.input("x", {1, 2, 1, 1});
    make(builder);
    auto graph = builder.build();
    const auto found = graph::from_qdq(graph);
    CHECK(found.record.empty());
    CHECK(support::node_names(graph) == std::vector<std::string>{"conv"});
    return found.refused.empty() ? std::string() : found.refused.at("conv");
  };
  const auto with_weight = [](std::vector<float> scale, Tensor zero, std::int64_t axis) {
    return [=](GraphBuilder& builder) {
      pair(builder, "act", "x", 1, int8s({}, {0}));
      builder.initializer("w", int8s({2, 2, 1, 1}, {1, 2, 3, 4}))
          .initializer("ws", floats({static_cast<std::int64_t>(scale.size())}, scale))
          .initializer("wz", zero)
          .node("DequantizeLinear", "wdq", {"w", "ws", "wz"}, "wf", {{"axis", axis}});
      conv(builder, "act_out", "wf");
    };
  };
  CHECK(refused(with_weight({1}, int8s({1}, {2}), 0)) == "its weight has a zero point");
  CHECK(refused(with_weight({1, 2}, int8s({2}, {0, 0}), 1)) ==
        "its weight has scales that do not belong to its output channels");
  CHECK(refused([](GraphBuilder& builder) {
          pair(builder, "act", "x", 1, int8s({}, {0}));
          builder.initializer("w", floats({2, 2, 1, 1}, {1, 2, 3, 4}));
          conv(builder, "act_out", "w");
        }) == "its input is quantized and its weight is not");
  CHECK(refused([](GraphBuilder& builder) {
          builder.initializer("w", int8s({2, 2, 1, 1}, {1, 2, 3, 4}))
              .initializer("ws", floats({}, {1}))
              .node("DequantizeLinear", "wdq", {"w", "ws"}, "wf");
          conv(builder, "x", "wf");
        }) == "its weight is quantized and its input is not");
}

TEST_CASE("Pairs elsewhere are dropped and named; constants that differ are no pair") {
  GraphBuilder builder;
  builder.input("x", {2});
  pair(builder, "a", "x", 1, int8s({}, {0}));
  pair(builder, "b", "a_out", 2, int8s({}, {0}));
  builder.node("Relu", "relu", {"b_out"}, "r")
      .initializer("other", floats({}, {4}))
      .node("QuantizeLinear", "q", {"r", "other", "a_zero"}, "c")
      .node("DequantizeLinear", "dq", {"c", "a_scale", "a_zero"}, "d")
      .node("Abs", "abs", {"d"}, "y")
      .output("y");
  auto graph = builder.build();
  const auto found = graph::from_qdq(graph);
  CHECK(found.dropped == std::vector<std::string>{"relu"});
  CHECK(support::node_names(graph) == std::vector<std::string>{"relu", "q", "dq", "abs"});
  CHECK(support::name_of(graph, graph.find_node("relu")->inputs[0]) == "x");
}
