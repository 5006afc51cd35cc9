// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/deploy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <amct/core/requantize.hpp>
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

// What only AMCT's hotwheels flavour has.

namespace {

ActivationRecord input(std::int32_t index, float scale, std::int32_t offset, int bits = 8) {
  return {.scale_d = scale, .offset_d = offset, .index = index, .num_bits_d = bits};
}
LayerRecord data(const std::string& name, std::vector<ActivationRecord> inputs) {
  return {.name = name, .record_d = std::move(inputs)};
}
LayerRecord layer(const std::string& name, const ActivationRecord& in, std::vector<float> scale_w) {
  return {.name = name, .record_d = {in}, .scale_w = std::move(scale_w)};
}
/// The numbers that codes of some width stand for.
std::vector<float> represented(const Tensor& x, float scale, std::int32_t offset, int bits = 8) {
  std::vector<float> result;
  const float inverse = 1.0F / scale;
  const CodeRange range{bits};
  for (const float value : values(x)) {
    const volatile float product = value * inverse;
    const auto code = std::clamp<std::int64_t>(std::llrint(product) + offset, range.min(), range.max());
    const volatile float real = static_cast<float>(code - offset) * scale;
    result.push_back(float{real});
  }
  return result;
}
const flow::DeployOptions kHotwheels = flow::deploy_options(rules_of(Flavour::hotwheels));

std::vector<float> run_deployed(const graph::Graph& deployed, const std::vector<Tensor>& inputs) {
  return values(exec::Interpreter(flow::fake_quant(deployed), support::ops()).run(inputs).at(0));
}
std::size_t count(const graph::Graph& graph, const std::string& op_type) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) { return node.op_type == op_type; }));
}

}  // namespace

TEST_CASE("An Add of two quantized inputs adds the numbers that their codes stand for") {
  const auto graph =
      GraphBuilder().input("p", {2, 20}).input("q", {2, 20}).node("Add", "add", {"p", "q"}, "y").output("y").build();
  const Tensor p = reals({2, 20}, 1, 0.9F);
  const Tensor q = reals({2, 20}, 2, 40.0F);
  const auto deployed = flow::deploy(graph, {data("add", {input(0, 0.021F, 17), input(1, 0.013F, -300, 12)})});
  const auto left = represented(p, 0.021F, 17);
  const auto right = represented(q, 0.013F, -300, 12);
  std::vector<float> expected;
  for (std::size_t i = 0; i < left.size(); ++i) expected.push_back(left[i] + right[i]);
  CHECK(run_deployed(deployed, {p, q}) == expected);
}

TEST_CASE("A product of two quantized data is one of integers, scaled once") {
  const auto graph =
      GraphBuilder().input("p", {3, 5}).input("q", {5, 4}).node("MatMul", "mm", {"p", "q"}, "y").output("y").build();
  const Tensor p = reals({3, 5}, 1, 0.9F);
  const Tensor q = reals({5, 4}, 2, 0.4F);
  const auto deployed = flow::deploy(graph, {data("mm", {input(0, 0.0021F, 0, 10), input(1, 0.013F, 0)})});
  CHECK(node_names(deployed) == Names{"mm.quant", "mm.quant.1", "mm", "mm.dequant"});
  const volatile float scale = 0.0021F * 0.013F;
  std::vector<float> expected;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < 5; ++k) {
        const volatile float a = p.data<float>()[i * 5 + k] * (1.0F / 0.0021F);
        const volatile float b = q.data<float>()[k * 4 + j] * (1.0F / 0.013F);
        sum +=
            std::clamp<std::int64_t>(std::llrint(a), -512, 511) * std::clamp<std::int64_t>(std::llrint(b), -128, 127);
      }
      expected.push_back(static_cast<float>(sum) * scale);
    }
  }
  CHECK(run_deployed(deployed, {p, q}) == expected);
}

