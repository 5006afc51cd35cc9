// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/ada_round.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>
#include <amct/quantize/arq.hpp>

using amct::AdaRound;
using amct::AdaRoundOptions;
using amct::Affine;
using amct::ChannelLayout;
using amct::StatusCode;

namespace {

std::vector<float> noise(std::size_t count, std::uint64_t seed) {
  amct::Random random(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(2.0 * random.uniform() - 1.0));
  return values;
}

const std::vector<Affine> kTenth{{0.1F, 0}};

AdaRound<> calibrated(const std::vector<float>& weight, const std::vector<Affine>& channels = kTenth,
                      AdaRoundOptions options = {}) {
  AdaRound<> quantizer(options);
  REQUIRE(quantizer.calibrate(weight, {1, 1, channels.size(), weight.size() / channels.size()}, channels).ok());
  return quantizer;
}

std::vector<float> forward(const AdaRound<>& quantizer, const std::vector<float>& weight) {
  std::vector<float> y(weight.size());
  REQUIRE(quantizer.forward(weight, y).ok());
  return y;
}

std::span<float> alpha_of(AdaRound<>& quantizer) { return quantizer.parameters()[0].value; }

/// The loss of training towards `target`, and its gradient by alpha in the parameter.
double loss(AdaRound<>& quantizer, const std::vector<float>& weight, const std::vector<float>& upstream,
            std::size_t iteration) {
  std::ranges::fill(quantizer.parameters()[0].gradient, 0.0F);
  std::vector<float> ignored(weight.size());
  REQUIRE(quantizer.backward(weight, upstream, ignored).ok());
  double sum = quantizer.regularize(iteration);
  const auto y = forward(quantizer, weight);
  for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(y[i]) * static_cast<double>(upstream[i]);
  return sum;
}

}  // namespace

TEST_CASE("the rectified sigmoid reaches 0 and 1, without slope there") {
  using amct::ada_round::soft_rounding;
  CHECK(soft_rounding(0.0F).value == doctest::Approx(0.5));
  CHECK(soft_rounding(0.0F).slope == doctest::Approx(0.3));
  CHECK(soft_rounding(-5.0F).value == 0.0F);
  CHECK(soft_rounding(-5.0F).slope == 0.0F);
  CHECK(soft_rounding(5.0F).value == 1.0F);
  CHECK(soft_rounding(5.0F).slope == 0.0F);
  CHECK(soft_rounding(std::numeric_limits<float>::infinity()).value == 1.0F);
  CHECK(soft_rounding(-std::numeric_limits<float>::infinity()).value == 0.0F);
}

TEST_CASE("the first alpha rounds up by the fraction") {
  using amct::ada_round::initial_alpha;
  using amct::ada_round::soft_rounding;
  for (const float steps : {0.25F, 3.5F, -3.25F, 100.875F}) {
    CHECK(soft_rounding(initial_alpha(steps)).value == doctest::Approx(static_cast<double>(steps - std::floor(steps))));
  }
  CHECK(initial_alpha(2.0F) == doctest::Approx(-2.3978953));
  CHECK(initial_alpha(std::numeric_limits<float>::infinity()) == initial_alpha(0.0F));
}

TEST_CASE("beta falls from its start to its end along half a cosine") {
  using amct::ada_round::beta;
  const AdaRoundOptions options{.num_iteration = 100};
  CHECK(beta(20, options) == 20.0);
  CHECK(beta(60, options) == doctest::Approx(11.0));
  CHECK(beta(100, options) == doctest::Approx(2.0));
  CHECK(beta(0, options) == doctest::Approx(17.363961));
  CHECK(beta(0, {.num_iteration = 0}) == 2.0);
}

TEST_CASE("soft weights start at the weights themselves") {
  const auto weight = noise(60, 1);
  AdaRound<> quantizer;
  REQUIRE(quantizer.calibrate(weight, {1, 1, 3, 20}).ok());
  const auto y = forward(quantizer, weight);
  for (std::size_t i = 0; i < 60; ++i) {
    const float scale = quantizer.params().channels[i / 20].scale;
    const float clipped = std::clamp(weight[i], -128.0F * scale, 127.0F * scale);
    CHECK(y[i] == doctest::Approx(static_cast<double>(clipped)).epsilon(1e-5));
  }
}

TEST_CASE("scales are those of the KL search on each channel") {
  const auto weight = noise(60, 2);
  AdaRound<> quantizer;
  REQUIRE(quantizer.calibrate(weight, {1, 20, 3, 1}).ok());  // channels on the last axis
  for (std::size_t c = 0; c < 3; ++c) {
    amct::KlWeight observer;
    for (std::size_t i = c; i < 60; i += 3) REQUIRE(observer.observe(std::span(weight).subspan(i, 1)).ok());
    CHECK(quantizer.params().channels[c] == observer.compute({8}));
  }
  CHECK(quantizer.params().range == amct::Int8::range);
  CHECK(quantizer.extras().cluster.empty());
}

