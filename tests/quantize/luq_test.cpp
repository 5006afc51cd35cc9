// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/luq.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

#include <doctest/doctest.h>

#include "quantize/central_difference.hpp"

namespace {

using amct::Affine;
using amct::ChannelLayout;
using amct::Ifmr;
using amct::Int8;
using amct::Luq;
using amct::LuqMse;
using amct::LuqScheme;
using amct::MinMax;
using amct::Status;
using amct::StatusCode;
using amct::Symmetry;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kEps = 0.00038928920371275036F;
constexpr ChannelLayout kTwoRows{1, 1, 2, 2};

template <class Q>
std::vector<float> values(Q& luq, std::size_t parameter = 0) {
  const auto value = luq.parameters()[parameter].value;
  return {value.begin(), value.end()};
}

template <class Q>
double gradient(Q& luq, std::size_t parameter = 0, std::size_t channel = 0) {
  return static_cast<double>(luq.parameters()[parameter].gradient[channel]);
}

template <class Q>
std::vector<float> forward(Q& luq, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  REQUIRE(luq.forward(x, y).ok());
  return y;
}

/// The gradient of max_value of a symmetric quantizer, by central differences.
double expected_gradient(std::span<const float> x, std::span<const float> upstream, double max_value) {
  const double at = max_value / 127.0;
  const auto loss = [&](double value) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double xi = static_cast<double>(x[i]);
      double y = xi + rounding_of(xi, at) * value / 127.0;
      if (xi > 127.0 * at) y = value;
      if (xi < -128.0 * at) y = value * -128.0 / 127.0;
      sum += static_cast<double>(upstream[i]) * y;
    }
    return sum;
  };
  return central_difference(loss, max_value) / std::sqrt(static_cast<double>(x.size()) * 127.0);
}

/// The quantizer's scale must come from MinMax, so that expected values are simple.
using Simple = Luq<Int8, MinMax>;
const Simple::Options kSymmetric{.observer = {Symmetry::symmetric}};
const Simple::Options kAsymmetric{.observer = {Symmetry::asymmetric}};

}  // namespace

TEST_CASE("LuqMse gives the first max_value") {
  const std::vector<float> x = {-0.3F, 1.0F, 0.7F, 0.2F};
  Luq<> luq;
  REQUIRE(luq.calibrate(x).ok());
  CHECK(luq.ready());
  LuqMse observer;
  REQUIRE(observer.observe(x).ok());
  CHECK(values(luq) == std::vector<float>{observer.compute(Int8::range).scale * 127.0F});
  CHECK(luq.params().channels[0].offset == 0);
  CHECK(luq.params().range == Int8::range);
  REQUIRE(luq.calibrate(std::vector<float>{100.0F}).ok());  // left out
  CHECK(values(luq)[0] < 2.0F);
}

TEST_CASE("values are multiples of max_value / q_max and clipped to the codes") {
  Simple luq(kSymmetric);
  REQUIRE(luq.calibrate(std::vector<float>{127.0F}).ok());
  CHECK(forward(luq, {0.5F, 1.5F, -127.6F, 300.0F, -300.0F}) == std::vector<float>{0, 2, -128, 127, -128});
  luq.parameters()[0].value[0] = 12.7F;
  CHECK(luq.params().channels == std::vector<Affine>{{12.7F / 127.0F, 0}});
  CHECK(luq.extras().clip_max == 12.7F / 127.0F * 127.0F);
  CHECK(luq.extras().clip_min == 12.7F / 127.0F * -128.0F);
}

TEST_CASE("max_value has a least value and comes back above it") {
  Simple luq(kSymmetric);
  REQUIRE(luq.calibrate(std::vector<float>{1.0F}).ok());
  for (const float low : {-1.0F, 0.0F, 1e-5F}) {
    luq.parameters()[0].value[0] = low;
    (void)forward(luq, {0.5F});
    CHECK(values(luq) == std::vector<float>{kEps});
  }
  std::vector<float> gradient_of_x(1);
  REQUIRE(luq.backward(std::vector<float>{0.5F}, std::vector<float>{1.0F}, gradient_of_x).ok());
  CHECK(gradient(luq) > 0.0);
}

