// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/fx_jobs.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/flow/deploy.hpp>
#include <amct/flow/fx_save.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/luq.hpp>

#include "flow/fx_net.hpp"

using namespace amct;
using support::error_of;

namespace {

const FlavourRules& kRules = rules_of(Flavour::hotwheels);

Record calibrated(const flow::PreparedFx& prepared, const QuantizerRegistry& registry = support::quantizers(),
                  std::uint32_t batch_num = 1) {
  const auto options = flow::calibration_options(prepared, batch_num);
  flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, registry), options, support::ops());
  for (const auto& batch : support::fx_batches(options.batch_num)) (void)calibration.observe(batch);
  return calibration.finish();
}

/// Calibrates, saves, and checks that the deployed network computes the same codes and numbers in integers as in the
/// float arithmetic of the fake-quant model. \return what was saved
flow::Recorded checked(const flow::PreparedFx& prepared, const QuantizerRegistry& registry = support::quantizers()) {
  flow::Recorded saved = flow::fold_fx(prepared, calibrated(prepared, registry));
  support::check_integer_network(flow::deploy(saved.graph, saved.record, flow::deploy_options(kRules)),
                                 support::fx_batches(1)[0]);
  return saved;
}

std::string easy_of(const std::string& layer, const std::string& activation, const std::string& weights = "") {
  std::string text = R"({"override_layer_configs": [{"layer_name": ")" + layer + "\"";
  if (!activation.empty()) text += ", \"activation_quant_params\": " + activation;
  if (!weights.empty()) text += ", \"weight_quant_params\": " + weights;
  return text + "}]}";
}

/// A user's own algorithm: activations at half of their largest magnitude, with a zero point that an option states.
struct HalfRangeOptions {
  int zero_point = 0;

  void read(ArgReader& reader) {
    reader.read("zero_point", zero_point);
    reader.ignore("dtype");
    reader.ignore("quant_min");
  }
};
class HalfRange {
 public:
  using Bits = Int8;
  using Options = HalfRangeOptions;

  explicit HalfRange(Options options = {}) : options_(options) {}
  Status calibrate(std::span<const float> batch) {
    for (const float value : batch) most_ = std::max(most_, std::fabs(value));
    return {};
  }
  Status forward(std::span<const float> x, std::span<float> y) const {
    fake_quantize(x, y, params().channels[0], Bits::range);
    return {};
  }
  [[nodiscard]] QuantParams params() const { return {{{most_ / 254.0F, options_.zero_point}}, Bits::range}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }

 private:
  Options options_;
  float most_ = 0.0F;
};

QuantizerRegistry with_half_range() {
  QuantizerRegistry registry = support::quantizers();
  registry.add<HalfRange>("my.module.HalfRange", Role::activation);
  registry.add<Arq<>>("my.module.Arq", Role::weight);
  registry.add({.name = "my.module.Careless", .role = Role::activation, .make = [](const Args&, AnyQuantizer& result) {
                  result = AnyQuantizer(HalfRange());
                  return Status{};
                }});
  return registry;
}

/// The message that a config with this activation of fc is refused with.
std::string refused(const std::string& activation) {
  const auto error =
      error_of([&] { (void)calibrated(support::prepared_fx(easy_of("fc", activation)), with_half_range()); });
  return error ? error->what() : "";
}

}  // namespace

TEST_CASE("The defaults: factors for every input of every layer, and codes that integers and fake_quant agree on") {
  const auto saved = checked(support::prepared_fx());
  CHECK(saved.record.size() == 11);
  const LayerRecord& add = *find_record(saved.record, "add");
  REQUIRE(add.record_d.size() == 2);
  CHECK(add.record_d[0].index == 0);
  CHECK(add.record_d[1].index == 1);
  CHECK(add.record_d[1].offset_d == -128);  // behind a Relu
  CHECK(add.scale_w.empty());
  // Siblings: conv2, add and concat read the pool with the same factors.
  const LayerRecord& conv2 = *find_record(saved.record, "conv2");
  CHECK(conv2.record_d[0].scale_d == add.record_d[1].scale_d);
  CHECK(find_record(saved.record, "concat")->record_d[1].scale_d == add.record_d[1].scale_d);
  CHECK(conv2.num_bits_w == 8);
  CHECK(conv2.scale_w.size() == 6);
  CHECK(find_record(saved.record, "fc")->scale_w.size() == 1);
  CHECK(find_record(saved.record, "conv1")->scale_w.size() == 6);
  const LayerRecord& product = *find_record(saved.record, "matmul");
  REQUIRE(product.record_d.size() == 2);
  CHECK(product.record_d[0].offset_d == 0);
  CHECK(find_record(saved.record, "gelu")->record_d.size() == 1);
}

