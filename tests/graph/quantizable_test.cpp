// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/quantizable.hpp>

#include <doctest/doctest.h>

#include <span>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using support::whole_numbers;

namespace {

/// The reason why the only layer of a graph stays float; empty if it is quantized.
std::string reason(const GraphBuilder& builder) {
  const auto found = find_quantizable(builder.build());
  REQUIRE(found.layers.size() + found.left_float.size() == 1);
  return found.left_float.empty() ? "" : found.left_float[0].reason;
}

}  // namespace

TEST_CASE("All quantizable layers are found in model order") {
  const auto found = find_quantizable(GraphBuilder()
                                          .input("x", {1, 2, 4, 4})
                                          .initializer("w1", whole_numbers({2, 2, 1, 1}, 1))
                                          .initializer("w2", whole_numbers({2, 2, 2, 2}, 2))
                                          .initializer("w3", whole_numbers({2, 3}, 3))
                                          .initializer("w4", whole_numbers({3, 3}, 4))
                                          .node("ConvTranspose", "up", {"x", "w2"}, "a")
                                          .node("Conv", "conv", {"a", "w1"}, "b")
                                          .node("AveragePool", "pool", {"b"}, "c", {{"kernel_shape", Ints{5, 5}}})
                                          .node("Relu", "relu", {"c"}, "d")
                                          .node("Flatten", "flat", {"d"}, "e")
                                          .node("Gemm", "fc", {"e", "w3"}, "f")
                                          .node("MatMul", "mm", {"f", "w4"}, "g")
                                          .output("g")
                                          .build());
  CHECK(found.left_float.empty());
  REQUIRE(found.layers.size() == 5);
  const std::pair<const char*, LayerKind> expected[] = {{"up", LayerKind::conv_transpose2d},
                                                        {"conv", LayerKind::conv2d},
                                                        {"pool", LayerKind::avg_pool2d},
                                                        {"fc", LayerKind::linear},
                                                        {"mm", LayerKind::linear}};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(found.layers[i].name == expected[i].first);
    CHECK(found.layers[i].kind == expected[i].second);
  }
}

TEST_CASE("A layer that stays float is listed with its operator and the reason") {
  const auto found =
      find_quantizable(GraphBuilder().input("x").input("w").node("MatMul", "mm", {"x", "w"}, "y").output("y").build());
  CHECK(found.layers.empty());
  REQUIRE(found.left_float.size() == 1);
  CHECK(found.left_float[0].name == "mm");
  CHECK(found.left_float[0].op_type == "MatMul");
  CHECK(found.left_float[0].reason == "its weight is not an initializer");
}

TEST_CASE("Weights must be float32 data of a known rank") {
  const auto conv = [](Tensor weight) {
    return GraphBuilder().input("x").initializer("w", std::move(weight)).node("Conv", "c", {"x", "w"}, "y").output("y");
  };
  CHECK(reason(conv(floats({1, 1, 1, 1}, {1}))) == "");
  CHECK(reason(conv(Tensor(ElementType::int8, {1, 1, 1, 1}))) == "its weight is not float32");
  CHECK(reason(conv(Tensor(ElementType::float32, {0, 1, 1, 1}))) == "its weight is empty");
  CHECK(reason(conv(floats({1, 1}, {1}))) == "its weight has 2 axes");
  CHECK(reason(conv(floats({1, 1, 1, 1, 1, 1}, {1}))) == "its weight has 6 axes");
}

TEST_CASE("A three-dimensional transposed convolution stays float") {
  CHECK(reason(GraphBuilder()
                   .input("x")
                   .initializer("w", whole_numbers({1, 1, 2, 2, 2}, 1))
                   .node("ConvTranspose", "up", {"x", "w"}, "y")
                   .output("y")) == "its weight has 5 axes");
}

TEST_CASE("A transposed convolution whose groups cannot split its channels stays float") {
  for (const std::int64_t groups : {0, 3, -1}) {
    CAPTURE(groups);
    CHECK(reason(GraphBuilder()
                     .input("x")
                     .initializer("w", whole_numbers({4, 2, 1, 1}, 1))
                     .node("ConvTranspose", "up", {"x", "w"}, "y", {{"group", groups}})
                     .output("y")) != "");
  }
}

