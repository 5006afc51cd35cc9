// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/deploy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <amct/exec/interpreter.hpp>
#include <amct/flow/calibrate.hpp>

#include "exec/naive_window.hpp"
#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::NaiveConv;
using support::node_names;
using support::values;
using support::whole_numbers;
using Names = std::vector<std::string>;

namespace {

LayerRecord entry(const std::string& name, float scale_d, std::int32_t offset_d, std::vector<float> scale_w) {
  return {.name = name, .scale_d = scale_d, .offset_d = offset_d, .scale_w = std::move(scale_w), .act_type = "INT8"};
}

/// What the integer network holds in front of a layer: code minus offset, for each element.
Tensor codes_of(const Tensor& x, float scale, std::int32_t offset) {
  Tensor result(ElementType::float32, x.shape());
  const float inverse = 1.0F / scale;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const volatile float product = x.data<float>()[i] * inverse;
    const auto code = std::clamp<std::int64_t>(std::llrint(product) + offset, -128, 127);
    result.data<float>()[i] = static_cast<float>(code - offset);
  }
  return result;
}
Tensor weight_codes(const Tensor& w, const std::vector<float>& scales, const std::vector<std::size_t>& channel_of) {
  Tensor result(ElementType::float32, w.shape());
  for (std::size_t i = 0; i < w.size(); ++i) {
    const volatile float quotient = w.data<float>()[i] / scales[scales.size() == 1 ? 0 : channel_of[i]];
    result.data<float>()[i] = static_cast<float>(std::clamp<std::int64_t>(std::llrint(quotient), -128, 127));
  }
  return result;
}
Tensor bias_codes(const Tensor& b, float scale_d, const std::vector<float>& scale_w) {
  Tensor result(ElementType::float32, b.shape());
  for (std::size_t i = 0; i < b.size(); ++i) {
    const volatile float scale = scale_d * scale_w[scale_w.size() == 1 ? 0 : i];
    const volatile float quotient = b.data<float>()[i] / scale;
    result.data<float>()[i] = static_cast<float>(std::llrint(quotient));
  }
  return result;
}
/// Integer accumulators times the accumulator scale of their channel (axis 1).
std::vector<float> dequantized(const Tensor& accumulators, float scale_d, const std::vector<float>& scale_w) {
  std::vector<float> result;
  const auto channels = static_cast<std::size_t>(accumulators.shape()[1]);
  const std::size_t plane = accumulators.size() / static_cast<std::size_t>(accumulators.shape()[0]) / channels;
  for (std::size_t i = 0; i < accumulators.size(); ++i) {
    const volatile float scale = scale_d * scale_w[scale_w.size() == 1 ? 0 : i / plane % channels];
    result.push_back(accumulators.data<float>()[i] * scale);
  }
  return result;
}
/// Values that are no multiples of a scale, some outside the code range.
Tensor reals(const Shape& shape, std::uint32_t seed, float factor) {
  Tensor t = whole_numbers(shape, seed);
  const Tensor fine = whole_numbers(shape, seed + 100);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data<float>()[i] = factor * (t.data<float>()[i] + 0.113F * fine.data<float>()[i]);
  return t;
}
std::vector<float> run_fake(const graph::Graph& graph, const Record& record, const Tensor& x) {
  const auto fake = flow::fake_quant(flow::deploy(graph, record));
  return values(exec::Interpreter(fake, support::ops()).run({x}).at(0));
}

}  // namespace

TEST_CASE("A deployed net has quant nodes, integer weights and biases, and dequant nodes") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 1, 2, 2})
                         .initializer("w", floats({2, 1, 1, 1}, {1, -1}))
                         .initializer("b", floats({2}, {1, 2}))
                         .initializer("w2", floats({2, 2, 1, 1}, {1, 2, 3, 4}))
                         .node("Conv", "conv", {"x", "w", "b"}, "c")
                         .node("Relu", "relu", {"c"}, "r")
                         .node("Conv", "head", {"r", "w2"}, "y")
                         .output("y")
                         .build();
  const Record record{entry("conv", 0.5F, 1, {0.25F, 0.5F}), entry("head", 1.0F, 2, {1.0F})};
  const auto deployed = flow::deploy(graph, record);
  CHECK(node_names(deployed) ==
        Names{"conv.quant", "conv", "conv.dequant", "relu", "head.quant", "head", "head.dequant"});
  CHECK(values<std::int8_t>(*find_initializer(deployed, "w")) == std::vector<std::int8_t>{4, -2});
  CHECK(values<std::int32_t>(*find_initializer(deployed, "b")) == std::vector<std::int32_t>{8, 8});
  CHECK(support::name_of(deployed, deployed.outputs[0]) == "y");
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1, -1});

  const auto fake = flow::fake_quant(deployed);
  CHECK(deployed.nodes[0].op_type == "AscendQuant");
  for (const auto& node : fake.nodes) CHECK_FALSE(support::contains(node.op_type, "Ascend"));
  CHECK(support::name_of(fake, fake.outputs[0]) == "y");
}