TEST_CASE("codes beyond the range saturate and have no gradient") {
  const std::vector<float> weight{100.0F, -100.0F, 0.55F};
  AdaRound<> quantizer = calibrated(weight);
  const auto y = forward(quantizer, weight);
  CHECK(y[0] == 127.0F * 0.1F);
  CHECK(y[1] == -128.0F * 0.1F);
  std::vector<float> gradient(3, 9.0F);
  REQUIRE(quantizer.backward(weight, std::vector<float>(3, 1.0F), gradient).ok());
  CHECK(gradient == std::vector<float>(3, 0.0F));  // weights do not learn
  const auto alpha = quantizer.parameters()[0];
  CHECK(std::string(alpha.name) == "alpha");
  CHECK(alpha.gradient[0] == 0.0F);
  CHECK(alpha.gradient[1] == 0.0F);
  CHECK(alpha.gradient[2] == doctest::Approx(0.03));
}

TEST_CASE("the gradient of alpha is that of central differences") {
  const auto weight = noise(24, 3);
  const auto upstream = noise(24, 4);
  AdaRound<> quantizer = calibrated(weight, {{0.05F, 0}, {0.07F, 0}}, {.num_iteration = 100});
  const auto alpha = quantizer.parameters()[0];
  for (std::size_t iteration : {std::size_t{0}, std::size_t{50}, std::size_t{99}}) {
    loss(quantizer, weight, upstream, iteration);
    const std::vector<float> gradient(alpha.gradient.begin(), alpha.gradient.end());
    for (std::size_t i = 0; i < 24; ++i) {
      const float at = alpha.value[i];
      if (std::fabs(at) > 2.3F) continue;  // the clipped sigmoid has a corner there
      constexpr float kStep = 1.0F / 256.0F;
      alpha.value[i] = at + kStep;
      const double above = loss(quantizer, weight, upstream, iteration);
      alpha.value[i] = at - kStep;
      const double below = loss(quantizer, weight, upstream, iteration);
      alpha.value[i] = at;
      CAPTURE(i);
      CHECK(static_cast<double>(gradient[i]) ==
            doctest::Approx((above - below) / (2.0 * static_cast<double>(kStep))).epsilon(0.01));
    }
  }
}

TEST_CASE("gradients add up until they are cleared") {
  const std::vector<float> weight{0.55F};
  AdaRound<> quantizer = calibrated(weight);
  std::vector<float> gradient(1);
  REQUIRE(quantizer.backward(weight, std::vector<float>{1.0F}, gradient).ok());
  const float once = quantizer.parameters()[0].gradient[0];
  REQUIRE(quantizer.backward(weight, std::vector<float>{1.0F}, gradient).ok());
  CHECK(quantizer.parameters()[0].gradient[0] == 2.0F * once);
}

TEST_CASE("the regularizer waits for the warm-up and vanishes at decided roundings") {
  const std::vector<float> weight{0.55F, 0.55F};
  AdaRound<> quantizer = calibrated(weight, kTenth, {.num_iteration = 100, .warm_start = 0.3});
  CHECK(quantizer.regularize(29) == 0.0);
  CHECK(quantizer.regularize(30) == doctest::Approx(0.02));  // both half way: reg_param * 1 each
  for (float& alpha : alpha_of(quantizer)) alpha = 9.0F;
  CHECK(quantizer.regularize(30) == 0.0);
}

TEST_CASE("training with the regularizer decides every rounding, and codes follow") {
  const auto weight = noise(40, 5);
  AdaRound<> quantizer = calibrated(weight, kTenth, {.num_iteration = 2000});
  const auto alpha = quantizer.parameters()[0];
  for (std::size_t step = 0; step < 2000; ++step) {
    std::ranges::fill(alpha.gradient, 0.0F);
    quantizer.regularize(step);
    for (std::size_t i = 0; i < 40; ++i) alpha.value[i] -= 50.0F * alpha.gradient[i];
  }
  const auto y = forward(quantizer, weight);
  std::vector<std::int8_t> codes(40);
  REQUIRE(quantizer.quantize(weight, codes).ok());
  for (std::size_t i = 0; i < 40; ++i) {
    const float rest = std::fabs(y[i] / 0.1F - std::floor(y[i] / 0.1F + 0.5F));
    CHECK(rest < 0.02F);
    CHECK(std::fabs(static_cast<float>(codes[i]) * 0.1F - y[i]) < 0.002F);
  }
}

TEST_CASE("hardened codes are the weights rounded to nearest before training, and what alpha says after it") {
  const std::vector<float> weight{0.53F, -0.53F, 0.58F, 3.0F, -90.0F};
  AdaRound<> quantizer = calibrated(weight);
  std::vector<std::int8_t> codes(5);
  REQUIRE(quantizer.quantize(weight, codes).ok());
  CHECK(codes == std::vector<std::int8_t>{5, -5, 6, 30, -128});
  for (float& alpha : alpha_of(quantizer)) alpha = 5.0F;
  REQUIRE(quantizer.quantize(weight, codes).ok());
  CHECK(codes[0] == 6);
  CHECK(codes[1] == -5);
  for (float& alpha : alpha_of(quantizer)) alpha = -5.0F;
  REQUIRE(quantizer.quantize(weight, codes).ok());
  CHECK(codes[0] == 5);
  CHECK(codes[1] == -6);
}

