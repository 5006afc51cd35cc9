// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/ulq_scale.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "quantize/central_difference.hpp"

namespace {

using amct::Affine;
using amct::ChannelLayout;
using amct::ScaleSharing;
using amct::Status;
using amct::StatusCode;
using amct::UlqScale;
using amct::UlqScaleOptions;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class Q>
std::vector<float> values(Q& quantizer) {
  const auto value = quantizer.parameters()[0].value;
  return {value.begin(), value.end()};
}

template <class Q>
std::vector<float> gradients(Q& quantizer) {
  const auto gradient = quantizer.parameters()[0].gradient;
  return {gradient.begin(), gradient.end()};
}

template <class Q>
void set(Q& quantizer, const std::vector<float>& learned) {
  std::ranges::copy(learned, quantizer.parameters()[0].value.begin());
}

UlqScale<> calibrated(const std::vector<float>& weight, const ChannelLayout& layout, UlqScaleOptions options = {}) {
  UlqScale<> quantizer(options);
  REQUIRE(quantizer.calibrate(weight, layout).ok());
  return quantizer;
}

/// A step whose results are checked elsewhere.
template <class Q>
void step(Q& quantizer, const std::vector<float>& weight, const std::vector<float>& upstream) {
  std::vector<float> result(weight.size());
  REQUIRE(quantizer.forward(weight, result).ok());
  REQUIRE(quantizer.backward(weight, upstream, result).ok());
  CHECK(result == upstream);
}

/// The gradient of one scale by central differences: `learned` is the scale, or its reciprocal.
double expected_gradient(const std::vector<float>& weight, const std::vector<float>& upstream, double learned,
                         std::size_t channel_size, bool reciprocal) {
  const auto scale_of = [&](double value) { return reciprocal ? 1.0 / value : value; };
  const double at = scale_of(learned);
  const auto loss = [&](double value) {
    const double scale = scale_of(value);
    double sum = 0.0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const double w = static_cast<double>(weight[i]);
      double y = w + rounding_of(w, at) * scale;
      if (w < -128.0 * at) y = -128.0 * scale;
      if (w > 127.0 * at) y = 127.0 * scale;
      sum += static_cast<double>(upstream[i]) * y;
    }
    return sum;
  };
  return central_difference(loss, learned) / std::sqrt(static_cast<double>(channel_size) * 127.0);
}

const std::vector<float> kFour = {1.27F, 0.5F, -2.56F, 1.0F};
constexpr ChannelLayout kTwoRows{1, 1, 2, 2};
constexpr ChannelLayout kFourRows{1, 1, 4, 1};

}  // namespace

TEST_CASE("learned scales begin as ARQ's, a channel, a group or the tensor together") {
  CHECK(calibrated(kFour, kTwoRows).params().channels == std::vector<Affine>{{1.27F / 127.0F, 0}, {0.02F, 0}});
  CHECK(calibrated(kFour, kTwoRows, {.sharing = ScaleSharing::tensor}).params().channels ==
        std::vector<Affine>{{0.02F, 0}});
  auto grouped = calibrated(kFour, kFourRows, {.sharing = ScaleSharing::group, .groups = 2});
  CHECK(values(grouped) == std::vector<float>{1.27F / 127.0F, 0.02F});
  CHECK(grouped.params().channels ==
        std::vector<Affine>{{1.27F / 127.0F, 0}, {1.27F / 127.0F, 0}, {0.02F, 0}, {0.02F, 0}});
  auto reciprocal = calibrated(kFour, kTwoRows, {.reciprocal = true});
  CHECK(values(reciprocal)[1] == 1.0F / 0.02F);
  CHECK(std::string_view(reciprocal.parameters()[0].name) == "scale_reciprocal");
}

TEST_CASE("the gradient of one learned scale, as worked out by hand") {
  const std::vector<float> weight = {0.05F, -0.26F, 20.0F, -20.0F};
  for (const auto& [upstream, expected] :
       {std::pair{std::vector<float>{1, 1, 1, 1}, -0.08429887}, {std::vector<float>{1, 2, 3, 4}, -5.869863}}) {
    auto quantizer = calibrated(weight, ChannelLayout::per_tensor(4));
    set(quantizer, {0.1F});
    step(quantizer, weight, upstream);
    CHECK(static_cast<double>(gradients(quantizer)[0]) == doctest::Approx(expected));
  }
}

TEST_CASE("the gradients of scales are those of the stand-in for rounding") {
  const std::vector<float> weight = scattered(300, 1.0, 3);
  const std::vector<float> upstream = scattered(300, 1.0, 5);
  const auto part = [](const std::vector<float>& all, std::ptrdiff_t first, std::ptrdiff_t count) {
    return std::vector<float>(all.begin() + first, all.begin() + first + count);
  };
  for (const bool reciprocal : {false, true}) {
    const float learned = reciprocal ? 181.3F : 0.00551F;  // clips some
    auto rows = calibrated(weight, {1, 1, 3, 100}, {.reciprocal = reciprocal});
    set(rows, {learned, learned, learned});
    step(rows, weight, upstream);
    double sum = 0.0;
    for (std::ptrdiff_t row = 0; row < 3; ++row) {
      const double expected = expected_gradient(part(weight, row * 100, 100), part(upstream, row * 100, 100),
                                                static_cast<double>(learned), 100, reciprocal);
      CHECK(static_cast<double>(gradients(rows)[static_cast<std::size_t>(row)]) ==
            doctest::Approx(expected).epsilon(1e-4));
      sum += expected;
    }
    // The whole weight: the sum over its channels; a group: the mean.
    auto whole = calibrated(weight, {1, 1, 3, 100}, {.sharing = ScaleSharing::tensor, .reciprocal = reciprocal});
    set(whole, {learned});
    step(whole, weight, upstream);
    CHECK(static_cast<double>(gradients(whole)[0]) == doctest::Approx(sum).epsilon(1e-4));
    auto group = calibrated(weight, {1, 1, 3, 100}, {.sharing = ScaleSharing::group, .reciprocal = reciprocal});
    set(group, {learned});
    step(group, weight, upstream);
    CHECK(static_cast<double>(gradients(group)[0]) == doctest::Approx(sum / 3.0).epsilon(1e-4));
  }
}