TEST_CASE("K15: 12 bits for the layers of the matrix unit only, as cube_only_12bit") {
  const auto saved = checked(support::prepared_fx(R"({
      "common_config": {"quant_enable": false},
      "override_layer_types": [{"layer_type": "Gemm"}, {"layer_type": ["Conv", "MaxPool"],
          "activation_quant_params": {"quantizer": "UlqFakeQuantize", "quantizer_args": {"num_bits": 12}}},
        {"layer_type": "MatMul", "activation_quant_params": [
          {"quantizer": "LuqActivationFakeQuantize", "quantizer_args":
              {"observer": "IFMRObserver", "num_bits": 12, "qscheme": "symmetric", "with_offset": false}},
          {"quantizer": "LuqActivationFakeQuantize", "quantizer_args":
              {"observer": "IFMRObserver", "num_bits": 8, "qscheme": "symmetric", "with_offset": false}}]}]})"));
  CHECK(saved.record.size() == 5);
  CHECK(find_record(saved.record, "maxpool")->record_d[0].num_bits_d == 12);
  const LayerRecord& product = *find_record(saved.record, "matmul");
  CHECK(product.record_d[0].num_bits_d == 12);
  CHECK(product.record_d[1].num_bits_d == 8);
}

TEST_CASE("4 bits: SNQ and LNQ write params, centroids and the clip; data of 4 bits go with them") {
  const std::string narrow = R"({"quantizer": "IFMRObserver", "quantizer_args": {"num_bits": 4}})";
  const auto snq = checked(support::prepared_fx(easy_of("conv2", "", R"({"quantizer": "SnqObserver"})")));
  const LayerRecord& levels = *find_record(snq.record, "conv2");
  CHECK(levels.num_bits_w == 4);
  CHECK(levels.params.size() == 96);
  CHECK(levels.centroids.size() == 96);
  CHECK_FALSE(levels.weight_clip_max.has_value());

  const auto lnq = checked(support::prepared_fx(easy_of("fc", narrow, R"({"quantizer": "LnqFakeQuantize"})")));
  const LayerRecord& learned = *find_record(lnq.record, "fc");
  CHECK(learned.num_bits_w == 4);
  CHECK(learned.record_d[0].num_bits_d == 4);
  CHECK(learned.scale_w.size() == 1);
  CHECK(learned.params.size() == 16);
  CHECK(learned.weight_clip_max == 3.0F);

  // Behind conv1 stands a BatchNormalization with a negative factor: each channel gets levels of its own.
  const auto folded = checked(support::prepared_fx(easy_of("conv1", "", R"({"quantizer": "LnqFakeQuantize"})")));
  CHECK(find_record(folded.record, "conv1")->params.size() == 96);
}

TEST_CASE("K42: Fixed takes the guide's scales for the data of a pool and the weights of a convolution") {
  const std::string conv = R"({"quantizer": "FixedFakeQuantize",
      "quantizer_args": {"scale": [0.02, 0.03, 0.01, 0.02, 0.02, 0.02], "num_bits": 8}})";
  const auto saved = checked(support::prepared_fx(R"({"override_layer_configs": [
      {"layer_name": "maxpool", "activation_quant_params": {"quantizer": "FixedFakeQuantize",
          "quantizer_args": {"scale": 0.0118393, "zero_point": -128.0, "num_bits": 8}}},
      {"layer_name": "conv1", "weight_quant_params": )" +
                                                  conv + "}]}"));
  CHECK(find_record(saved.record, "maxpool")->record_d[0].scale_d == 0.0118393F);
  CHECK(find_record(saved.record, "maxpool")->record_d[0].offset_d == -128);
  CHECK(find_record(saved.record, "conv2")->scale_w.size() == 6);

  const auto error = error_of([&] {
    (void)calibrated(support::prepared_fx(
        easy_of("conv2", "", R"({"quantizer": "FixedFakeQuantize", "quantizer_args": {"scale": [0.02, 0.03]}})")));
  });
  REQUIRE(error.has_value());
  CHECK(support::contains(error->what(), "got 2 scales, expected one, or 6: one an output channel"));
}