TEST_CASE("A layer of several nodes is quantized where its data come in") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 30})
                         .node("Sigmoid", "gate", {"x"}, "s")
                         .node("Mul", "silu", {"x", "s"}, "y")
                         .output("y")
                         .build();
  const auto deployed = flow::deploy(graph, {data("silu", {input(0, 0.05F, -20)})}, kHotwheels);
  CHECK(node_names(deployed) == Names{"silu.quant", "silu.anti_quant", "gate", "silu"});
  const Tensor x = reals({1, 30}, 3, 1.1F);
  const auto seen = represented(x, 0.05F, -20);
  const Tensor floats_seen = floats({1, 30}, seen);
  CHECK(run_deployed(deployed, {x}) == values(exec::Interpreter(graph, support::ops()).run({floats_seen}).at(0)));
}

TEST_CASE("Merging dequantization and quantization, and moving codes, changes no bit of the results") {
  // Two branches that meet in a Concat, with a Relu or a Clip behind each convolution, pools between, a Transpose
  // behind.
  const auto graph = GraphBuilder()
                         .input("x", {1, 3, 8, 8})
                         .initializer("w1", reals({4, 3, 3, 3}, 1, 0.07F))
                         .initializer("b1", reals({4}, 2, 0.3F))
                         .initializer("w2", reals({4, 3, 1, 1}, 3, 0.2F))
                         .initializer("w3", reals({5, 8, 1, 1}, 4, 0.1F))
                         .initializer("w4", reals({3, 2}, 5, 0.1F))
                         .initializer("low", floats({}, {-0.7F}))
                         .initializer("high", floats({}, {1.3F}))
                         .node("Conv", "c1", {"x", "w1", "b1"}, "v1", {{"pads", Ints{1, 1, 1, 1}}})
                         .node("Relu", "r1", {"v1"}, "u1")
                         .node("MaxPool", "m1", {"u1"}, "p1",
                               {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}})
                         .node("Conv", "c2", {"x", "w2"}, "v2", {{"strides", Ints{2, 2}}})
                         .node("Clip", "r2", {"v2", "low", "high"}, "u2")
                         .node("Concat", "cat", {"p1", "u2"}, "j", {{"axis", std::int64_t{1}}})
                         .node("Conv", "c3", {"j", "w3"}, "v3")
                         .node("Transpose", "t", {"v3"}, "k", {{"perm", Ints{0, 2, 3, 1}}})
                         .node("Slice", "s", {"k", "from", "to", "axis"}, "l")
                         .initializer("from", int64s({2}))
                         .initializer("to", int64s({5}))
                         .initializer("axis", int64s({3}))
                         .node("MatMul", "fc", {"l", "w4"}, "y")
                         .output("y")
                         .build();
  const Record record{layer("c1", input(0, 0.021F, 17), {0.013F, 0.02F, 0.011F, 0.017F}),
                      data("m1", {input(0, 0.011F, -90)}),
                      layer("c2", input(0, 0.021F, 17), {0.015F}),
                      data("cat", {input(0, 0.011F, -90), input(1, 0.011F, -90)}),
                      layer("c3", input(0, 0.011F, -90), {0.01F}),
                      layer("fc", input(0, 0.0007F, 100, 12), {0.02F})};
  const auto plain = flow::deploy(graph, record);
  CHECK(count(plain, "AscendReQuant") == 0);
  CHECK(count(plain, "AscendAntiQuant") == 3);
  const auto merged = flow::deploy(graph, record, kHotwheels);
  CHECK(node_names(merged) == Names{"c1.quant", "c1", "c1.requant", "m1", "c2", "c2.requant", "cat", "c3", "c3.requant",
                                    "t", "s", "fc", "fc.dequant"});
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const Tensor x = reals({1, 3, 8, 8}, seed, 0.6F);
    CHECK(run_deployed(merged, {x}) == run_deployed(plain, {x}));
  }
}