TEST_CASE("the layout of channels changes neither results nor gradients") {
  const std::vector<float> rows = scattered(60, 1.0, 9);  // [3, 20]
  const std::vector<float> upstream = scattered(60, 1.0, 4);
  std::vector<float> columns(60);  // [20, 3]
  std::vector<float> upstream_columns(60);
  for (std::size_t i = 0; i < 60; ++i) {
    columns[i % 20 * 3 + i / 20] = rows[i];
    upstream_columns[i % 20 * 3 + i / 20] = upstream[i];
  }
  auto by_row = calibrated(rows, {1, 1, 3, 20});
  auto by_column = calibrated(columns, {1, 20, 3, 1});
  step(by_row, rows, upstream);
  step(by_column, columns, upstream_columns);
  CHECK(values(by_row) == values(by_column));
  CHECK(gradients(by_row) == gradients(by_column));
}

TEST_CASE("learned scales of other widths and results in place") {
  UlqScale<amct::Int4> quantizer;
  std::vector<float> weight = {-8.0F, 7.0F, 0.5F, 1.5F};
  REQUIRE(quantizer.calibrate(weight, ChannelLayout::per_tensor(4)).ok());
  REQUIRE(quantizer.forward(weight, weight).ok());
  CHECK(weight == std::vector<float>{-8.0F, 7.0F, 0.0F, 2.0F});
  CHECK(quantizer.params().range == amct::Int4::range);
  CHECK_FALSE(quantizer.extras().clip_max.has_value());
}

TEST_CASE("a scale that is no scale any more goes back to that of the step before") {
  for (const float bad : {-0.5F, 0.0F, 1e-8F, kNan, kInfinity}) {
    auto quantizer = calibrated(kFour, kTwoRows);
    set(quantizer, {0.25F, 0.5F});
    step(quantizer, kFour, {0, 0, 0, 0});
    set(quantizer, {bad, 0.75F});
    CHECK(quantizer.params().channels == std::vector<Affine>{{0.25F, 0}, {0.75F, 0}});  // what would be recorded now
    step(quantizer, kFour, {0, 0, 0, 0});
    CHECK(values(quantizer) == std::vector<float>{0.25F, 0.75F});
  }
  auto reciprocal = calibrated(kFour, kTwoRows, {.reciprocal = true});
  set(reciprocal, {-4.0F, 2.0F});
  step(reciprocal, kFour, {0, 0, 0, 0});
  CHECK(values(reciprocal) == std::vector<float>{1.0F / (1.27F / 127.0F), 2.0F});
}

TEST_CASE("a channel of zeros begins with scale 1, and one element is enough") {
  auto zeros = calibrated({0.0F, 0.0F, 1.0F, 2.54F}, kTwoRows);
  CHECK(values(zeros) == std::vector<float>{1.0F, 2.54F / 127.0F});
  auto single = calibrated({-0.25F}, ChannelLayout::per_tensor(1));
  CHECK(values(single) == std::vector<float>{0.25F / 127.0F});  // a tie of magnitudes divides by 127
}

TEST_CASE("bad weights, sizes and groups are refused") {
  UlqScale<> quantizer;
  std::vector<float> result = {9, 9, 9, 9};
  CHECK(quantizer.forward(kFour, result).code == StatusCode::size_mismatch);  // not calibrated
  CHECK(quantizer.params().channels.empty());
  CHECK(quantizer.calibrate({}, ChannelLayout::per_tensor(0)).code == StatusCode::empty);
  CHECK(quantizer.calibrate(kFour, {1, 1, 2, 3}).code == StatusCode::size_mismatch);
  const Status nan = quantizer.calibrate(std::vector<float>{1, 2, kNan, 4}, kTwoRows);
  CHECK(nan.code == StatusCode::not_finite);
  CHECK(nan.index == 2);
  REQUIRE(quantizer.calibrate(kFour, kTwoRows).ok());
  CHECK(quantizer.forward({}, {}).code == StatusCode::empty);
  CHECK(quantizer.forward(std::vector<float>{1, 2, 3, kInfinity}, result).code == StatusCode::not_finite);
  CHECK(quantizer.forward(std::vector<float>{1, 2}, result).code == StatusCode::size_mismatch);
  CHECK(quantizer.forward(kFour, std::span(result).first(2)).code == StatusCode::size_mismatch);
  CHECK(quantizer.backward(std::vector<float>{1, 2}, kFour, result).code == StatusCode::size_mismatch);
  CHECK(quantizer.backward(kFour, std::vector<float>{1, 2}, result).code == StatusCode::size_mismatch);
  CHECK(quantizer.backward(kFour, kFour, std::span(result).first(2)).code == StatusCode::size_mismatch);
  CHECK(result == std::vector<float>{9, 9, 9, 9});

  for (const std::size_t groups : {std::size_t{0}, std::size_t{3}}) {
    UlqScale<> grouped({.sharing = ScaleSharing::group, .groups = groups});
    const Status status = grouped.calibrate(kFour, kFourRows);
    CHECK(status.code == StatusCode::bad_option);
    CHECK(std::string_view(status.name) == "groups");
  }
}