TEST_CASE("A weight or bias that another node reads too keeps its layer float") {
  const auto two = find_quantizable(GraphBuilder()
                                        .input("x")
                                        .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                                        .node("Conv", "c1", {"x", "w"}, "y")
                                        .node("Conv", "c2", {"y", "w"}, "z")
                                        .output("z")
                                        .build());
  CHECK(two.layers.empty());
  REQUIRE(two.left_float.size() == 2);
  CHECK(two.left_float[0].reason == "its weight is shared with another node");
  CHECK(two.left_float[1].reason == "its weight is shared with another node");

  CHECK(reason(GraphBuilder()
                   .input("x")
                   .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                   .initializer("b", floats({1}, {1}))
                   .node("Conv", "c", {"x", "w", "b"}, "y")
                   .node("Add", "add", {"y", "b"}, "z")
                   .output("z")) == "its bias is shared with another node");
}

TEST_CASE("A bias that is computed keeps its layer float, a Constant node does not") {
  CHECK(reason(GraphBuilder()
                   .input("x")
                   .input("b")
                   .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                   .node("Conv", "c", {"x", "w", "b"}, "y")
                   .output("y")) == "its bias is not a constant");
  CHECK(reason(GraphBuilder()
                   .input("x")
                   .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                   .constant("b", floats({1}, {1}))
                   .node("Conv", "c", {"x", "w", "b"}, "y")
                   .output("y")) == "");
}

TEST_CASE("A layer with a constant input stays float") {
  CHECK(reason(GraphBuilder()
                   .initializer("x", whole_numbers({1, 2}, 1))
                   .initializer("w", whole_numbers({2, 2}, 2))
                   .node("MatMul", "mm", {"x", "w"}, "y")
                   .output("y")) == "its input is a constant");
}

TEST_CASE("A Gemm with transA stays float") {
  const auto gemm = [](std::int64_t transpose) {
    return GraphBuilder()
        .input("x")
        .initializer("w", whole_numbers({2, 2}, 2))
        .node("Gemm", "fc", {"x", "w"}, "y", {{"transA", transpose}})
        .output("y");
  };
  CHECK(reason(gemm(1)) == "transA is set");
  CHECK(reason(gemm(0)) == "");
}

TEST_CASE("Only two-dimensional average pools are quantized") {
  const auto pool = [](const Ints& kernel) {
    return GraphBuilder().input("x").node("AveragePool", "p", {"x"}, "y", {{"kernel_shape", kernel}}).output("y");
  };
  CHECK(reason(pool({2, 2})) == "");
  CHECK(reason(pool({2})) == "only 2-D average pooling is quantized");
  CHECK(reason(pool({2, 2, 2})) == "only 2-D average pooling is quantized");
}

TEST_CASE("Operators of other domains are not layers") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                    .node("Conv", "c", {"x", "w"}, "y")
                    .output("y")
                    .build();
  graph.nodes[0].domain = "com.example";
  const auto found = find_quantizable(graph);
  CHECK(found.layers.empty());
  CHECK(found.left_float.empty());
}

TEST_CASE("Whether four-bit weights can be packed follows from groups and input channels") {
  const auto layer = [](const char* op, const Shape& weight, std::int64_t groups) {
    const auto found = find_quantizable(GraphBuilder()
                                            .input("x")
                                            .initializer("w", whole_numbers(weight, 1))
                                            .node(op, "l", {"x", "w"}, "y", {{"group", groups}})
                                            .output("y")
                                            .build());
    REQUIRE(found.layers.size() == 1);
    return found.layers[0];
  };
  CHECK(layer("Conv", {4, 2, 1, 1}, 1).packs_int4);
  CHECK_FALSE(layer("Conv", {4, 3, 1, 1}, 1).packs_int4);
  CHECK_FALSE(layer("Conv", {4, 2, 1, 1}, 2).packs_int4);
  CHECK_FALSE(layer("Conv", {4, 2, 1, 1}, 2).depthwise);
  CHECK(layer("Conv", {4, 1, 1, 1}, 4).depthwise);
  CHECK(layer("ConvTranspose", {4, 3, 1, 1}, 1).packs_int4);
  CHECK_FALSE(layer("ConvTranspose", {3, 4, 1, 1}, 1).packs_int4);
  CHECK(layer("MatMul", {4, 3}, 1).packs_int4);
  CHECK(layer("MatMul", {4, 3}, 1).op_type == "MatMul");
}

