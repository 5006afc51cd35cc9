// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/lnq.hpp>

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

using amct::ChannelLayout;
using amct::Lnq;
using amct::LnqOptions;
using amct::StatusCode;

namespace {

/// Values of a bell with long tails, around `mean`.
std::vector<float> weights(std::size_t count, double mean = 0.0) {
  amct::Random random(12);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = random.uniform() + random.uniform() + random.uniform() - 1.5;
    values.push_back(static_cast<float>(mean + u * u * u));
  }
  return values;
}

std::vector<float> forward(Lnq<>& lnq, const std::vector<float>& w) {
  std::vector<float> y(w.size());
  REQUIRE(lnq.forward(w, y).ok());
  return y;
}

void step(Lnq<>& lnq, const std::vector<float>& w) {
  std::vector<float> gradient(w.size());
  forward(lnq, w);
  REQUIRE(lnq.backward(w, std::vector<float>(w.size(), 0.0F), gradient).ok());
}

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

Moments moments(const std::vector<float>& w) {
  Moments result;
  for (const float value : w) result.mean += static_cast<double>(value) / static_cast<double>(w.size());
  for (const float value : w) result.deviation += std::pow(static_cast<double>(value) - result.mean, 2);
  result.deviation = std::sqrt(result.deviation / static_cast<double>(w.size()));
  return result;
}

}  // namespace

TEST_CASE("the record holds centroids = params * k and scale_w = k * clip * deviation") {
  const auto w = weights(500);
  Lnq<> lnq;
  REQUIRE(lnq.calibrate(w, ChannelLayout::per_tensor(500)).ok());
  const auto extras = lnq.extras();
  REQUIRE(extras.params.size() == 16);
  CHECK(extras.clip_max == 3.0F);
  CHECK((extras.params.front() == -128 || extras.params.back() == 127));
  const double reach = 3.0 * moments(w).deviation;
  const double k = static_cast<double>(lnq.params().channels[0].scale) / reach;
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(static_cast<double>(extras.centroids[i]) ==
          doctest::Approx(static_cast<double>(extras.params[i]) * k).epsilon(1e-5));
  }
  CHECK(lnq.params().range == amct::Int8::range);
}

TEST_CASE("each weight becomes the nearest of 16 real levels") {
  const auto w = weights(500, 0.1);
  Lnq<> lnq;
  const auto y = forward(lnq, w);
  std::vector<std::uint8_t> codes(500);
  REQUIRE(lnq.quantize(w, codes).ok());
  const float scale = lnq.params().channels[0].scale;
  const auto extras = lnq.extras();
  for (std::size_t i = 0; i < 500; ++i) {
    CHECK(y[i] == static_cast<float>(extras.params[codes[i]]) * scale);
    for (const std::int32_t image : extras.params) {
      CHECK(std::fabs(y[i] - w[i]) <= std::fabs(static_cast<float>(image) * scale - w[i]));
    }
  }
}

TEST_CASE("weights beyond the clip become a level within it") {
  const auto w = weights(2000);
  Lnq<> lnq({.clip_max = 1.5F});
  const auto y = forward(lnq, w);
  const double reach = 1.5 * moments(w).deviation;
  CHECK(static_cast<double>(*std::ranges::max_element(w)) > 1.2 * reach);
  CHECK(static_cast<double>(*std::ranges::max_element(y)) <= 1.02 * reach);
}

TEST_CASE("symmetric is centred at 0, otherwise at the mean") {
  const auto shifted = weights(1000, 0.5);
  Lnq<> centred;
  Lnq<> symmetric({.symmetric = true});
  const double root = std::hypot(moments(shifted).mean, moments(shifted).deviation);
  const auto check_inside = [&](Lnq<>& lnq, double centre, double deviation) {
    forward(lnq, shifted);
    std::vector<float> gradient(1000);
    REQUIRE(lnq.backward(shifted, std::vector<float>(1000, 1.0F), gradient).ok());
    for (std::size_t i = 0; i < 1000; ++i) {
      const double distance = std::fabs(static_cast<double>(shifted[i]) - centre) - 3.0 * deviation;
      if (std::fabs(distance) > 1e-5) CHECK(gradient[i] == (distance > 0.0 ? 0.0F : 1.0F));
    }
  };
  check_inside(centred, moments(shifted).mean, moments(shifted).deviation);
  check_inside(symmetric, 0.0, root);
  const double k = static_cast<double>(centred.extras().centroids[15]) / centred.extras().params[15];
  const double deviation = static_cast<double>(centred.params().channels[0].scale) / k / 3.0;
  CHECK(deviation == doctest::Approx(moments(shifted).deviation).epsilon(1e-4));
  const double k0 = static_cast<double>(symmetric.extras().centroids[15]) / symmetric.extras().params[15];
  CHECK(static_cast<double>(symmetric.params().channels[0].scale) / k0 / 3.0 == doctest::Approx(root).epsilon(1e-4));
}

