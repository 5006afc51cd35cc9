// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/quantize_bias.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::error_of;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::values;

namespace {

GraphBuilder conv(const std::vector<float>& bias) {
  return GraphBuilder()
      .input("x", {1, 1, 1, 1})
      .initializer("w", floats({2, 1, 1, 1}, {1, 2}))
      .initializer("b", floats({2}, bias))
      .node("Conv", "conv", {"x", "w", "b"}, "y")
      .output("y");
}
LayerRecord entry(float scale_d, std::vector<float> scale_w) {
  return {.name = "conv", .scale_d = scale_d, .offset_d = 0, .scale_w = std::move(scale_w)};
}

}  // namespace

TEST_CASE("A bias becomes int32 at the scale of the accumulator, halves to even") {
  Graph graph = conv({0.625F, -0.375F}).build();
  quantize_bias(graph, {entry(0.5F, {0.5F})});  // 2.5 and -1.5
  CHECK(find_initializer(graph, "b")->type() == ElementType::int32);
  CHECK(values<std::int32_t>(*find_initializer(graph, "b")) == std::vector<std::int32_t>{2, -2});
  CHECK(graph.value(support::find_value(graph, "b")).type == ElementType::int32);
}

TEST_CASE("Each channel has its own scale") {
  Graph graph = conv({3, 3}).build();
  quantize_bias(graph, {entry(0.5F, {0.5F, 2.0F})});
  CHECK(values<std::int32_t>(*find_initializer(graph, "b")) == std::vector<std::int32_t>{12, 3});
}

TEST_CASE("A bias that does not fit int32 is refused with the name of its layer") {
  Graph graph = conv({1, 5.0F}).build();
  const auto error = error_of([&] { quantize_bias(graph, {entry(0.5F, {1.0F, 7.874e-10F})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::numeric);
  CHECK(error->where().layer == "conv");
  CHECK(error->where().field == "bias");
  CHECK(support::contains(error->message(), "does not fit int32"));
  CHECK(support::contains(error->message(), "at index 1"));
}

TEST_CASE("The largest code is refused when float32 rounds it up to two to the power of 31") {
  Graph fits = conv({-2147483648.0F, 2147483520.0F}).build();
  quantize_bias(fits, {entry(1.0F, {1.0F})});
  CHECK(values<std::int32_t>(*find_initializer(fits, "b")) == std::vector<std::int32_t>{-2147483647 - 1, 2147483520});
  Graph too_large = conv({0, 2147483648.0F}).build();
  CHECK(error_of([&] { quantize_bias(too_large, {entry(1.0F, {1.0F})}); }));
}

TEST_CASE("A bias from a Constant node becomes an initializer of the layer") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 1, 1})
                    .initializer("w", floats({1, 1, 1, 1}, {1}))
                    .constant("b", floats({1}, {3}))
                    .node("Conv", "conv", {"x", "w", "b"}, "y")
                    .output("y")
                    .build();
  quantize_bias(graph, {entry(0.5F, {1.0F})});
  CHECK(support::name_of(graph, graph.find_node("conv")->inputs[2]) == "conv.bias");
  CHECK(values<std::int32_t>(*find_initializer(graph, "conv.bias")) == std::vector<std::int32_t>{6});
}

TEST_CASE("Layers without bias and layers without record are left alone") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 1, 1})
                    .initializer("w", floats({1, 1, 1, 1}, {1}))
                    .initializer("b", floats({1}, {3}))
                    .node("Conv", "conv", {"x", "w"}, "y")
                    .node("Conv", "other", {"y", "w", "b"}, "z")
                    .output("z")
                    .build();
  quantize_bias(graph, {entry(0.5F, {1.0F})});
  CHECK(graph.nodes[0].inputs.size() == 2);
  CHECK(find_initializer(graph, "b")->type() == ElementType::float32);
}

TEST_CASE("A bias that layers with other scales and an Add share gives each its own, and stays float for the Add") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 1, 1})
                    .input("a.bias")
                    .initializer("w", floats({1, 1, 1, 1}, {1}))
                    .initializer("b", floats({1}, {2}))
                    .node("Conv", "a", {"x", "w", "b"}, "p")
                    .node("Conv", "c", {"p", "w", "b"}, "q")
                    .node("Add", "add", {"q", "b"}, "y")
                    .output("y")
                    .build();
  quantize_bias(graph, {{.name = "a", .scale_d = 0.1F, .offset_d = 0, .scale_w = {1.0F}},
                        {.name = "c", .scale_d = 0.4F, .offset_d = 0, .scale_w = {1.0F}}});
  CHECK(support::name_of(graph, graph.nodes[0].inputs[2]) == "a.bias_2");
  CHECK(values<std::int32_t>(*find_initializer(graph, "a.bias_2")) == std::vector<std::int32_t>{20});
  CHECK(values<std::int32_t>(*find_initializer(graph, "c.bias")) == std::vector<std::int32_t>{5});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{2});
  CHECK(support::name_of(graph, graph.nodes[2].inputs[1]) == "b");
}

TEST_CASE("The bias of a MatMul becomes int32 where it is the second input of its Add") {
  const auto bias = [](const std::vector<std::string>& inputs) {
    Graph graph = GraphBuilder()
                      .input("x", {1, 2, 2})
                      .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
                      .initializer("b", floats({2}, {3, -3}))
                      .node("MatMul", "conv", {"x", "w"}, "m")
                      .node("Add", "add", inputs, "y")
                      .output("y")
                      .build();
    quantize_bias(graph, {entry(0.5F, {1.0F})});
    return *find_initializer(graph, "b");
  };
  CHECK(values<std::int32_t>(bias({"m", "b"})) == std::vector<std::int32_t>{6, -6});
  CHECK(bias({"b", "m"}).type() == ElementType::float32);
}

TEST_CASE("The third input of a layer without weights is no bias") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("low", floats({}, {0}))
                    .initializer("high", floats({}, {6}))
                    .node("Clip", "clip", {"x", "low", "high"}, "y")
                    .output("y")
                    .build();
  LayerRecord record{.name = "clip"};
  record.record_d.push_back({.scale_d = 0.5F, .offset_d = 0, .index = 0});
  quantize_bias(graph, {record});
  CHECK(values(*find_initializer(graph, "high")) == std::vector<float>{6});
}

TEST_CASE("The first input of record_d gives the scale of the accumulator") {
  Graph graph = conv({0.625F, -0.375F}).build();
  LayerRecord record{.name = "conv", .scale_w = {0.5F}};
  record.record_d.push_back({.scale_d = 0.5F, .offset_d = 0, .index = 0});
  quantize_bias(graph, {record});
  CHECK(values<std::int32_t>(*find_initializer(graph, "b")) == std::vector<std::int32_t>{2, -2});
}