namespace {

/// A network of random layers on data [1, 4, 6, 6], and factors for most of them.
class RandomNet {
 public:
  explicit RandomNet(std::uint32_t seed) : random_(seed) {
    builder_.input("x", {1, 4, 6, 6}).initializer("low", floats({}, {-0.4F})).initializer("high", floats({}, {0.9F}));
    builder_.initializer("halves", int64s({2, 2}));
    for (int i = 0; i < 14; ++i) add("n" + std::to_string(i));
    builder_.output(values_.back());
  }
  [[nodiscard]] graph::Graph graph() const { return builder_.build(); }
  [[nodiscard]] const Record& record() const { return record_; }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint32_t>(end)); }
  /// Most often one of the last values.
  const std::string& value() {
    const int count = static_cast<int>(values_.size());
    return values_[static_cast<std::size_t>(below(4) == 0 ? below(count) : std::max(0, count - 1 - below(2)))];
  }
  /// Most often the same factors, so that codes can move.
  void quantize(const std::string& name, std::int32_t inputs, std::vector<float> scale_w = {}) {
    LayerRecord entry{.name = name, .scale_w = std::move(scale_w)};
    for (std::int32_t i = 0; i < inputs; ++i) {
      entry.record_d.push_back(below(4) != 0 ? input(i, 0.02F, -128) : input(i, 0.013F, 5, below(2) == 0 ? 12 : 8));
    }
    record_.push_back(std::move(entry));
  }
  void add(const std::string& name) {
    const std::string from = value();
    const std::string to = name + "_result";
    switch (below(8)) {
      case 0: builder_.node("Relu", name, {from}, to); break;
      case 1: builder_.node("Clip", name, {from, "low", "high"}, to); break;
      case 2:
        builder_.node("MaxPool", name, {from}, to, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
        if (below(2) == 0) quantize(name, 1);
        break;
      case 3:
        builder_.node("Split", name + "_split", {from, "halves"}, Names{to + "_a", to + "_b"},
                      {{"axis", std::int64_t{1}}});
        builder_.node("Concat", name, {to + "_b", to + "_a"}, to, {{"axis", std::int64_t{1}}});
        if (below(2) == 0) quantize(name, 2);
        break;
      case 4:
        builder_.node("Add", name, {from, value()}, to);
        if (below(3) != 0) quantize(name, 2);
        break;
      default:
        builder_.initializer(name + "_w", reals({4, 4, 1, 1}, static_cast<std::uint32_t>(random_()), 0.05F));
        builder_.node("Conv", name, {from, name + "_w"}, to);
        if (below(8) != 0) quantize(name, 1, {0.01F});
        break;
    }
    values_.push_back(to);
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  Record record_;
  Names values_{"x"};
};

}  // namespace

TEST_CASE("Random networks compute the same with ReQuant and without") {
  std::size_t merged_nodes = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const RandomNet net(seed);
    const auto merged = flow::deploy(net.graph(), net.record(), {.merge_requant = true});
    merged_nodes += count(merged, "AscendReQuant");
    Names names = node_names(merged);
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    const Tensor x = reals({1, 4, 6, 6}, seed + 1, 0.4F);
    CHECK(run_deployed(merged, {x}) == run_deployed(flow::deploy(net.graph(), net.record()), {x}));
  }
  CHECK(merged_nodes > 150);
}

TEST_CASE("A ReQuant computes by the contract that it names") {
  const Tensor x = reals({40, 3}, 1, 0.9F);
  const Tensor w = reals({3, 1}, 2, 0.4F);
  const auto graph = GraphBuilder()
                         .input("x", x.shape())
                         .initializer("w", w)
                         .initializer("v", floats({1, 1}, {1}))
                         .node("MatMul", "a", {"x", "w"}, "h")
                         .node("MatMul", "b", {"h", "v"}, "y")
                         .output("y")
                         .build();
  const Record record{layer("a", input(0, 0.021F, 17), {0.013F}), layer("b", input(0, 0.03F, 5), {1.0F})};
  const volatile float dequant_scale = 0.021F * 0.013F;
  const volatile float product = dequant_scale * (1.0F / 0.03F);
  const Tensor xq = codes_of(x, 0.021F, 17);
  const Tensor wq = weight_codes(w, {0.013F}, {});
  for (const auto rule : graph::kAllRequantRules) {
    std::vector<float> expected;
    for (std::size_t i = 0; i < 40; ++i) {
      std::int32_t acc = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        acc += static_cast<std::int32_t>(xq.data<float>()[i * 3 + k] * wq.data<float>()[k]);
      }
      const std::int32_t code = rule == graph::RequantRule::two_products
                                    ? RequantizeByScales<>::code(acc, {dequant_scale, 0.03F}, 5, Int8::range)
                                : rule == graph::RequantRule::one_product
                                    ? RequantizeByMultiplier<>::code(acc, {product}, 5, Int8::range)
                                    : RequantizeByMultiplier<AddThenRound>::code(acc, {product}, 5, Int8::range);
      expected.push_back(static_cast<float>(code - 5) * 0.03F);
    }
    CHECK(run_deployed(flow::deploy(graph, record, {.merge_requant = true, .requant_rule = rule}), {x}) == expected);
  }
}

