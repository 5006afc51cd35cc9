// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/calibrate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <amct/core/half.hpp>
#include <amct/core/parallel.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/simd/arch.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::values;
using Names = std::vector<std::string>;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Conv with two channels, BatchNormalization that does nothing but shift, Relu, Gemm.
GraphBuilder net() {
  return GraphBuilder()
      .input("x", {1, 1, 1, 2})
      .initializer("w", floats({2, 1, 1, 1}, {0.5F, -2.0F}))
      .initializer("one", floats({2}, {1, 1}))
      .initializer("beta", floats({2}, {0.25F, 0}))
      .initializer("zero", floats({2}, {0, 0}))
      .initializer("fw", floats({4, 1}, {1, -0.5F, 0.25F, 0.125F}))
      .initializer("fb", floats({1}, {1}))
      .node("Conv", "conv", {"x", "w"}, "c")
      .node("BatchNormalization", "bn", {"c", "one", "beta", "zero", "one"}, "n", {{"epsilon", 0.0F}})
      .node("Relu", "relu", {"n"}, "r")
      .node("Flatten", "flat", {"r"}, "f")
      .node("Gemm", "fc", {"f", "fw", "fb"}, "y")
      .output("y");
}

/// A net whose middle operator can make what is not finite: MatMul, `op`, Relu, MatMul.
GraphBuilder fragile(const std::string& op, const Names& inputs) {
  return GraphBuilder()
      .input("x", {1, 1})
      .initializer("w1", floats({1, 1}, {1}))
      .initializer("w2", floats({1, 1}, {1}))
      .node("MatMul", "first", {"x", "w1"}, "a")
      .node(op, "middle", inputs, "b")
      .node("Relu", "relu", {"b"}, "c")
      .node("MatMul", "last", {"c", "w2"}, "y")
      .output("y");
}

Record calibrate(const graph::Graph& graph, const std::vector<Tensor>& batches, EasyConfig config = {},
                 const ProgressSink& sink = {}) {
  if (!config.batch_num) config.batch_num = static_cast<std::uint32_t>(std::max<std::size_t>(1, batches.size()));
  const auto prepared = flow::prepare(graph, config, support::ops());
  std::vector<std::vector<Tensor>> all;
  for (const auto& batch : batches) all.push_back({batch});
  flow::MemoryBatches source(std::move(all));
  return flow::calibrate(prepared, support::ops(), source, sink);
}
Tensor batch(float a, float b) { return floats({1, 1, 1, 2}, {a, b}); }
Tensor one(float a) { return floats({1, 1}, {a}); }

Affine observed(const std::vector<std::vector<float>>& batches, Symmetry symmetry = Symmetry::asymmetric) {
  Ifmr observer({.symmetry = symmetry, .batch_num = batches.size()});
  for (const auto& data : batches) REQUIRE(observer.observe(data).ok());
  return observer.compute(Int8::range);
}

}  // namespace

TEST_CASE("The record has one entry a layer in model order with all fields of the PyTorch flavour") {
  const Record record = calibrate(net().build(), {batch(1, -1)});
  REQUIRE(record.size() == 2);
  const LayerRecord& conv = record[0];
  CHECK(conv.name == "conv");
  CHECK(conv.scale_w == std::vector<float>{0.5F / 127.0F, 2.0F / 127.0F});
  CHECK(conv.offset_w == std::vector<std::int32_t>{0, 0});
  CHECK(conv.act_type == "INT8");
  CHECK(conv.wts_type == "INT8");
  CHECK_FALSE(conv.dst_type);
  CHECK_FALSE(conv.skip_fusion);
  CHECK(conv.shift_bit.empty());
  CHECK(conv.tensor_balance_factor.empty());
  const LayerRecord& fc = record[1];
  CHECK(fc.name == "fc");
  CHECK(fc.scale_w == std::vector<float>{1.0F / 127.0F});
  CHECK(fc.offset_w == std::vector<std::int32_t>{0});
  REQUIRE(fc.scale_d);
  REQUIRE(fc.offset_d);
}