TEST_CASE("the gradient of max_value is that of the stand-in for rounding") {
  const std::vector<float> x = scattered(500, 2.0, 21);
  const std::vector<float> upstream = scattered(500, 1.0, 22);
  for (const float max_value : {1.3F, 1.93F, 5.0F}) {
    Simple luq(kSymmetric);
    REQUIRE(luq.calibrate(x).ok());
    luq.parameters()[0].value[0] = max_value;
    (void)forward(luq, x);
    std::vector<float> of_x = upstream;
    REQUIRE(luq.backward(x, of_x, of_x).ok());
    CHECK(gradient(luq) ==
          doctest::Approx(expected_gradient(x, upstream, static_cast<double>(max_value))).epsilon(1e-4));
    const double step = static_cast<double>(max_value) / 127.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double xi = static_cast<double>(x[i]);
      CHECK(of_x[i] == (xi > 127.0 * step || xi < -128.0 * step ? 0.0F : upstream[i]));
    }
  }
}

TEST_CASE("gradients are added up over steps") {
  Simple luq(kSymmetric);
  REQUIRE(luq.calibrate(std::vector<float>{1.0F}).ok());
  const std::vector<float> x = {2.0F};
  (void)forward(luq, x);
  std::vector<float> of_x(1);
  REQUIRE(luq.backward(x, std::vector<float>{3.0F}, of_x).ok());
  CHECK(gradient(luq) == doctest::Approx(3.0 / std::sqrt(127.0)));
  REQUIRE(luq.backward(x, std::vector<float>{3.0F}, of_x).ok());
  CHECK(gradient(luq) == doctest::Approx(6.0 / std::sqrt(127.0)));
}

TEST_CASE("a proposal with an offset makes both ends learned") {
  Simple luq(kAsymmetric);
  const std::vector<float> x = scattered(400, 1.5, 5);
  std::vector<float> shifted;
  for (const float value : x) shifted.push_back(value + 0.5F);  // -1 .. 2
  REQUIRE(luq.calibrate(shifted).ok());
  REQUIRE(luq.parameters().size() == 2);
  CHECK(std::string_view(luq.parameters()[1].name) == "min_value");
  luq.parameters()[0].value[0] = 1.7F;
  luq.parameters()[1].value[0] = -0.6F;
  const auto y = forward(luq, shifted);
  const Affine affine = amct::affine_from_range<amct::Asymmetric>(-0.6F, 1.7F, Int8::range);
  CHECK(luq.params().channels == std::vector<Affine>{affine});
  for (std::size_t i = 0; i < y.size(); ++i) {
    const int code = amct::DivideRoundAdd::code(shifted[i], affine, Int8::range);
    CHECK(y[i] == static_cast<float>(code - affine.offset) * affine.scale);
  }

  const std::vector<float> upstream = scattered(400, 1.0, 6);
  std::vector<float> of_x(400);
  REQUIRE(luq.backward(shifted, upstream, of_x).ok());
  const double max = static_cast<double>(1.7F);
  const double min = static_cast<double>(-0.6F);
  const double at = (max - min) / 255.0;
  const double moved = rounding_of(min, at);
  const auto loss = [&](double high, double low) {
    const double scale = (high - low) / 255.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < shifted.size(); ++i) {
      const double value = static_cast<double>(shifted[i]);
      double result = value + rounding_of(value, at) * scale;
      if (value > max + moved * at) result = high + moved * scale;
      if (value < min + moved * at) result = low + moved * scale;
      sum += static_cast<double>(upstream[i]) * result;
    }
    return sum / std::sqrt(400.0 * 127.0);
  };
  CHECK(gradient(luq, 0) ==
        doctest::Approx(central_difference([&](double c) { return loss(c, min); }, max)).epsilon(1e-4));
  CHECK(gradient(luq, 1) ==
        doctest::Approx(central_difference([&](double c) { return loss(max, c); }, min)).epsilon(1e-4));

  luq.parameters()[1].value[0] = 0.25F;
  (void)forward(luq, shifted);
  CHECK(values(luq, 1) == std::vector<float>{0.0F});
}

