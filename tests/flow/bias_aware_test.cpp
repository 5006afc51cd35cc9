// SPDX-License-Identifier: Apache-2.0
// Cases C02 and C03 and item K51: dead channels and tiny weights beside an ordinary bias.
#include <amct/flow/bias_aware.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <amct/flow/calibrate.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/flow/prepare.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::values;

namespace {

/// A calibrated network and the warnings on the way.
struct Calibrated {
  flow::Prepared prepared;
  Record record{};
  std::vector<std::string> warnings{};
};

Calibrated calibrate(const graph::Graph& graph, const Tensor& x, bool channel_wise = true) {
  EasyConfig config;
  config.batch_num = 1;
  Calibrated result{flow::prepare(graph, config, support::ops())};
  for (auto& layer : result.prepared.plan.layers) layer.weights.channel_wise = channel_wise;
  ProgressSink sink;
  sink.on_message = [&](LogLevel, const std::string& text) { result.warnings.push_back(text); };
  flow::MemoryBatches batches({{x}});
  result.record = flow::calibrate(result.prepared, support::ops(), batches, sink);
  return result;
}

/// The output of the network in one mode.
std::vector<float> run(const Calibrated& net, const Record& record, flow::Mode mode, const Tensor& x) {
  const auto& graph = net.prepared.graph;
  const flow::Execution execution(mode == flow::Mode::float32 ? graph : flow::deploy(graph, record), mode,
                                  support::integer_ops());
  return values(execution.run({x}).at(0));
}

/// Checks both quantized modes against the float network: no result is further off than `step`.
void check_close(const Calibrated& net, const Record& record, const Tensor& x, float step) {
  const auto expected = run(net, {}, flow::Mode::float32, x);
  for (const auto mode : {flow::Mode::fake_quant, flow::Mode::real_quant}) {
    CAPTURE(flow::name_of(mode));
    const auto actual = run(net, record, mode, x);
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      CAPTURE(i);
      CHECK(std::fabs(actual[i] - expected[i]) <= step);
    }
  }
}

/// Codes 0 to 255 of scale 2 and their like, each in both input channels.
Tensor ramp(float last) {
  std::vector<float> x;
  for (int i = 0; i < 2 * 256; ++i) x.push_back(static_cast<float>(i % 256) * last / 255.0F);
  return floats({1, 2, 16, 16}, x);
}

const std::vector<float> kC02Bias{0.1F, -0.2F, 0.9F, 0.3F};

graph::Graph c02() {
  return GraphBuilder()
      .input("x", {1, 2, 16, 16})
      .initializer("w", floats({4, 2, 1, 1}, {0.001F, -0.001F, 0.0005F, -0.0005F, 0, 0, 0.002F, -0.002F}))
      .initializer("b", floats({4}, kC02Bias))
      .node("Conv", "conv", {"x", "w", "b"}, "y")
      .output("y")
      .build();
}

/// C03: both output channels have weights of at most 1e-7.
graph::Graph c03_conv(bool bias) {
  GraphBuilder builder;
  builder.input("x", {1, 2, 16, 16}).initializer("w", floats({2, 2, 1, 1}, {1e-7F, -5e-8F, -7e-8F, 1e-7F}));
  if (bias) builder.initializer("b", floats({2}, {5.0F, -4.5F}));
  std::vector<std::string> inputs{"x", "w"};
  if (bias) inputs.emplace_back("b");
  return builder.node("Conv", "conv", inputs, "y").output("y").build();
}

/// The same as a Gemm of ten columns.
graph::Graph c03_gemm(const Tensor& bias) {
  std::vector<float> weights;
  for (int i = 0; i < 40; ++i) weights.push_back(1e-7F * static_cast<float>(i % 7 - 3) / 3.0F);
  return GraphBuilder()
      .input("x", {3, 4})
      .initializer("w", floats({4, 10}, weights))
      .initializer("b", bias)
      .node("Gemm", "fc", {"x", "w", "b"}, "y")
      .output("y")
      .build();
}