TEST_CASE("A layer's input is observed over all batches together") {
  const Record record = calibrate(net().build(), {batch(1, -1), batch(3, 0.5F), batch(0.25F, -2)});
  const Affine expected = observed({{1, -1}, {3, 0.5F}, {0.25F, -2}});
  CHECK(*record[0].scale_d == expected.scale);
  CHECK(*record[0].offset_d == expected.offset);
  const Affine first = observed({{1, -1}});
  CHECK(*record[0].scale_d != first.scale);
}

TEST_CASE("Batches are taken in order, and no more than asked for") {
  struct Source {
    std::vector<std::size_t> loads;
    [[nodiscard]] std::size_t size() const { return 5; }
    [[nodiscard]] std::vector<Tensor> load(std::size_t index) {
      loads.push_back(index);
      return {batch(static_cast<float>(index) + 1, -1)};
    }
  } source;
  const auto prepared = flow::prepare(net().build(), {.batch_num = 3}, support::ops());
  const Record record = flow::calibrate(prepared, support::ops(), source);
  CHECK(source.loads == std::vector<std::size_t>{0, 1, 2});
  CHECK(*record[0].scale_d == observed({{1, -1}, {2, -1}, {3, -1}}).scale);
}

TEST_CASE("Batches of different shapes are observed like one list of values") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .initializer("w", floats({2, 1}, {1, 1}))
                         .node("MatMul", "mm", {"x", "w"}, "y")
                         .output("y")
                         .build();
  const Record apart = calibrate(graph, {floats({1, 2}, {1, 2}), floats({2, 2}, {3, -4, 5, 6})});
  const Record together = calibrate(graph, {floats({3, 2}, {1, 2, 3, -4, 5, 6})});
  CHECK(*apart[0].scale_d == *together[0].scale_d);
  CHECK(*apart[0].offset_d == *together[0].offset_d);
}

TEST_CASE("Later layers see activations made with quantized weights and the folded normalization") {
  // One weight a channel, each 127 steps of its scale: fake-quantized weights are exact, and so is what fc sees.
  const Record record = calibrate(net().build(), {batch(1, -1)});
  const Affine expected = observed({{0.75F, 0, 0, 2}});
  CHECK(*record[1].scale_d == expected.scale);
  CHECK(*record[1].offset_d == expected.offset);
}

TEST_CASE("Weights of a convolution are quantized while calibrating, those of a transposed one are not") {
  // -0.003 quantizes to 0 beside 1: the minimum that the second layer sees, and with it the offset, tells which.
  const auto conv = GraphBuilder()
                        .input("x", {1, 1, 1})
                        .initializer("w", floats({2, 1, 1}, {-0.003F, 1}))
                        .initializer("w2", floats({2, 1}, {1, 1}))
                        .node("Conv", "conv", {"x", "w"}, "a")
                        .node("Flatten", "flat", {"a"}, "b")
                        .node("MatMul", "mm", {"b", "w2"}, "y")
                        .output("y")
                        .build();
  EasyConfig config;
  config.common.weights.emplace().channel_wise = false;
  CHECK(*calibrate(conv, {floats({1, 1, 1}, {1})}, config)[1].offset_d == -128);

  const auto transposed = GraphBuilder()
                              .input("x", {1, 1, 1})
                              .initializer("w", floats({1, 1, 2}, {-0.003F, 1}))
                              .initializer("w2", floats({2, 1}, {1, 1}))
                              .node("ConvTranspose", "up", {"x", "w"}, "a")
                              .node("Flatten", "flat", {"a"}, "b")
                              .node("MatMul", "mm", {"b", "w2"}, "y")
                              .output("y")
                              .build();
  const Record record = calibrate(transposed, {floats({1, 1, 1}, {1})});
  CHECK(*record[1].offset_d == -127);
  CHECK(record[0].scale_w == std::vector<float>{1.0F / 127.0F});
}

