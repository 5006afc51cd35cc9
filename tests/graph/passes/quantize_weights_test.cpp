// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/quantize_weights.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::values;
using Codes = std::vector<std::int8_t>;

namespace {

Codes codes(const std::string& op, const Tensor& weight, std::vector<float> scales,
            support::Attributes attributes = {}) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("w", weight)
                    .node(op, "layer", {"x", "w"}, "y", std::move(attributes))
                    .output("y")
                    .build();
  quantize_weights(graph, {{.name = "layer", .scale_w = std::move(scales)}});
  const Tensor& result = *find_initializer(graph, "w");
  REQUIRE(result.type() == ElementType::int8);
  CHECK(result.shape() == weight.shape());
  return values<std::int8_t>(result);
}

}  // namespace

TEST_CASE("One scale serves the whole weight; codes round half to even and saturate") {
  CHECK(codes("MatMul", floats({2, 4}, {0.25F, 0.75F, -0.25F, -1.25F, 63.5F, 64.0F, -64.0F, -100.0F}), {0.5F}) ==
        Codes{0, 2, 0, -2, 127, 127, -128, -128});
}

TEST_CASE("Codes come from a division, not from a product with the reciprocal") {
  const float scale = 0x1.99999ap-4F;
  CHECK(codes("MatMul", floats({1, 2}, {-0x1.84ccccp+3F, -0x1.d00002p+2F}), {scale}) == Codes{-121, -72});
}

TEST_CASE("A convolution has one scale for each first index") {
  CHECK(codes("Conv", floats({2, 1, 1, 2}, {1, 2, 1, 2}), {1.0F, 0.5F}) == Codes{1, 2, 2, 4});
}

TEST_CASE("A transposed convolution with groups has one scale for each real output channel") {
  CHECK(codes("ConvTranspose", floats({4, 2, 1, 1}, {8, 8, 8, 8, 8, 8, 8, 8}), {1, 2, 4, 8},
              {{"group", std::int64_t{2}}}) == Codes{8, 4, 8, 4, 2, 1, 2, 1});
}

TEST_CASE("Layers without weights or without record are left alone") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("w", floats({1, 1}, {1}))
                    .node("AveragePool", "pool", {"x"}, "p")
                    .node("MatMul", "mm", {"p", "w"}, "y")
                    .output("y")
                    .build();
  quantize_weights(graph, {{.name = "pool", .scale_w = {1.0F}}, {.name = "gone", .scale_w = {1.0F}}});
  CHECK(find_initializer(graph, "w")->type() == ElementType::float32);
}

namespace {

/// Two convolutions on one weight, and a tensor that is called as its codes would be.
GraphBuilder sharing() {
  return GraphBuilder()
      .input("x")
      .initializer("w", floats({1, 1, 1, 1}, {6}))
      .node("Conv", "a", {"x", "w"}, "w_quantized")
      .node("Conv", "b", {"w_quantized", "w"}, "y")
      .output("y");
}

}  // namespace

TEST_CASE("Layers that share a weight and its scale share the codes") {
  Graph graph = sharing().build();
  quantize_weights(graph, {{.name = "a", .scale_w = {2.0F}}, {.name = "b", .scale_w = {2.0F}}});
  CHECK(graph.nodes[0].inputs[1] == graph.nodes[1].inputs[1]);
  CHECK(values<std::int8_t>(*find_initializer(graph, "w")) == Codes{3});
}

TEST_CASE("Layers that share a weight with other scales, or with one that stays float, have codes of their own") {
  Graph scales = sharing().build();
  quantize_weights(scales, {{.name = "a", .scale_w = {2.0F}}, {.name = "b", .scale_w = {1.0F}}});
  CHECK(values<std::int8_t>(*scales.value(scales.nodes[0].inputs[1]).initializer) == Codes{3});
  CHECK(values<std::int8_t>(*scales.value(scales.nodes[1].inputs[1]).initializer) == Codes{6});
  CHECK(find_initializer(scales, "w") == nullptr);

  Graph mixed = sharing().build();
  quantize_weights(mixed, {{.name = "b", .scale_w = {2.0F}}});
  CHECK(support::name_of(mixed, mixed.nodes[1].inputs[1]) == "w_quantized_2");
  CHECK(values(*find_initializer(mixed, "w")) == std::vector<float>{6});
  CHECK(support::name_of(mixed, mixed.nodes[0].inputs[1]) == "w");
}