Tensor gemm_data() {
  std::vector<float> x;
  for (int i = 0; i < 12; ++i) x.push_back(static_cast<float>(i * 23 % 255) / 2.0F);
  return floats({3, 4}, x);
}

/// The codes of the bias in the deployed network.
std::vector<std::int32_t> bias_codes(const Calibrated& net, const Record& record) {
  const auto deployed = flow::deploy(net.prepared.graph, record);
  return values<std::int32_t>(*support::find_initializer(deployed, "b"));
}

}  // namespace

TEST_CASE("C02 K51 under bias_aware a dead channel keeps its bias, in float and in integers") {
  const Tensor x = ramp(510.0F);
  const auto net = calibrate(c02(), x);
  const auto [record, changes] = flow::bias_aware(net.record, net.prepared.graph);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].layer == "conv");
  CHECK(changes[0].channel == 2U);
  CHECK(changes[0].before == 1.0F);
  CHECK(changes[0].reason == ScaleReason::dead_channel);
  CHECK(contains(flow::describe(changes[0]), "layer \"conv\" channel 2: scale_w 1.0 becomes "));

  const auto& scales = record.at(0).scale_w;
  CHECK(scales[2] == changes[0].after);
  for (const std::size_t c : {0U, 1U, 3U}) CHECK(scales[c] == net.record[0].scale_w[c]);
  CHECK(*record[0].scale_d == doctest::Approx(2.0));
  const auto deployed = flow::deploy(net.prepared.graph, record);
  const auto codes = values<std::int8_t>(*support::find_initializer(deployed, "w"));
  CHECK(std::vector(codes.begin() + 4, codes.begin() + 6) == std::vector<std::int8_t>{0, 0});
  check_close(net, record, x, 0.008F);
  for (const auto mode : {flow::Mode::fake_quant, flow::Mode::real_quant}) {
    CHECK(run(net, record, mode, x)[2 * 256] == doctest::Approx(0.9).epsilon(1e-6));
  }
}

TEST_CASE("C02 K51 under AMCT's own policy the channel has scale 1, and a warning names it") {
  const Tensor x = ramp(510.0F);
  const auto net = calibrate(c02(), x);
  CHECK(net.record.at(0).scale_w[2] == 1.0F);
  REQUIRE(net.warnings.size() == 1);
  CHECK(contains(net.warnings[0], "layer \"conv\" channel 2: degenerate range"));
  CHECK(run(net, net.record, flow::Mode::real_quant, x)[2 * 256] == 0.0F);  // what the policy costs
}

TEST_CASE("C03 K51 tiny weights beside an ordinary bias keep both, a scale a channel or a tensor") {
  const Tensor x = ramp(127.5F);
  for (const bool channel_wise : {true, false}) {
    CAPTURE(channel_wise);
    const auto net = calibrate(c03_conv(true), x, channel_wise);
    CHECK(*net.record.at(0).scale_d == doctest::Approx(0.5));
    const auto [record, changes] = flow::bias_aware(net.record, net.prepared.graph);
    REQUIRE(changes.size() == (channel_wise ? 2 : 1));
    CHECK(changes[0].reason == ScaleReason::large_bias);
    CHECK(changes[0].channel.has_value() == channel_wise);
    CHECK(changes[0].after >= 4.6566e-9F);
    CHECK(contains(flow::describe(changes[0]), "so that its bias fits int32"));
    const auto deployed = flow::deploy(net.prepared.graph, record);
    CHECK(values<std::int8_t>(*support::find_initializer(deployed, "w"))[0] == 21);
    for (const std::int32_t code : bias_codes(net, record)) CHECK(std::abs(code) > 1 << 30);
    check_close(net, record, x, 1e-5F);
  }
}