TEST_CASE("Calibration leaves the prepared weights as they are") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .initializer("w", floats({2, 1}, {1, 0.003F}))
                         .node("MatMul", "mm", {"x", "w"}, "y")
                         .output("y")
                         .build();
  const auto prepared = flow::prepare(graph, {}, support::ops());
  flow::MemoryBatches source({{floats({1, 2}, {1, 1})}});
  (void)flow::calibrate(prepared, support::ops(), source);
  CHECK(values(*support::find_initializer(prepared.graph, "w")) == std::vector<float>{1, 0.003F});
}

TEST_CASE("Activations that are all zero get scale 1 and the smallest offset") {
  const auto graph = fragile("Neg", {"a"}).build();
  const Record record = calibrate(graph, {one(1), one(2)});  // Relu(-x) is 0
  CHECK(*record[1].scale_d == 1.0F);
  CHECK(*record[1].offset_d == -128);

  EasyConfig symmetric;
  symmetric.activation_offset = false;
  const Record other = calibrate(graph, {one(1), one(2)}, symmetric);
  CHECK(*other[1].scale_d == 1.0F);
  CHECK(*other[1].offset_d == 0);
}

TEST_CASE("A dead output channel keeps scale 1") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2, 1, 1})
                         .initializer("w", floats({3, 2, 1, 1}, {0.127F, 0.001F, 0, 0, 0, -2}))
                         .node("Conv", "conv", {"x", "w"}, "y")
                         .output("y")
                         .build();
  const Record record = calibrate(graph, {floats({1, 2, 1, 1}, {1, 2})});
  CHECK(record[0].scale_w == std::vector<float>{0.127F / 127.0F, 1.0F, 2.0F / 128.0F});
}

TEST_CASE("An average pool has one weight scale of 1 and no weight type") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .node("AveragePool", "pool", {"x"}, "y", {{"kernel_shape", Ints{1, 2}}})
                         .output("y")
                         .build();
  const Record record = calibrate(graph, {batch(1, 255)});
  CHECK(record[0].scale_w == std::vector<float>{1});
  CHECK(record[0].offset_w == std::vector<std::int32_t>{0});
  CHECK_FALSE(record[0].wts_type);
  CHECK(record[0].act_type == "INT8");
  CHECK(*record[0].scale_d == observed({{1, 255}}).scale);
}

TEST_CASE("An average pool behind a zero pad is observed before the pad") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .initializer("pads", int64s({0, 0, 0, 1, 0, 0, 0, 0}))
                         .node("Pad", "pad", {"x", "pads"}, "p")
                         .node("AveragePool", "pool", {"p"}, "y", {{"kernel_shape", Ints{1, 2}}})
                         .output("y")
                         .build();
  const auto error = error_of([&] { (void)calibrate(graph, {batch(kNan, 1)}); });
  REQUIRE(error);
  CHECK(error->where().layer == "pool");
  CHECK(error->where().tensor == "x");
  CHECK(contains(error->message(), "index 0"));
}

TEST_CASE("Skipped layers are not in the record and not observed") {
  EasyConfig config;
  config.skip_layers = {"first"};
  const Record record = calibrate(fragile("Abs", {"a"}).build(), {one(-3)}, config);
  REQUIRE(record.size() == 1);
  CHECK(record[0].name == "last");
}

