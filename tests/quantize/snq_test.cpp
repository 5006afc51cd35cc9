// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/snq.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>
#include <amct/quantize/arq.hpp>

using amct::ChannelLayout;
using amct::Snq;
using amct::SnqOptions;
using amct::StatusCode;

namespace {

std::vector<float> weights(std::size_t count) {
  amct::Random random(6);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(random.uniform() + random.uniform() + random.uniform() - 1.5));
  }
  return values;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return sum;
}

}  // namespace

TEST_CASE("each weight becomes the nearest level of its channel") {
  auto w = weights(200);
  for (std::size_t i = 100; i < 200; ++i) w[i] *= 10.0F;
  Snq<> snq;
  REQUIRE(snq.calibrate(w, {1, 1, 2, 100}).ok());
  std::vector<float> y(w.size());
  std::vector<std::uint8_t> codes(w.size());
  REQUIRE(snq.forward(w, y).ok());
  REQUIRE(snq.quantize(w, codes).ok());
  REQUIRE(snq.codebooks().size() == 2);
  const auto extras = snq.extras();
  REQUIRE(extras.centroids.size() == 32);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const auto& levels = snq.codebooks()[i / 100].levels;
    REQUIRE(codes[i] < 16);
    CHECK(y[i] == levels[codes[i]]);
    CHECK(y[i] == extras.centroids[i / 100 * 16 + codes[i]]);
    for (const float level : levels) CHECK(std::fabs(y[i] - w[i]) <= std::fabs(level - w[i]));
  }
  CHECK(snq.params().channels[1].scale > 5.0F * snq.params().channels[0].scale);
}

TEST_CASE("the record holds levels that are params times the scale") {
  const auto w = weights(60);
  Snq<> snq;
  REQUIRE(snq.calibrate(w, {1, 20, 3, 1}).ok());
  const auto params = snq.params();
  const auto extras = snq.extras();
  CHECK(params.range == amct::Int8::range);
  REQUIRE(params.channels.size() == 3);
  REQUIRE(extras.params.size() == 48);
  for (std::size_t i = 0; i < 48; ++i) {
    CHECK(extras.centroids[i] == static_cast<float>(extras.params[i]) * params.channels[i / 16].scale);
    CHECK(params.channels[i / 16].offset == 0);
  }
  CHECK(extras.cluster.empty());
  CHECK_FALSE(extras.clip_max.has_value());
}

TEST_CASE("levels that follow the weights lose less than uniform ones of as many bits") {
  const auto w = weights(2000);
  const auto layout = ChannelLayout::per_tensor(w.size());
  Snq<> snq;
  amct::Arq<amct::Int4> arq;
  REQUIRE(snq.calibrate(w, layout).ok());
  REQUIRE(arq.calibrate(w, layout).ok());
  std::vector<float> by_snq(w.size());
  std::vector<float> by_arq(w.size());
  REQUIRE(snq.forward(w, by_snq).ok());
  arq.fake_quantize(w, by_arq);
  CHECK(squared_error(w, by_snq) < 0.9 * squared_error(w, by_arq));
}

TEST_CASE("without channels one codebook serves the whole weight") {
  const auto w = weights(90);
  Snq<> snq({.channel_wise = false});
  Snq<> whole;
  REQUIRE(snq.calibrate(w, {1, 1, 3, 30}).ok());
  REQUIRE(whole.calibrate(w, ChannelLayout::per_tensor(90)).ok());
  REQUIRE(snq.codebooks().size() == 1);
  CHECK(snq.codebooks()[0].levels == whole.codebooks()[0].levels);
}

TEST_CASE("other widths have as many levels") {
  const auto w = weights(400);
  Snq<amct::Int<3>> snq;
  REQUIRE(snq.calibrate(w, ChannelLayout::per_tensor(400)).ok());
  std::vector<std::uint8_t> codes(400);
  REQUIRE(snq.quantize(w, codes).ok());
  CHECK(std::set<int>(codes.begin(), codes.end()).size() == 8);
}

TEST_CASE("the result may be written over the weights") {
  auto w = weights(50);
  Snq<> snq;
  REQUIRE(snq.calibrate(w, ChannelLayout::per_tensor(50)).ok());
  std::vector<float> y(50);
  REQUIRE(snq.forward(w, y).ok());
  REQUIRE(snq.forward(w, w).ok());
  CHECK(w == y);
}

TEST_CASE("a channel of zeros, one weight and constants are kept") {
  const std::vector<float> w{0.0F, 0.0F, 0.0F, -2.0F, -2.0F, -2.0F};
  Snq<> snq;
  REQUIRE(snq.calibrate(w, {1, 1, 2, 3}).ok());
  std::vector<float> y(6, 9.0F);
  REQUIRE(snq.forward(w, y).ok());
  CHECK(y == w);
  CHECK(snq.params().channels[0].scale == 1.0F);
  REQUIRE(snq.calibrate(std::vector<float>{0.5F}, ChannelLayout::per_tensor(1)).ok());
  REQUIRE(snq.forward(std::vector<float>{0.5F}, std::span(y).first(1)).ok());
  CHECK(y[0] == doctest::Approx(0.5));
}

TEST_CASE("an outlier and values of one sign find levels near them") {
  std::vector<float> w = weights(100);
  for (float& value : w) value = std::fabs(value);
  w[3] = 50.0F;
  Snq<> snq({.search = {.init_algo = amct::ClusterInit::d2sampling}});
  REQUIRE(snq.calibrate(w, ChannelLayout::per_tensor(100)).ok());
  std::vector<float> y(100);
  REQUIRE(snq.forward(w, y).ok());
  CHECK(y[3] == doctest::Approx(50.0));
  for (std::size_t i = 0; i < 100; ++i) CHECK(std::fabs(y[i] - w[i]) < 0.5F * 50.0F / 127.0F + 0.2F);
  CHECK(*std::min_element(y.begin(), y.end()) >= 0.0F);
}

TEST_CASE("bad input is refused and changes nothing") {
  const auto w = weights(20);
  const auto layout = ChannelLayout::per_tensor(20);
  Snq<> snq;
  std::vector<float> y(20, 7.0F);
  CHECK(snq.forward(w, y).code == StatusCode::size_mismatch);  // before calibration
  CHECK(snq.calibrate({}, layout).code == StatusCode::empty);
  CHECK(snq.calibrate(w, ChannelLayout::per_tensor(21)).code == StatusCode::size_mismatch);
  auto bad = w;
  bad[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK(snq.calibrate(bad, layout).code == StatusCode::not_finite);
  REQUIRE(snq.calibrate(w, layout).ok());
  const auto levels = snq.codebooks()[0].levels;
  CHECK(snq.calibrate(bad, layout).index == 5);
  CHECK(snq.codebooks()[0].levels == levels);
  CHECK(snq.forward(bad, y).code == StatusCode::not_finite);
  CHECK(snq.forward({}, {}).code == StatusCode::empty);
  CHECK(snq.forward(w, std::span(y).first(19)).code == StatusCode::size_mismatch);
  CHECK(y == std::vector<float>(20, 7.0F));
  std::vector<std::uint8_t> codes(19);
  CHECK(snq.quantize(w, codes).code == StatusCode::size_mismatch);
  Snq<> wrong({.search = {.max_iteration = 3}});
  CHECK(wrong.calibrate(w, layout).code == StatusCode::bad_option);
}