TEST_CASE("C03 K51 a Gemm with one bias for all columns, or one a column") {
  const Tensor x = gemm_data();
  for (const Tensor& bias : {floats({1}, {5.0F}), floats({}, {5.0F}), floats({10}, std::vector<float>(10, -4.5F))}) {
    CAPTURE(to_string(bias.shape()));
    const auto net = calibrate(c03_gemm(bias), x);
    const auto [record, changes] = flow::bias_aware(net.record, net.prepared.graph);
    CHECK(changes.size() == net.record.at(0).scale_w.size());
    check_close(net, record, x, 1e-4F);
  }
}

TEST_CASE("C03 K51 without a bias tiny weights get the scale of their range") {
  const Tensor x = ramp(127.5F);
  const auto net = calibrate(c03_conv(false), x);
  const auto [record, changes] = flow::bias_aware(net.record, net.prepared.graph);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].reason == ScaleReason::small_weights);
  CHECK(changes[0].after == 1e-7F / 127.0F);
  check_close(net, record, x, 2e-7F);
}

TEST_CASE("K51 a bias that overflows int32 is refused under AMCT's policy and fits under bias_aware") {
  auto graph = c02();
  for (auto& value : graph.values) {
    if (value.name == "b") value.initializer = floats({4}, {1e7F, -0.2F, 0.9F, 0.3F});
  }
  const Tensor x = ramp(0.51F);
  const auto net = calibrate(graph, x);
  const auto error = error_of([&] { (void)flow::deploy(net.prepared.graph, net.record); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::numeric);
  CHECK(error->where().layer == "conv");
  CHECK(contains(error->what(), "does not fit int32"));
  const auto [record, changes] = flow::bias_aware(net.record, net.prepared.graph);
  CHECK(changes.at(0).channel == 0U);
  CHECK(std::abs(bias_codes(net, record)[0]) > 1 << 30);
  CHECK(run(net, record, flow::Mode::real_quant, x)[0] == doctest::Approx(1e7));
}

TEST_CASE("K51 bias_aware looks at the weights of a balanced layer as they are quantized") {
  const std::vector<float> weights{1e-7F, -5e-8F, -7e-8F, 1e-7F};
  const std::vector<float> factors{4.0F, 0.25F};
  std::vector<float> multiplied;
  for (std::size_t i = 0; i < weights.size(); ++i) multiplied.push_back(weights[i] * factors[i % 2]);
  const auto net = [](const std::vector<float>& w) {
    return GraphBuilder()
        .input("x", {1, 2, 16, 16})
        .initializer("w", floats({2, 2, 1, 1}, w))
        .node("Conv", "conv", {"x", "w"}, "y")
        .output("y")
        .build();
  };
  Record record{{.name = "conv", .scale_d = 0.5F, .offset_d = -128, .scale_w = {1.0F, 1.0F}}};
  const auto expected = flow::bias_aware(record, net(multiplied)).changes;
  record[0].tensor_balance_factor = factors;
  REQUIRE(expected.size() == 2);
  CHECK(expected[0].after == 4e-7F / 127.0F);
  CHECK(flow::bias_aware(record, net(weights)).changes == expected);
}

TEST_CASE("bias_aware leaves alone what is in order, and layers that the network does not have") {
  const Tensor x = ramp(1.0F);
  const auto net = calibrate(GraphBuilder()
                                 .input("x", {1, 2, 16, 16})
                                 .initializer("w", floats({2, 2, 1, 1}, {0.3F, -0.1F, 0.2F, 0.5F}))
                                 .initializer("b", floats({2}, {0.5F, -0.5F}))
                                 .node("Conv", "conv", {"x", "w", "b"}, "y")
                                 .output("y")
                                 .build(),
                             x);
  Record record = net.record;
  record.push_back({.name = "elsewhere", .scale_d = 1.0F, .offset_d = 0, .scale_w = {1.0F}});
  const auto same = flow::bias_aware(record, net.prepared.graph);
  CHECK(same.record == record);
  CHECK(same.changes.empty());
}