TEST_CASE("shift_bit takes low bits of the accumulator and saturates at sixteen") {
  const Tensor x = reals({40, 3}, 1, 9.0F);
  const auto graph = GraphBuilder()
                         .input("x", x.shape())
                         .initializer("w", floats({3, 2}, {1, 127, 2, -127, -3, 100}))
                         .node("MatMul", "mm", {"x", "w"}, "y")
                         .output("y")
                         .build();
  LayerRecord record = layer("mm", input(0, 0.01F, 0, 12), {1.0F});
  record.shift_bit = {3};
  const Tensor w = floats({3, 2}, {1, 127, 2, -127, -3, 100});
  std::vector<float> expected;
  bool saturated = false;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      std::int32_t acc = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const volatile float code = x.data<float>()[i * 3 + k] * (1.0F / 0.01F);
        acc += static_cast<std::int32_t>(std::clamp<std::int64_t>(std::llrint(code), -2048, 2047)) *
               static_cast<std::int32_t>(w.data<float>()[k * 2 + j]);
      }
      saturated = saturated || acc >= (32768 << 3);
      expected.push_back(dequantize_shifted(acc, 0.01F, 3));
    }
  }
  CHECK(saturated);
  CHECK(run_deployed(flow::deploy(graph, {record}), {x}) == expected);
}

TEST_CASE("Non-uniform weights compute as integers at the scale of the layer") {
  const Tensor x = reals({4, 6}, 1, 0.9F);
  const Tensor w = reals({6, 3}, 2, 0.2F);
  const auto graph = GraphBuilder()
                         .input("x", x.shape())
                         .initializer("w", w)
                         .node("MatMul", "mm", {"x", "w"}, "y")
                         .output("y")
                         .build();
  LayerRecord record = layer("mm", input(0, 0.021F, 17), {0.009F});
  record.num_bits_w = 4;
  record.params = {-112, -85, -59, -45, -33, -21, -13, -6, 0, 5, 12, 22, 35, 51, 77, 127};
  const Tensor xq = codes_of(x, 0.021F, 17);
  const volatile float scale = 0.021F * 0.009F;
  std::vector<float> expected;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < 6; ++k) {
        std::int32_t nearest = record.params[0];
        const float weight = w.data<float>()[k * 3 + j];
        for (const std::int32_t code : record.params) {
          const auto distance = [&](std::int32_t c) { return std::fabs(weight - static_cast<float>(c) * 0.009F); };
          if (distance(code) < distance(nearest)) nearest = code;
        }
        sum += static_cast<std::int64_t>(xq.data<float>()[i * 6 + k]) * nearest;
      }
      expected.push_back(static_cast<float>(sum) * scale);
    }
  }
  CHECK(run_deployed(flow::deploy(graph, {record}), {x}) == expected);
}

TEST_CASE("Recurrent layers cannot be deployed, and are named") {
  for (const std::string op_type : {"LSTM", "GRU"}) {
    CAPTURE(op_type);
    const std::int64_t gates = op_type == "LSTM" ? 4 : 3;
    const auto graph = GraphBuilder()
                           .input("x", {5, 1, 2})
                           .initializer("w", whole_numbers({1, gates, 2}, 1))
                           .initializer("r", whole_numbers({1, gates, 1}, 2))
                           .node(op_type, "rnn", {"x", "w", "r"}, "y", {{"hidden_size", std::int64_t{1}}})
                           .output("y")
                           .build();
    const auto error = support::error_of([&] { (void)flow::deploy(graph, {entry("rnn", 0.5F, 0, {1.0F})}); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_unsupported);
    CHECK(error->where().layer == "rnn");
    CHECK(error->where().field == op_type);
  }
}