TEST_CASE("A bias that does not fit int32 is refused with the name of its layer") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 1, 1, 1})
                         .initializer("w", floats({1, 1, 1, 1}, {1e-7F}))
                         .initializer("b", floats({1}, {5}))
                         .node("Conv", "conv", {"x", "w", "b"}, "y")
                         .output("y")
                         .build();
  const auto error = support::error_of([&] { (void)flow::deploy(graph, {entry("conv", 0.5F, 0, {7.874e-10F})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::numeric);
  CHECK(error->where().layer == "conv");
}

TEST_CASE("A fake-quantized convolution computes what integers would, pads and groups included") {
  for (const std::int64_t groups : {1, 2}) {
    const NaiveConv geometry{
        .stride = {1, 2}, .dilation = {1, 1}, .pad_begin = {1, 0}, .pad_end = {1, 1}, .groups = groups};
    const Tensor x = reals({2, 4, 5, 6}, 1, 0.9F);
    const Tensor w = reals({4, 4 / groups, 3, 2}, 2, 0.4F);
    const Tensor b = reals({4}, 3, 1.7F);
    const std::vector<float> scale_w{0.013F, 0.02F, 0.011F, 0.017F};
    const auto graph = GraphBuilder()
                           .input("x", x.shape())
                           .initializer("w", w)
                           .initializer("b", b)
                           .node("Conv", "conv", {"x", "w", "b"}, "y", geometry.attributes())
                           .output("y")
                           .build();
    std::vector<std::size_t> channel_of(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) channel_of[i] = i / (w.size() / 4);
    const Tensor codes = weight_codes(w, scale_w, channel_of);
    const Tensor bias = bias_codes(b, 0.021F, scale_w);
    const Tensor accumulators = support::naive_conv(codes_of(x, 0.021F, 17), codes, &bias, geometry);
    CHECK(run_fake(graph, {entry("conv", 0.021F, 17, scale_w)}, x) == dequantized(accumulators, 0.021F, scale_w));
  }
}

TEST_CASE("A fake-quantized transposed convolution with groups computes what integers would") {
  const NaiveConv geometry{.stride = {2}, .dilation = {1}, .pad_begin = {1}, .pad_end = {0}, .groups = 2};
  const Tensor x = reals({1, 4, 5}, 1, 0.9F);
  const Tensor w = reals({4, 2, 3}, 2, 0.4F);
  const Tensor b = reals({4}, 3, 1.7F);
  const std::vector<float> scale_w{0.013F, 0.02F, 0.011F, 0.017F};
  const auto graph = GraphBuilder()
                         .input("x", x.shape())
                         .initializer("w", w)
                         .initializer("b", b)
                         .node("ConvTranspose", "up", {"x", "w", "b"}, "y", geometry.attributes())
                         .output("y")
                         .build();
  std::vector<std::size_t> channel_of(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) channel_of[i] = i / 12 * 2 + i / 3 % 2;  // group, then channel in it
  const Tensor codes = weight_codes(w, scale_w, channel_of);
  const Tensor bias = bias_codes(b, 0.021F, scale_w);
  const Tensor accumulators = support::naive_conv_transpose(codes_of(x, 0.021F, -90), codes, &bias, geometry);
  CHECK(run_fake(graph, {entry("up", 0.021F, -90, scale_w)}, x) == dequantized(accumulators, 0.021F, scale_w));
}

TEST_CASE("Fake-quantized Gemm and MatMul compute what integers would") {
  const Tensor x = reals({3, 5}, 1, 0.9F);
  const Tensor w = reals({5, 4}, 2, 0.4F);
  const Tensor b = reals({4}, 3, 1.7F);
  for (const bool has_bias : {true, false}) {
    GraphBuilder builder;
    builder.input("x", x.shape()).initializer("w", w).output("y");
    if (has_bias) {
      builder.initializer("b", b).node("Gemm", "fc", {"x", "w", "b"}, "y");
    } else {
      builder.node("MatMul", "fc", {"x", "w"}, "y");
    }
    const Tensor xq = codes_of(x, 0.021F, 17);
    const Tensor wq = weight_codes(w, {0.013F}, {});
    const Tensor bq = bias_codes(b, 0.021F, {0.013F});
    Tensor accumulators(ElementType::float32, Shape{3, 4});
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        std::int64_t sum = has_bias ? static_cast<std::int64_t>(bq.data<float>()[j]) : 0;
        for (std::size_t k = 0; k < 5; ++k) {
          sum += static_cast<std::int64_t>(xq.data<float>()[i * 5 + k]) *
                 static_cast<std::int64_t>(wq.data<float>()[k * 4 + j]);
        }
        accumulators.data<float>()[i * 4 + j] = static_cast<float>(sum);
      }
    }
    CHECK(run_fake(builder.build(), {entry("fc", 0.021F, 17, {0.013F})}, x) ==
          dequantized(accumulators, 0.021F, {0.013F}));
  }
}