TEST_CASE("each channel of a weight learns its max_value") {
  Simple luq(kSymmetric);
  std::vector<float> weight = {1.27F, 0.5F, -2.56F, 1.0F};
  REQUIRE(luq.calibrate(weight, kTwoRows).ok());
  CHECK(values(luq)[0] == doctest::Approx(1.27));
  CHECK(values(luq)[1] == doctest::Approx(2.54));  // scale 2.56 / 128, AMCT's rule
  CHECK_FALSE(luq.extras().clip_max.has_value());
  luq.parameters()[0].value[0] = 0.6F;
  luq.parameters()[0].value[1] = 1.3F;
  const auto y = forward(luq, weight);
  CHECK(y[0] == 0.6F / 127.0F * 127.0F);
  CHECK(y[2] == 1.3F / 127.0F * -128.0F);
  std::vector<float> of_weight(4);
  const std::vector<float> upstream = {1.0F, 2.0F, 3.0F, 4.0F};
  REQUIRE(luq.backward(weight, upstream, of_weight).ok());
  CHECK(of_weight == std::vector<float>{0.0F, 2.0F, 0.0F, 4.0F});
  const std::span all(weight);
  const std::span up(upstream);
  CHECK(gradient(luq, 0, 0) ==
        doctest::Approx(expected_gradient(all.first(2), up.first(2), static_cast<double>(0.6F))).epsilon(1e-4));
  CHECK(gradient(luq, 0, 1) ==
        doctest::Approx(expected_gradient(all.last(2), up.last(2), static_cast<double>(1.3F))).epsilon(1e-4));
  REQUIRE(luq.forward(weight, weight).ok());
  CHECK(weight == y);
}

TEST_CASE("channels of weights may lie on the last axis") {
  Simple rows(kSymmetric);
  Simple columns(kSymmetric);
  const std::vector<float> by_row = {1.27F, 0.5F, -2.56F, 1.0F};
  const std::vector<float> by_column = {1.27F, -2.56F, 0.5F, 1.0F};
  const ChannelLayout last_axis{1, 2, 2, 1};
  REQUIRE(rows.calibrate(by_row, kTwoRows).ok());
  REQUIRE(columns.calibrate(by_column, last_axis).ok());
  CHECK(values(rows) == values(columns));
  (void)forward(rows, by_row);
  (void)forward(columns, by_column);
  std::vector<float> result(4);
  REQUIRE(rows.backward(by_row, std::vector<float>{1, 2, 3, 4}, result).ok());
  REQUIRE(columns.backward(by_column, std::vector<float>{1, 3, 2, 4}, result).ok());
  CHECK(gradient(rows, 0, 0) == gradient(columns, 0, 0));
  CHECK(gradient(rows, 0, 1) == gradient(columns, 0, 1));
}

TEST_CASE("other observers and widths go with LUQ") {
  Luq<amct::Int16, Ifmr> luq({.observer = {.symmetry = Symmetry::symmetric, .batch_num = 2}});
  REQUIRE(luq.calibrate(std::vector<float>{-4.0F, 1.0F}).ok());
  CHECK_FALSE(luq.ready());
  CHECK(values(luq)[0] == doctest::Approx(4.0).epsilon(1e-4));  // of this batch, for now
  REQUIRE(luq.calibrate(std::vector<float>{3.0F}).ok());
  CHECK(luq.ready());
  Luq<amct::Int4> narrow({.observer = {.scheme = LuqScheme::dynamic}});
  REQUIRE(narrow.calibrate(std::vector<float>{0.0F, 1.0F, 15.0F}).ok());
  CHECK(narrow.parameters().size() == 2);
  CHECK(narrow.params().channels[0].offset == -8);
}

TEST_CASE("degenerate data of LUQ") {
  Luq<> zeros;
  REQUIRE(zeros.calibrate(std::vector<float>(4, 0.0F)).ok());
  CHECK(zeros.params().channels == std::vector<Affine>{{1.0F, 0}});
  CHECK(forward(zeros, {0.0F, 0.25F}) == std::vector<float>{0.0F, 0.0F});

  Luq<> weight;
  REQUIRE(weight.calibrate(std::vector<float>{0.0F, 0.0F, 1.0F, 0.5F}, kTwoRows).ok());
  CHECK(weight.params().channels[0] == Affine{1.0F, 0});

  Simple single(kSymmetric);
  REQUIRE(single.calibrate(std::vector<float>{-0.5F}, ChannelLayout::per_tensor(1)).ok());
  CHECK(forward(single, {-0.5F})[0] == doctest::Approx(-0.5));
}