TEST_CASE("the gradient of the weights is cut off beyond the clip") {
  const auto w = weights(1000, 0.2);
  Lnq<> lnq({.clip_max = 2.0F});
  forward(lnq, w);
  std::vector<float> upstream(1000, 3.0F);
  std::vector<float> gradient(1000);
  REQUIRE(lnq.backward(w, upstream, gradient).ok());
  const Moments of = moments(w);
  int outside = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const double distance = std::fabs(static_cast<double>(w[i]) - of.mean) - 2.0 * of.deviation;
    if (std::fabs(distance) < 1e-5) continue;
    CHECK(gradient[i] == (distance > 0.0 ? 0.0F : 3.0F));
    outside += distance > 0.0 ? 1 : 0;
  }
  CHECK(outside > 10);
}

TEST_CASE("the gradient of the clip is that of central differences") {
  // Of the surrogate with the rounding residual frozen: w_n + (q - w_n) inside, the end of the range outside.
  const auto w = weights(400, 0.1);
  const Moments of = moments(w);
  constexpr double kClip = 2.0;
  Lnq<> lnq({.clip_max = static_cast<float>(kClip)});
  const auto y = forward(lnq, w);
  const auto upstream = weights(400, 0.3);
  const auto surrogate = [&](double clip) {
    double sum = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double centred = static_cast<double>(w[i]) - of.mean;
      const bool inside = std::fabs(centred) <= kClip * of.deviation;
      const double residual = (static_cast<double>(y[i]) - static_cast<double>(w[i])) / (kClip * of.deviation);
      const double value =
          inside ? centred + residual * clip * of.deviation : std::copysign(clip * of.deviation, centred);
      sum += value * static_cast<double>(upstream[i]);
    }
    return sum;
  };
  const double expected = (surrogate(kClip + 1e-3) - surrogate(kClip - 1e-3)) / 2e-3 / std::sqrt(400.0);
  std::vector<float> gradient(400);
  REQUIRE(lnq.backward(w, upstream, gradient).ok());
  const auto clip = lnq.parameters()[0];
  CHECK(std::string(clip.name) == "clip_max");
  REQUIRE(clip.value.size() == 1);
  CHECK(static_cast<double>(clip.gradient[0]) == doctest::Approx(expected).epsilon(1e-3));
  REQUIRE(lnq.backward(w, upstream, gradient).ok());
  CHECK(static_cast<double>(clip.gradient[0]) == doctest::Approx(2.0 * expected).epsilon(1e-3));
}

TEST_CASE("levels are searched anew every cluster_freq steps") {
  const auto w = weights(300);
  auto moved = w;
  for (float& value : moved) value = std::copysign(std::sqrt(std::fabs(value)), value);
  Lnq<> fresh;
  forward(fresh, moved);
  Lnq<> lnq({.cluster_freq = 2});
  step(lnq, w);
  forward(lnq, moved);
  CHECK(lnq.extras().params != fresh.extras().params);  // still those of w
  step(lnq, moved);
  forward(lnq, moved);
  CHECK(lnq.extras().params == fresh.extras().params);
}

TEST_CASE("forward passes without backward are no steps") {
  const auto w = weights(300);
  auto moved = w;
  for (float& value : moved) value = std::copysign(std::sqrt(std::fabs(value)), value);
  Lnq<> lnq({.cluster_freq = 1});
  forward(lnq, w);
  const auto params = lnq.extras().params;
  for (int i = 0; i < 5; ++i) forward(lnq, w);
  CHECK(lnq.extras().params == params);
  forward(lnq, moved);
  Lnq<> fresh;
  forward(fresh, moved);
  CHECK(lnq.extras().params != fresh.extras().params);
  REQUIRE(lnq.calibrate(moved, ChannelLayout::per_tensor(300)).ok());  // always searches
  CHECK(lnq.extras().params == fresh.extras().params);
}