TEST_CASE("A fake-quantized average pool behind a pad averages codes whose border means zero") {
  const auto graph =
      GraphBuilder()
          .input("x", {1, 1, 1, 3})
          .initializer("pads", int64s({0, 0, 0, 1, 0, 0, 0, 0}))
          .node("Pad", "pad", {"x", "pads"}, "p")
          .node("AveragePool", "pool", {"p"}, "y", {{"kernel_shape", Ints{1, 2}}, {"strides", Ints{1, 2}}})
          .output("y")
          .build();
  // Codes minus offset at scale 0.5: 2, 3 (2.6), -4; windows {0, 2} and {3, -4}.
  CHECK(run_fake(graph, {entry("pool", 0.5F, 9, {1.0F})}, floats({1, 1, 1, 3}, {1, 1.3F, -2})) ==
        std::vector<float>{0.5F, -0.25F});
}

TEST_CASE("Activations beyond the code range saturate") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 1})
                         .initializer("w", floats({1, 1}, {1}))
                         .node("MatMul", "mm", {"x", "w"}, "y")
                         .output("y")
                         .build();
  const Record record{entry("mm", 0.5F, 100, {1.0F})};
  CHECK(run_fake(graph, record, floats({1, 1}, {1000})) == std::vector<float>{13.5F});     // (127 - 100) * 0.5
  CHECK(run_fake(graph, record, floats({1, 1}, {-1000})) == std::vector<float>{-114.0F});  // (-128 - 100) * 0.5
}

TEST_CASE("A calibrated net stays within the quantization error of the float net") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2, 4, 4})
                         .initializer("w", reals({4, 2, 3, 3}, 5, 0.1F))
                         .initializer("gamma", floats({4}, {1.2F, 0.8F, 1, -0.9F}))
                         .initializer("beta", floats({4}, {0.1F, -0.2F, 0.3F, 0}))
                         .initializer("mean", floats({4}, {0.1F, 0, -0.3F, 0.2F}))
                         .initializer("var", floats({4}, {1.3F, 0.7F, 2, 0.4F}))
                         .initializer("fw", reals({3, 16}, 6, 0.05F))
                         .initializer("fb", floats({3}, {0.1F, -0.2F, 0.05F}))
                         .node("Conv", "conv", {"x", "w"}, "c")
                         .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "var"}, "n")
                         .node("Relu", "relu", {"n"}, "r")
                         .node("Flatten", "flat", {"r"}, "f")
                         .node("Gemm", "fc", {"f", "fw", "fb"}, "y", {{"transB", std::int64_t{1}}})
                         .output("y")
                         .build();
  const auto prepared = flow::prepare(graph, {.batch_num = 2}, support::ops());
  const Tensor x0 = reals({1, 2, 4, 4}, 7, 0.5F);
  const Tensor x1 = reals({1, 2, 4, 4}, 8, 0.5F);
  flow::MemoryBatches batches({{x0}, {x1}});
  const Record record = flow::calibrate(prepared, support::ops(), batches);
  for (const Tensor& x : {x0, x1}) {
    const auto expected = values(exec::Interpreter(graph, support::ops()).run({x})[0]);
    const auto actual = run_fake(prepared.graph, record, x);
    float largest = 0.0F;
    for (const float y : expected) largest = std::max(largest, std::fabs(y));
    bool equal = true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::fabs(actual[i] - expected[i]) < 0.03F * largest);
      equal = equal && actual[i] == expected[i];
    }
    CHECK_FALSE(equal);
  }
}