TEST_CASE("Observers take their own number of batches, the calibration the largest; states go on elsewhere") {
  const auto prepared =
      support::prepared_fx(easy_of("conv1", R"({"quantizer": "UlqFakeQuantize", "quantizer_args": {"batch_num": 2}})"));
  const auto options = flow::calibration_options(prepared);
  CHECK(options.batch_num == 2);
  CHECK(flow::calibration_options(prepared, 5).batch_num == 5);
  const Record whole = calibrated(prepared);
  CHECK(*find_record(whole, "fc") == *find_record(calibrated(support::prepared_fx()), "fc"));  // its first batch

  const auto start = [&](std::uint32_t first) {
    flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, support::quantizers()), options,
                                  support::ops());
    (void)calibration.observe(support::fx_batches(2)[first]);
    return calibration;
  };
  flow::Calibration rank0 = start(0);
  CHECK(error_of([&] { (void)rank0.finish(); })->code() == ErrorCode::data_too_few);
  rank0.merge(start(1).state());
  CHECK(rank0.finish() == whole);
}

TEST_CASE("ULQ with first clips in the config calibrates nothing, and what Fixed and ULQ know can be saved") {
  const auto prepared = support::prepared_fx(
      easy_of("fc", R"({"quantizer": "UlqFakeQuantize", "quantizer_args": {"clip_max": 12.7, "clip_min": -12.8}})"));
  flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, support::quantizers()),
                                flow::calibration_options(prepared), support::ops());
  (void)calibration.observe(support::fx_batches(1)[0]);
  CHECK_NOTHROW((void)calibration.state());
  const Record record = calibration.finish();
  CHECK(*find_record(record, "fc")->record_d[0].scale_d == doctest::Approx(0.1));
  CHECK(find_record(record, "fc")->record_d[0].offset_d == 0);
}

TEST_CASE("ARQ keeps its scales above eps, which a large bias raises") {
  auto graph = support::fx_net();
  Tensor weight(ElementType::float32, Shape{6, 6, 1, 1});
  std::fill(weight.data<float>().begin(), weight.data<float>().end(), 1e-6F);
  graph.value(support::find_value(graph, "conv2.w")).initializer = weight;
  CHECK(find_record(calibrated(support::prepared_fx("{}", graph)), "conv2")->scale_w[0] == kScaleEpsilon);
  graph.value(support::find_value(graph, "conv2.b")).initializer = support::floats({6}, {0, 0, 0, 0, 0, -6.5F});
  CHECK(find_record(calibrated(support::prepared_fx("{}", graph)), "conv2")->scale_w[0] == 7.63312164e-6F);
}

TEST_CASE("K20: a custom algorithm by its dotted name, on activations and weights") {
  const QuantizerRegistry registry = with_half_range();
  const auto prepared = support::prepared_fx(
      easy_of("fc", R"({"quantizer": "my.module.HalfRange"})", R"({"quantizer": "my.module.Arq"})"));
  const auto saved = checked(prepared, registry);
  const Record usual = calibrated(support::prepared_fx());
  const LayerRecord& fc = *find_record(saved.record, "fc");
  CHECK(fc.scale_w == find_record(usual, "fc")->scale_w);
  CHECK(fc.record_d[0].offset_d == 0);
  CHECK(fc.record_d[0].num_bits_d == 8);
  const LayerRecord& flatten = *find_record(saved.record, "flatten");  // moves data only: as the layer behind it
  CHECK(flatten.record_d == fc.record_d);

  const auto state = error_of([&] {
    flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, registry),
                                  flow::calibration_options(prepared), support::ops());
    (void)calibration.observe(support::fx_batches(1)[0]);
    (void)calibration.state();
  });
  REQUIRE(state.has_value());
  CHECK(state->code() == ErrorCode::config_unsupported);
}