TEST_CASE("a clip that training spoiled goes back to the one before") {
  const auto w = weights(100);
  Lnq<> lnq;
  const auto y = forward(lnq, w);
  for (const float bad :
       {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    lnq.parameters()[0].value[0] = bad;
    CHECK(forward(lnq, w) == y);
    CHECK(lnq.parameters()[0].value[0] == 3.0F);
  }
  lnq.parameters()[0].value[0] = 2.0F;
  CHECK(forward(lnq, w) != y);
  CHECK(lnq.extras().clip_max == 2.0F);
}

TEST_CASE("training the clip lowers the error of a badly chosen one") {
  const auto w = weights(1000);
  Lnq<> lnq({.cluster_freq = 1, .clip_max = 0.5F});
  const auto error = [&] {
    const auto y = forward(lnq, w);
    double sum = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>((y[i] - w[i]) * (y[i] - w[i]));
    return sum;
  };
  const double before = error();
  for (int i = 0; i < 100; ++i) {
    const auto y = forward(lnq, w);
    std::vector<float> upstream(1000);
    std::vector<float> gradient(1000);
    for (std::size_t k = 0; k < 1000; ++k) upstream[k] = 2.0F * (y[k] - w[k]);
    const auto clip = lnq.parameters()[0];
    clip.gradient[0] = 0.0F;
    REQUIRE(lnq.backward(w, upstream, gradient).ok());
    clip.value[0] -= 0.1F * clip.gradient[0];
  }
  CHECK(error() < 0.2 * before);
  CHECK(lnq.parameters()[0].value[0] > 1.0F);
}

TEST_CASE("zeros, constants and one weight are met") {
  for (const bool symmetric : {false, true}) {
    Lnq<> lnq({.symmetric = symmetric});
    CHECK(forward(lnq, std::vector<float>(4, 0.0F)) == std::vector<float>(4, 0.0F));
    CHECK(lnq.extras().params == std::vector<std::int32_t>(16, 0));
    for (const std::vector<float>& w : {std::vector<float>(4, 5.0F), std::vector<float>{-0.7F}}) {
      Lnq<> fresh({.symmetric = symmetric});
      for (const float value : forward(fresh, w)) CHECK(value == doctest::Approx(static_cast<double>(w[0])));
    }
  }
}

TEST_CASE("a huge outlier is clipped") {
  auto w = weights(1000);
  w[10] = 1e6F;
  Lnq<> lnq;
  const auto y = forward(lnq, w);
  CHECK(y[10] < 1.1e5F);
  CHECK(y[10] > 0.9e5F);
}

TEST_CASE("other widths have as many levels") {
  const auto w = weights(100);
  Lnq<amct::Int<2>> lnq;
  REQUIRE(lnq.calibrate(w, {1, 1, 4, 25}).ok());
  CHECK(lnq.extras().params.size() == 4);
  CHECK(lnq.params().channels.size() == 1);  // one scale whatever the layout
}

TEST_CASE("bad input is refused and changes nothing") {
  const auto w = weights(20);
  const auto layout = ChannelLayout::per_tensor(20);
  Lnq<> lnq;
  std::vector<float> y(20, 7.0F);
  std::vector<std::uint8_t> codes(20);
  CHECK(lnq.backward(w, w, y).code == StatusCode::not_ready);  // before the first forward pass
  CHECK(lnq.quantize(w, codes).code == StatusCode::not_ready);
  CHECK(lnq.calibrate({}, layout).code == StatusCode::empty);
  CHECK(lnq.calibrate(w, ChannelLayout::per_tensor(21)).code == StatusCode::size_mismatch);
  REQUIRE(lnq.calibrate(w, layout).ok());
  const auto params = lnq.extras().params;
  auto bad = w;
  bad[9] = std::numeric_limits<float>::quiet_NaN();
  CHECK(lnq.calibrate(bad, layout).index == 9);
  CHECK(lnq.forward(bad, y).code == StatusCode::not_finite);
  CHECK(lnq.quantize(bad, codes).code == StatusCode::not_finite);
  CHECK(lnq.forward({}, {}).code == StatusCode::empty);
  CHECK(lnq.forward(w, std::span(y).first(3)).code == StatusCode::size_mismatch);
  CHECK(lnq.backward(w, std::span(y).first(3), y).code == StatusCode::size_mismatch);
  CHECK(lnq.backward(w, w, std::span(y).first(3)).code == StatusCode::size_mismatch);
  CHECK(lnq.quantize(w, std::span(codes).first(3)).code == StatusCode::size_mismatch);
  CHECK(y == std::vector<float>(20, 7.0F));
  CHECK(lnq.extras().params == params);
}

TEST_CASE("weights whose scale float32 cannot hold are refused") {
  constexpr float kMax = std::numeric_limits<float>::max();
  Lnq<> lnq;
  std::vector<float> y(2);
  CHECK(lnq.forward(std::vector<float>{kMax, -kMax}, y).code == StatusCode::unusable_scale);
  CHECK(lnq.forward(std::vector<float>{1.0F, -1.0F}, y).ok());
}

TEST_CASE("options out of their range are refused by name") {
  const auto refused = [](LnqOptions options) {
    const amct::Status status = Lnq<>(options).calibrate(std::vector<float>{1.0F}, ChannelLayout::per_tensor(1));
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(refused({.cluster_freq = 0}) == "cluster_freq");
  CHECK(refused({.max_iteration = 499}) == "max_iteration");
  CHECK(refused({.min_distance = 1e-9}) == "min_distance");
  CHECK(refused({.min_distance = 0.1}) == "min_distance");
  CHECK(refused({.clip_max = 0.0F}) == "clip_max");
  CHECK(refused({.clip_max = std::numeric_limits<float>::quiet_NaN()}) == "clip_max");
}