TEST_CASE("four bits use the codes of four bits") {
  const auto weight = noise(200, 6);
  AdaRound<amct::Int4> quantizer;
  REQUIRE(quantizer.calibrate(weight, ChannelLayout::per_tensor(200)).ok());
  std::vector<std::int8_t> codes(200);
  REQUIRE(quantizer.quantize(weight, codes).ok());
  CHECK(*std::ranges::min_element(codes) == -8);
  CHECK(*std::ranges::max_element(codes) == 7);
}

TEST_CASE("zeros, one weight and constants keep their values") {
  AdaRound<> quantizer;
  std::vector<float> y(3);
  REQUIRE(quantizer.calibrate(std::vector<float>(3, 0.0F), ChannelLayout::per_tensor(3)).ok());
  CHECK(quantizer.params().channels[0] == Affine{1.0F, 0});
  REQUIRE(quantizer.forward(std::vector<float>(3, 0.0F), y).ok());
  for (const float value : y) CHECK(value == doctest::Approx(0.0));
  std::vector<std::int8_t> codes(3, 9);
  REQUIRE(quantizer.quantize(std::vector<float>(3, 0.0F), codes).ok());
  CHECK(codes == std::vector<std::int8_t>(3, 0));
  REQUIRE(quantizer.calibrate(std::vector<float>(3, -0.7F), ChannelLayout::per_tensor(3)).ok());
  REQUIRE(quantizer.forward(std::vector<float>(3, -0.7F), y).ok());
  CHECK(y[1] == doctest::Approx(-0.7));
  REQUIRE(quantizer.calibrate(std::vector<float>{0.7F}, ChannelLayout::per_tensor(1)).ok());
  REQUIRE(quantizer.forward(std::vector<float>{0.7F}, std::span(y).first(1)).ok());
  CHECK(y[0] == doctest::Approx(0.7 * 127.0 / 128.0));  // the KL scale divides by 128
}

TEST_CASE("a weight far beyond its scale saturates without NaN") {
  const std::vector<float> weight{std::numeric_limits<float>::max(), 1e-6F};
  const AdaRound<> quantizer = calibrated(weight, {{1e-6F, 0}});
  CHECK(forward(quantizer, weight)[0] == 127.0F * 1e-6F);
}

TEST_CASE("bad input is refused and changes nothing") {
  const auto weight = noise(6, 7);
  const auto layout = ChannelLayout::per_tensor(6);
  AdaRound<> quantizer;
  std::vector<float> y(6, 7.0F);
  CHECK(quantizer.forward(weight, y).code == StatusCode::size_mismatch);  // before calibration
  CHECK(quantizer.calibrate({}, layout).code == StatusCode::empty);
  CHECK(quantizer.calibrate(weight, ChannelLayout::per_tensor(5)).code == StatusCode::size_mismatch);
  CHECK(quantizer.calibrate(weight, layout, std::vector<Affine>(2)).code == StatusCode::size_mismatch);
  CHECK(quantizer.calibrate(weight, layout, std::vector<Affine>{{0.0F, 0}}).code == StatusCode::unusable_scale);
  auto bad = weight;
  bad[4] = std::numeric_limits<float>::quiet_NaN();
  CHECK(quantizer.calibrate(bad, layout).index == 4);
  REQUIRE(quantizer.calibrate(weight, layout).ok());
  const auto before = forward(quantizer, weight);
  CHECK(quantizer.calibrate(bad, layout, kTenth).code == StatusCode::not_finite);
  CHECK(forward(quantizer, weight) == before);
  CHECK(quantizer.forward(bad, y).code == StatusCode::not_finite);
  CHECK(quantizer.forward({}, {}).code == StatusCode::empty);
  CHECK(quantizer.forward(weight, std::span(y).first(5)).code == StatusCode::size_mismatch);
  CHECK(quantizer.backward(weight, std::span(y).first(5), y).code == StatusCode::size_mismatch);
  CHECK(quantizer.backward(weight, weight, std::span(y).first(5)).code == StatusCode::size_mismatch);
  CHECK(y == std::vector<float>(6, 7.0F));
  std::vector<std::int8_t> codes(5);
  CHECK(quantizer.quantize(weight, codes).code == StatusCode::size_mismatch);
}

TEST_CASE("options out of their range are refused by name") {
  const auto refused = [](AdaRoundOptions options) {
    const amct::Status status = AdaRound<>(options).calibrate(std::vector<float>{1.0F}, ChannelLayout::per_tensor(1));
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(refused({.reg_param = 0.0}) == "reg_param");
  CHECK(refused({.reg_param = 1.0}) == "reg_param");
  CHECK(refused({.beta_start = 2.0}) == "beta_range start");
  CHECK(refused({.beta_end = 0.0}) == "beta_range end");
  CHECK(refused({.warm_start = 0.0}) == "warm_start");
  CHECK(refused({.warm_start = std::nan("")}) == "warm_start");
  CHECK(AdaRoundOptions{.num_iteration = 0}.check().ok());
}