namespace {

/// The codes of a MatMul's weight under a record.
Codes matmul_codes(const Tensor& weight, LayerRecord record) {
  Graph graph =
      GraphBuilder().input("x").initializer("w", weight).node("MatMul", "mm", {"x", "w"}, "y").output("y").build();
  record.name = "mm";
  quantize_weights(graph, {record});
  return values<std::int8_t>(*find_initializer(graph, "w"));
}

}  // namespace

TEST_CASE("Narrower weights saturate at the ends of their width") {
  const Tensor weight = floats({1, 4}, {100, -100, 5, -6.5F});
  CHECK(matmul_codes(weight, {.scale_w = {1.0F}, .num_bits_w = 4}) == Codes{7, -8, 5, -6});
  CHECK(matmul_codes(weight, {.scale_w = {1.0F}, .wts_type = "INT6"}) == Codes{31, -32, 5, -6});
  CHECK(matmul_codes(weight, {.scale_w = {1.0F}, .wts_type = "INT7"}) == Codes{63, -64, 5, -6});
  CHECK(matmul_codes(weight, {.scale_w = {1.0F}, .dst_type = "INT4"}) == Codes{7, -8, 5, -6});
  const auto error = support::error_of([&] { (void)matmul_codes(weight, {.scale_w = {1.0F}, .num_bits_w = 9}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::record_value);
  CHECK(error->where().field == "num_bits_w");
}

TEST_CASE("Weights of a non-uniform layer get the code of the nearest level, of two the lower one") {
  // Levels at -8.5, 0.7 and 6.4.
  const Tensor weight = floats({1, 6}, {-100, -3.9F, -3.8F, 3.55F, 3.6F, 100});
  CHECK(matmul_codes(weight, {.scale_w = {0.1F}, .num_bits_w = 4, .params = {64, -85, 7}}) ==
        Codes{-85, -85, 7, 7, 64, 64});
}

TEST_CASE("Each channel may have levels of its own") {
  std::vector<std::int32_t> params(32, 0);
  for (std::size_t i = 0; i < 16; ++i) params[i] = static_cast<std::int32_t>(i) - 8;
  for (std::size_t i = 16; i < 32; ++i) params[i] = 3 * (static_cast<std::int32_t>(i) - 24);
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("w", floats({2, 1, 1, 2}, {5.2F, 9, 5.2F, 9}))
                    .node("Conv", "conv", {"x", "w"}, "y")
                    .output("y")
                    .build();
  quantize_weights(graph, {{.name = "conv", .scale_w = {1.0F, 0.5F}, .num_bits_w = 4, .params = params}});
  // The second channel has levels at -12, -10.5 ... 10.5, which are 3 codes apart.
  CHECK(values<std::int8_t>(*find_initializer(graph, "w")) == Codes{5, 7, 9, 18});
}

TEST_CASE("NUQ takes the level next to the INT8 code, of two the lower one") {
  const Tensor weight = floats({1, 5}, {-300, -4.6F, 4.4F, 5.6F, 300});
  CHECK(matmul_codes(weight, {.scale_w = {1.0F}, .cluster = {-100, 0, 10}}) == Codes{-100, 0, 0, 10, 10});
}

TEST_CASE("Levels that no list of codes can be are refused") {
  const Tensor weight = floats({1, 2}, {1, 2});
  const auto refused = [&](LayerRecord record) {
    const auto error = support::error_of([&] { (void)matmul_codes(weight, std::move(record)); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::record_value);
    return error->where().field + ": " + error->message();
  };
  const std::vector<std::int32_t> many(17, 1);
  CHECK(refused({.scale_w = {1.0F}, .num_bits_w = 4, .params = many}) ==
        "params: got 17 codes, expected at most 16, or 16 for each of the weight scales");
  CHECK(refused({.scale_w = {1.0F}, .cluster = {-129}}) == "cluster: has a code outside -128 to 127");
  CHECK(refused({.scale_w = {1.0F}, .params = {0, 128}}) == "params: has a code outside -128 to 127");
}

TEST_CASE("Data in the place of a weight are no weight") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("c", floats({1}, {2}))
                    .node("Mul", "mul", {"x", "c"}, "y")
                    .output("y")
                    .build();
  quantize_weights(graph, {{.name = "mul", .scale_w = {1.0F}}});
  CHECK(find_initializer(graph, "c")->type() == ElementType::float32);
}