TEST_CASE("LUQ refuses bad data and sizes and is unchanged") {
  std::vector<float> y = {9.0F, 9.0F};
  Simple luq(kSymmetric);
  CHECK(luq.forward(std::vector<float>{1.0F, 2.0F}, y).code == StatusCode::not_ready);
  CHECK(luq.backward(y, y, y).code == StatusCode::size_mismatch);
  CHECK_FALSE(luq.extras().clip_max.has_value());
  CHECK(luq.calibrate({}).code == StatusCode::empty);
  CHECK(luq.calibrate(std::vector<float>{1.0F, kNan}).index == 1);
  REQUIRE(luq.calibrate(std::vector<float>{1.0F, 2.0F}).ok());
  CHECK(luq.forward({}, {}).code == StatusCode::empty);
  CHECK(luq.forward(std::vector<float>{1.0F, kInfinity}, y).code == StatusCode::not_finite);
  CHECK(luq.forward(std::vector<float>{1.0F}, y).code == StatusCode::size_mismatch);
  luq.parameters()[0].value[0] = kNan;
  CHECK(luq.forward(std::vector<float>{1.0F, 2.0F}, y).code == StatusCode::unusable_scale);
  luq.parameters()[0].value[0] = kInfinity;
  CHECK(luq.forward(std::vector<float>{1.0F, 2.0F}, y).code == StatusCode::unusable_scale);

  Simple weight(kSymmetric);
  std::vector<float> four(4);
  CHECK(weight.calibrate({}, ChannelLayout::per_tensor(0)).code == StatusCode::empty);
  CHECK(weight.calibrate(std::vector<float>{1, 2, 3}, kTwoRows).code == StatusCode::size_mismatch);
  CHECK(weight.calibrate(std::vector<float>{1, 2, kNan, 3}, kTwoRows).index == 2);
  REQUIRE(weight.calibrate(std::vector<float>{1, 2, 3, 4}, kTwoRows).ok());
  CHECK(weight.forward(std::vector<float>{1.0F, 2.0F}, y).code == StatusCode::size_mismatch);
  REQUIRE(weight.forward(std::vector<float>{1, 2, 3, 4}, four).ok());
  CHECK(weight.backward(y, y, y).code == StatusCode::size_mismatch);
  weight.parameters()[0].value[1] = kNan;
  CHECK(weight.forward(std::vector<float>{1, 2, 3, 4}, four).index == 1);
  CHECK(y == std::vector<float>{9.0F, 9.0F});

  Simple asymmetric(kAsymmetric);
  CHECK(asymmetric.calibrate(std::vector<float>{-3e38F, 3e38F}).code == StatusCode::unusable_scale);
  CHECK_FALSE(asymmetric.ready());
  const Status offset = asymmetric.calibrate(std::vector<float>{0, 1, 2, 3}, kTwoRows);
  CHECK(offset.code == StatusCode::bad_option);
  CHECK(std::string_view(offset.name) == "observer");
  CHECK(asymmetric.calibrate(std::vector<float>{-1.0F, 1.0F}).ok());  // begins anew
  CHECK(values(asymmetric)[0] == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("options of LUQ have ranges") {
  for (const float bad : {0.0F, -1.0F, kNan, kInfinity}) {
    Luq<> luq({.max_value_eps = bad});
    CHECK(std::string_view(luq.calibrate(std::vector<float>{1.0F}).name) == "max_value_eps");
    CHECK(luq.calibrate(std::vector<float>{1.0F}, ChannelLayout::per_tensor(1)).code == StatusCode::bad_option);
  }
  Luq<> observer({.observer = {.steps = 0}});
  CHECK(std::string_view(observer.calibrate(std::vector<float>{1.0F}).name) == "steps");
}