TEST_CASE("K20: unsigned quantizers are refused, by what they state and by what they find") {
  const auto custom = [](const std::string& args) {
    return R"({"quantizer": "my.module.HalfRange", "quantizer_args": {)" + args + "}}";
  };
  CHECK(support::contains(refused(custom(R"("dtype": "torch.quint8")")), "got torch.quint8, but codes are signed"));
  CHECK(support::contains(refused(custom(R"("quant_min": 0)")), "quant_min: got 0, but codes are signed"));
  CHECK(support::contains(refused(custom(R"("zero_point": 128)")),
                          "found zero point 128, expected -128 to 127: codes are signed"));
}

TEST_CASE("K20: names and arguments that nobody knows are refused with the layer and what there is") {
  CHECK(support::contains(refused(R"({"quantizer": "my.module.HalfRang"})"),
                          "there is no quantizer \"my.module.HalfRang\" for activations"));
  CHECK(support::contains(refused(R"({"quantizer": "my.module.Careless", "quantizer_args": {"num_bits": 40}})"),
                          "num_bits: got 40, expected 2 to 16"));
  const std::string argument = refused(R"({"quantizer": "my.module.HalfRange", "quantizer_args": {"wrong": 1}})");
  CHECK(support::contains(argument, "layer \"flatten\""));  // the first that has it
  CHECK(support::contains(argument, "quantizer my.module.HalfRange refuses it, expected no such argument"));
}

TEST_CASE("torch's FakeQuantize as the guide has it: per channel on axis 0, signed") {
  const auto torch = [](const std::string& more) {
    return R"({"quantizer": "torch.quantization.FakeQuantize", "quantizer_args": {"observer":
        "torch.quantization.PerChannelMinMaxObserver", "quant_min": -128, "quant_max": 127, "dtype": "torch.qint8",
        "reduce_range": false, )" +
           more + "}}";
  };
  const auto weights = [&](const std::string& more) {
    return checked(support::prepared_fx(easy_of("conv2", "", torch(more))));
  };
  CHECK(find_record(weights(R"("qscheme": "torch.per_channel_symmetric", "ch_axis": 0)").record, "conv2")
            ->scale_w.size() == 6);
  CHECK(find_record(weights(R"("qscheme": "torch.per_tensor_symmetric")").record, "conv2")->scale_w.size() == 1);
  const auto axis = error_of([&] { (void)weights(R"("qscheme": "torch.per_channel_symmetric", "ch_axis": 1)"); });
  REQUIRE(axis.has_value());
  CHECK(support::contains(axis->what(), "ch_axis: got 1, expected 0, the axis of the layer's output channels"));
  const auto offset = error_of([&] { (void)weights(R"("qscheme": "torch.per_channel_affine", "ch_axis": 0)"); });
  REQUIRE(offset.has_value());
  CHECK(support::contains(offset->what(), "the quantizer found offset 79, expected 0"));
}

TEST_CASE("K44: siblings that are quantized differently are refused before anything runs") {
  const auto prepared =
      support::prepared_fx(easy_of("conv2", R"({"quantizer": "UlqFakeQuantize", "quantizer_args": {"num_bits": 12}})"));
  const auto error = error_of([&] { (void)flow::jobs_of(prepared, support::quantizers()); });
  REQUIRE(error.has_value());
  CHECK(error->code() == ErrorCode::config_layer);
  CHECK(support::contains(error->what(), "should have consistent num_bits"));
}

TEST_CASE("Layers that share a weight each get its codes by their own factors") {
  auto graph = support::GraphBuilder()
                   .input("x", {2, 4, 3, 3})
                   .initializer("w", support::random_floats({4, 4, 1, 1}, 1))
                   .node("Conv", "first", {"x", "w"}, "a")
                   .node("Conv", "second", {"a", "w"}, "y")
                   .output("y")
                   .build();
  const auto prepared = support::prepared_fx(
      easy_of("second", "", R"({"quantizer": "ArqWeightFakeQuantize", "quantizer_args": {"num_bits": 4}})"), graph);
  const auto options = flow::calibration_options(prepared);
  flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, support::quantizers()), options,
                                support::ops());
  const std::vector<Tensor> batch{support::random_floats({2, 4, 3, 3}, 7)};
  (void)calibration.observe(batch);
  const auto saved = flow::fold_fx(prepared, calibration.finish());
  CHECK(find_record(saved.record, "first")->scale_w[0] < find_record(saved.record, "second")->scale_w[0]);
  support::check_integer_network(flow::deploy(saved.graph, saved.record, flow::deploy_options(kRules)), batch);
}