TEST_CASE("NaN or Inf in the data is refused with layer, tensor, batch and index") {
  for (const float bad : {kNan, kInf, -kInf}) {
    const auto error = error_of([&] { (void)calibrate(net().build(), {batch(1, -1), batch(0.5F, bad)}); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::data_not_finite);
    CHECK(error->where().layer == "conv");
    CHECK(error->where().tensor == "x");
    CHECK(contains(error->message(), "batch 1"));
    CHECK(contains(error->message(), std::isnan(bad) ? "NaN at index 1" : "Inf at index 1"));
    CHECK_FALSE(contains(error->message(), "first made by"));
  }
}

TEST_CASE("NaN made inside the net is refused with the first node that made it") {
  SUBCASE("square root of a negative number") {
    const auto error = error_of([&] { (void)calibrate(fragile("Sqrt", {"a"}).build(), {one(4), one(-1)}); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::data_not_finite);
    CHECK(error->where().layer == "last");
    CHECK(error->where().tensor == "c");
    CHECK(contains(error->message(), "batch 1"));
    CHECK(contains(error->message(), "NaN at index 0"));
    CHECK(contains(error->message(), "first made by node \"middle\""));
  }
  SUBCASE("zero divided by zero") {
    const auto error = error_of([&] { (void)calibrate(fragile("Div", {"a", "a"}).build(), {one(4), one(2), one(0)}); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::data_not_finite);
    CHECK(error->where().layer == "last");
    CHECK(contains(error->message(), "batch 2"));
    CHECK(contains(error->message(), "NaN at index 0"));
    CHECK(contains(error->message(), "first made by node \"middle\""));
  }
  SUBCASE("overflow") {
    const auto error = error_of([&] { (void)calibrate(fragile("Exp", {"a"}).build(), {one(1000)}); });
    REQUIRE(error);
    CHECK(contains(error->message(), "Inf at index 0"));
    CHECK(contains(error->message(), "first made by node \"middle\""));
  }
}

TEST_CASE("A node that only passes on NaN from the data is not blamed") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .initializer("w", floats({1, 1}, {1}))
                         .node("Relu", "relu", {"x"}, "a")
                         .node("MatMul", "mm", {"a", "w"}, "y")
                         .output("y")
                         .build();
  const auto error = error_of([&] { (void)calibrate(graph, {one(kNan)}); });
  REQUIRE(error);
  CHECK(error->where().layer == "mm");
  CHECK_FALSE(contains(error->message(), "first made by node \"relu\""));
}

TEST_CASE("NaN in a weight is refused with layer and tensor") {
  auto graph = GraphBuilder()
                   .input("x")
                   .initializer("w", floats({2, 1}, {1, kNan}))
                   .node("MatMul", "mm", {"x", "w"}, "y")
                   .output("y")
                   .build();
  const auto error = error_of([&] { (void)calibrate(graph, {floats({1, 2}, {1, 1})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_not_finite);
  CHECK(error->where().layer == "mm");
  CHECK(error->where().tensor == "w");
  CHECK(contains(error->message(), "at index 1"));
}

TEST_CASE("A range that float32 cannot hold is refused") {
  const auto graph = fragile("Abs", {"a"}).build();
  const auto error = error_of([&] { (void)calibrate(graph, {one(3e38F), one(-3e38F)}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::numeric);
  CHECK(error->where().layer == "first");
  CHECK(error->where().field == "scale_d");
}

TEST_CASE("An empty calibration set is refused before anything runs") {
  const auto error = error_of([&] { (void)calibrate(net().build(), {}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_empty);
  CHECK(contains(error->message(), "the calibration set is empty"));
}

TEST_CASE("Fewer batches than asked for are refused with both numbers") {
  EasyConfig config;
  config.batch_num = 10;
  const auto error = error_of([&] { (void)calibrate(net().build(), {batch(1, 2), batch(1, 2), batch(1, 2)}, config); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_too_few);
  CHECK(error->where().field == "batch_num");
  CHECK(contains(error->message(), "found 3 batches, expected at least 10"));
  CHECK_FALSE(error_of([] { flow::require_batches(3, 3, "folder"); }));
  const auto placed = error_of([] { flow::require_batches(0, 1, "folder"); });
  REQUIRE(placed);
  CHECK(placed->where().file == "folder");
}

TEST_CASE("Data of a wrong shape name the node") {
  const auto error = error_of([&] { (void)calibrate(net().build(), {floats({1, 2, 1, 1}, {1, 2})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_shape);
  CHECK(error->where().layer == "conv");
}

TEST_CASE("Progress is reported for each batch and each layer") {
  std::vector<std::string> steps;
  const ProgressSink sink{.on_step = [&](std::string_view phase, std::size_t done, std::size_t total) {
    steps.push_back(std::string(phase) + ' ' + std::to_string(done) + '/' + std::to_string(total));
  }};
  (void)calibrate(net().build(), {batch(1, 2), batch(3, 4)}, {}, sink);
  CHECK(steps == Names{"weights 1/2", "weights 2/2", "calibrate 1/2", "calibrate 2/2", "search 1/2", "search 2/2"});
}

TEST_CASE("What a config may ask for and the flow cannot do is refused by its name") {
  const auto refused = [](const auto& change) {
    EasyConfig config;
    config.file = "quant.cfg";
    change(config);
    const auto error = error_of([&] { (void)calibrate(net().build(), {batch(1, -1)}, config); });
    REQUIRE(error.has_value());
    CHECK(error->code() == ErrorCode::config_unsupported);
    CHECK(error->where().file == "quant.cfg");
    return error->where().layer + ' ' + error->where().field;
  };
  CHECK(refused([](auto& config) { config.common.weights.emplace().algorithm = WeightAlgorithm::ada; }) ==
        "conv ada_quantize");
  CHECK(refused([](auto& config) { config.batch_norm_update.emplace(); }) == " update_bn");
}

TEST_CASE("HFMG calibrates activations, batch by batch") {
  EasyConfig config;
  auto& activation = config.common.activation.emplace();
  activation.algorithm = ActivationAlgorithm::hfmg;
  activation.num_of_bins = 1024;
  const Record record = calibrate(net().build(), {batch(1, -1), batch(3, 0.5F)}, config);
  Hfmg expected({.batch_num = 2, .num_of_bins = 1024});
  REQUIRE(expected.observe(std::vector<float>{1, -1}).ok());
  REQUIRE(expected.observe(std::vector<float>{3, 0.5F}).ok());
  CHECK(*record[0].scale_d == expected.compute(Int8::range).scale);
  CHECK(*record[0].offset_d == expected.compute(Int8::range).offset);
}

TEST_CASE("Activations have every width of the flavour") {
  for (const int bits : {4, 16}) {
    EasyConfig config;
    config.common.activation.emplace().bits = bits;
    const Record record = calibrate(net().build(), {batch(1, -1)}, config);
    Ifmr expected;
    REQUIRE(expected.observe(std::vector<float>{1, -1}).ok());
    CHECK(*record[0].scale_d == expected.compute(CodeRange{bits}).scale);
    CHECK(record[0].act_type == "INT" + std::to_string(bits));
  }
}

TEST_CASE("Weights have every width of the flavour, one scale a channel or a tensor") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2, 1, 1})
                         .initializer("w", floats({2, 2, 1, 1}, {0.5F, 1, -2, 0.25F}))
                         .node("Conv", "conv", {"x", "w"}, "y")
                         .output("y")
                         .build();
  for (const int bits : {4, 6, 7, 8}) {
    for (const bool channel_wise : {true, false}) {
      EasyConfig config;
      config.common.weights.emplace().bits = bits;
      config.common.weights->channel_wise = channel_wise;
      const Record record = calibrate(graph, {floats({1, 2, 1, 1}, {1, 2})}, config);
      const CodeRange range{bits};
      const float second = 2.0F / static_cast<float>(-range.min());
      CHECK(record[0].scale_w == (channel_wise ? std::vector<float>{1.0F / static_cast<float>(range.max()), second}
                                               : std::vector<float>{second}));
      CHECK(record[0].wts_type == "INT" + std::to_string(bits));
    }
  }
}

TEST_CASE("FORCE_FP16_QUANT gives scale_d the precision of a half, and writes no word of it, as AMCT") {
  EasyConfig config;
  const Record plain = calibrate(net().build(), {batch(1, -0.7F)}, config);
  config.force_fp16 = true;
  const Record forced = calibrate(net().build(), {batch(1, -0.7F)}, config);
  CHECK(*forced[0].scale_d == to_fp16_precision(*plain[0].scale_d));
  CHECK(*forced[0].scale_d != *plain[0].scale_d);
  CHECK(forced[0].offset_d == plain[0].offset_d);
  CHECK(forced[0].scale_w == plain[0].scale_w);
  CHECK_FALSE(forced[0].fakequant_precision_mode);
}

TEST_CASE("A balanced layer is calibrated with its data divided and its weights multiplied") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .initializer("w", floats({2, 1}, {1, 0.25F}))
                         .initializer("v", floats({1, 1}, {1}))
                         .node("MatMul", "first", {"x", "w"}, "h")
                         .node("MatMul", "second", {"h", "v"}, "y")
                         .output("y")
                         .build();
  EasyConfig config;
  auto& first = config.layers.emplace_back("first", LayerSetting{}).second;
  first.balancer.emplace();
  const Record record = calibrate(graph, {floats({1, 2}, {4, 1}), floats({1, 2}, {8, 2})}, config);
  REQUIRE(record.size() == 2);
  CHECK(record[0].tensor_balance_factor == std::vector<float>{2, 2});  // of the first batch
  CHECK(record[0].scale_w == std::vector<float>{2.0F / 127.0F});
  CHECK(*record[0].scale_d == observed({{2, 0.5F}, {4, 1}}).scale);
  CHECK(record[1].tensor_balance_factor.empty());
  // 4 * 1 + 1 * 0.25, but for the rounding of 0.5 beside 2 to a step of 2/127
  CHECK(*record[1].scale_d == doctest::Approx(observed({{4.25F}, {8.5F}}).scale).epsilon(0.01));
}

TEST_CASE("Records have the fields of their flavour") {
  const auto record_of = [](Flavour flavour) {
    const auto prepared = flow::prepare(net().build(), {}, support::ops(), rules_of(flavour));
    flow::MemoryBatches source({{batch(1, -1)}});
    return flow::calibrate(prepared, support::ops(), source);
  };
  const Affine expected = observed({{1, -1}});
  for (const Flavour flavour : {Flavour::onnx, Flavour::mindspore, Flavour::tensorflow, Flavour::caffe}) {
    const Record record = record_of(flavour);
    REQUIRE(record.size() == 2);
    CHECK(*record[0].scale_d == expected.scale);
    CHECK(record[0].act_type.has_value() == (flavour == Flavour::onnx));
    CHECK(record[0].wts_type.has_value() == (flavour == Flavour::onnx));
    CHECK(record[0].record_d.empty());
    // The shape of the input is known, and that of fc's has other axes.
    CHECK(record[0].channels.has_value() == (flavour == Flavour::caffe));
    CHECK(record[0].width.value_or(2) == 2);
    CHECK_FALSE(record[1].channels);
  }
  const Record record = record_of(Flavour::hotwheels_dynamic);
  REQUIRE(record.size() >= 2);
  CHECK(record[0].name == "conv");
  CHECK_FALSE(record[0].scale_d);
  CHECK(record[0].record_d ==
        std::vector<ActivationRecord>{
            {.scale_d = expected.scale, .offset_d = expected.offset, .index = 0, .num_bits_d = 8}});
  CHECK(record[0].num_bits_w == 8);
}

TEST_CASE("hotwheels-dynamic: SNQ weights, 12-bit data, and data operators without weight factors") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 1, 2, 2})
                         .initializer("w", support::whole_numbers({20, 1, 1, 1}, 1))
                         .node("Conv", "conv", {"x", "w"}, "c")
                         .node("MaxPool", "pool", {"c"}, "y", {{"kernel_shape", Ints{2, 2}}})
                         .output("y")
                         .build();
  EasyConfig config;
  config.common.weights.emplace().algorithm = WeightAlgorithm::snq;
  config.common.weights->channel_wise = false;
  config.common.activation.emplace().bits = 12;
  const auto prepared = flow::prepare(graph, config, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  flow::MemoryBatches source({{floats({1, 1, 2, 2}, {1, -1, 2, 0.5F})}});
  const Record record = flow::calibrate(prepared, support::ops(), source);
  REQUIRE(record.size() == 2);
  CHECK(record[0].num_bits_w == 4);
  CHECK(record[0].params.size() == 16);
  CHECK(record[0].centroids.size() == 16);
  CHECK(record[0].scale_w.size() == 1);
  CHECK(record[0].record_d.at(0).num_bits_d == 12);
  CHECK(record[1].name == "pool");
  CHECK(record[1].scale_w.empty());
  CHECK_FALSE(record[1].num_bits_w);
}

TEST_CASE("update_bn: statistics move on the quantized network, and the network is folded when it is saved") {
  EasyConfig config{.batch_num = 1, .batch_norm_update = BatchNormUpdate{.iterations = 2, .momentum = 1.0}};
  config.common.weights.emplace().bits = 4;
  config.common.activation.emplace().bits = 4;
  const auto prepared = flow::prepare(net().build(), config, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  REQUIRE(prepared.graph.find_node("bn") != nullptr);
  CHECK(prepared.fused == Names{"conv"});
  flow::MemoryBatches source({{batch(1, -3)}, {batch(2, 4)}});
  const flow::Calibrated result = flow::calibrate_network(prepared, support::ops(), source);
  CHECK(result.graph.find_node("bn") == nullptr);
  CHECK(result.record[0].scale_w.size() == 2);
  // The last batch alone counts: conv gives (1, 2) with mean 1.5 and unbiased variance 0.5, times -4 for channel 2.
  const graph::Node& conv = *result.graph.find_node("conv");
  const auto weights = values(*result.graph.value(conv.input(1)).initializer);
  CHECK(weights[0] == doctest::Approx(0.5 / std::sqrt(0.5)));
  CHECK(weights[1] == doctest::Approx(-2.0 / std::sqrt(8.0)));
  const auto error = error_of([&] { (void)flow::calibrate(prepared, support::ops(), source); });
  REQUIRE(error);
  CHECK(error->where().field == "update_bn");

  config.do_fusion = false;
  const auto apart = flow::prepare(net().build(), config, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  const graph::Graph kept = flow::calibrate_network(apart, support::ops(), source).graph;
  const graph::Node& bn = *kept.find_node("bn");
  CHECK(values(*kept.value(bn.input(3)).initializer)[0] == doctest::Approx(1.5));
  CHECK(support::name_of(kept, bn.input(3)) == "zero");         // nobody else read it
  CHECK(support::name_of(kept, bn.input(4)) == "one_updated");  // gamma goes on reading "one"
}

namespace {

void in_two_threads(std::size_t parts, void (*body)(void*, std::size_t), void* context) {
  std::thread other([&] {
    for (std::size_t part = 1; part < parts; part += 2) body(context, part);
  });
  for (std::size_t part = 0; part < parts; part += 2) body(context, part);
  other.join();
}
void in_one_thread(std::size_t parts, void (*body)(void*, std::size_t), void* context) {
  for (std::size_t part = 0; part < parts; ++part) body(context, part);
}

}  // namespace

TEST_CASE("The record is the same on any number of threads and every instruction set") {
  Tensor x = support::whole_numbers({1, 3, 24, 24}, 1);
  for (float& value : x.data<float>()) value *= 0.37F;
  Tensor w = support::whole_numbers({5, 3, 3, 3}, 2);
  for (float& value : w.data<float>()) value *= 0.013F;
  const auto graph = GraphBuilder()
                         .input("x", {1, 3, 24, 24})
                         .initializer("w", std::move(w))
                         .initializer("v", support::whole_numbers({4, 5, 1, 1}, 3))
                         .node("Conv", "conv", {"x", "w"}, "c", {{"pads", Ints{1, 1, 1, 1}}})
                         .node("Relu", "relu", {"c"}, "r")
                         .node("Conv", "last", {"r", "v"}, "y")
                         .output("y")
                         .build();
  for (const auto algorithm : {ActivationAlgorithm::ifmr, ActivationAlgorithm::hfmg}) {
    EasyConfig config;
    config.common.activation.emplace().algorithm = algorithm;
    const Record expected = calibrate(graph, {x}, config);
    for (const ParallelFor threads : {&in_one_thread, &in_two_threads}) {
      set_parallel_for(threads);
      simd::for_each_available([&](simd::Arch) { CHECK(calibrate(graph, {x}, config) == expected); });
    }
    set_parallel_for(nullptr);
  }
}