TEST_CASE("Hotwheels quantizes the data of operators without weights, and layers that share a weight") {
  const FlavourRules& rules = rules_of(Flavour::hotwheels);
  const auto found = find_quantizable(GraphBuilder()
                                          .input("x", {1, 1, 4, 4})
                                          .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                                          .initializer("one", floats({1}, {1}))
                                          .node("Conv", "c1", {"x", "w"}, "a")
                                          .node("Relu", "r1", {"a"}, "b")
                                          .node("Conv", "c2", {"b", "w"}, "c")
                                          .node("Add", "add", {"b", "c"}, "d")
                                          .node("Relu", "r2", {"d"}, "e")
                                          .node("Mul", "mul", {"e", "one"}, "f")
                                          .node("MatMul", "mm", {"f", "d"}, "g")
                                          .node("Reshape", "flat", {"g", "x"}, "h")
                                          .node("Erf", "erf", {"h"}, "i")
                                          .output("i")
                                          .build(),
                                      rules);
  std::string text;
  for (const auto& layer : found.layers) {
    text += layer.name + ' ' + type_name(layer) + ' ' + std::to_string(layer.activation_inputs) + '\n';
  }
  CHECK(text == "c1 Conv2d 1\nc2 Conv2d 1\nadd Add 2\nr2 Relu 1\nmul Mul 1\nmm MatMul 2\nflat Reshape 1\n");
  REQUIRE(found.left_float.size() == 1);
  CHECK(found.left_float[0].name == "r1");
  CHECK(found.left_float[0].reason == "it stands directly behind a convolution");
}

TEST_CASE("MindSpore does not quantize pools") {
  const auto found = find_quantizable(GraphBuilder()
                                          .input("x")
                                          .node("AveragePool", "p", {"x"}, "y", {{"kernel_shape", Ints{2, 2}}})
                                          .output("y")
                                          .build(),
                                      rules_of(Flavour::mindspore));
  CHECK(found.layers.empty());
}

TEST_CASE("A user adds operators, also of other domains and composites") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Erf", "erf", {"x"}, "a")
                    .node("Warp", "warp", {"a", "x"}, "b")
                    .node("Sigmoid", "s", {"b"}, "c")
                    .node("Mul", "silu", {"b", "c"}, "y")
                    .output("y")
                    .build();
  graph.nodes[1].domain = "com.example";
  const auto names = [&](const std::vector<std::string>& operators) {
    std::string text;
    for (const auto& layer : find_quantizable(graph, rules_of(Flavour::pytorch), {operators}).layers) {
      text += layer.name + ' ' + layer.op_type + ' ' + std::to_string(layer.activation_inputs) + '\n';
    }
    return text;
  };
  CHECK(names({}) == "");
  CHECK(names({"Erf"}) == "erf Erf 1\n");
  CHECK(names({"com.example:Warp"}) == "warp Warp 2\n");
  CHECK(names({"Warp"}) == "warp Warp 2\n");
  CHECK(names({"other:Warp"}) == "");
  CHECK(names({"SiLU"}) == "silu SiLU 1\n");
}

TEST_CASE("Layers of some kinds can be left float") {
  QuantizableLayers found{.layers = {{.name = "a", .kind = LayerKind::conv2d, .op_type = "Conv"},
                                     {.name = "b", .kind = LayerKind::gru, .op_type = "GRU"}},
                          .left_float = {}};
  constexpr LayerKind kGru[] = {LayerKind::gru};
  leave_float(found, kGru, "because");
  REQUIRE(found.layers.size() == 1);
  CHECK(found.layers[0].name == "a");
  REQUIRE(found.left_float.size() == 1);
  CHECK(found.left_float[0].name == "b");
  CHECK(found.left_float[0].reason == "because");
}
