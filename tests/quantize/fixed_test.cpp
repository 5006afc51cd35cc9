// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/fixed.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::ChannelLayout;
using amct::Fixed;
using amct::FixedOptions;
using amct::Status;
using amct::StatusCode;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr ChannelLayout kTwoRows{1, 1, 2, 2};

}  // namespace

TEST_CASE("activations are quantized by the given scale and zero point, as the deployed model does") {
  const Fixed<> fixed({.scale = {0.0118393F}, .zero_point = -128.0F});
  CHECK(fixed.params().channels == std::vector<Affine>{{0.0118393F, -128}});
  const std::vector<float> x = {-1.0F, 0.0F, 1.0F, 2.0F, 100.0F};
  std::vector<float> y(5);
  REQUIRE(fixed.forward(x, y).ok());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int code = amct::ReciprocalRoundAdd::code(x[i], {0.0118393F, -128}, amct::Int8::range);
    CHECK(y[i] == static_cast<float>(code + 128) * 0.0118393F);
  }
  CHECK(y[0] == 0.0F);
  CHECK(y[4] == 255.0F * 0.0118393F);
  CHECK_FALSE(fixed.extras().clip_max.has_value());
}

TEST_CASE("activations are multiplied by a reciprocal and weights divided") {
  // -12.1499996 / 0.1 rounds to -121, times 10 to -122.
  std::vector<float> x = {-0x1.84ccccp+3F};
  std::vector<float> y(1);
  Fixed<> fixed({.scale = {0.1F}});
  REQUIRE(fixed.forward(x, y).ok());
  CHECK(y[0] == -122.0F * 0.1F);
  REQUIRE(fixed.calibrate(x, ChannelLayout::per_tensor(1)).ok());
  REQUIRE(fixed.forward(x, x).ok());
  CHECK(x[0] == -121.0F * 0.1F);
}

TEST_CASE("weights have one given scale or one a channel") {
  const std::vector<float> weight = {0.6F, -3.0F, 0.6F, 200.0F};
  std::vector<float> y(4);
  Fixed<> one({.scale = {0.5F}});
  REQUIRE(one.calibrate(weight, kTwoRows).ok());
  REQUIRE(one.forward(weight, y).ok());
  CHECK(y == std::vector<float>{0.5F, -3.0F, 0.5F, 63.5F});
  Fixed<> two({.scale = {0.5F, 1.0F}});
  REQUIRE(two.calibrate(weight, kTwoRows).ok());
  REQUIRE(two.forward(weight, y).ok());
  CHECK(y == std::vector<float>{0.5F, -3.0F, 1.0F, 127.0F});
  CHECK(two.params().channels == std::vector<Affine>{{0.5F, 0}, {1.0F, 0}});
  REQUIRE(two.calibrate(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1}).ok());  // channels on the last axis
  REQUIRE(two.forward(weight, y).ok());
  CHECK(y == std::vector<float>{0.5F, -3.0F, 0.5F, 127.0F});
}

TEST_CASE("what the codes cannot hold has no gradient") {
  const Fixed<amct::Int4> fixed({.scale = {1.0F}, .zero_point = -8.0F});
  const std::vector<float> x = {-0.5F, 0.0F, 7.3F, 15.0F, 15.5F};
  std::vector<float> gradient = {1, 2, 3, 4, 5};
  REQUIRE(fixed.backward(x, gradient, gradient).ok());
  CHECK(gradient == std::vector<float>{0, 2, 3, 4, 0});
  CHECK(fixed.parameters().empty());

  Fixed<amct::Int4> weights({.scale = {1.0F, 10.0F}});
  const std::vector<float> weight = {-8.0F, 8.0F, 8.0F, 71.0F};
  std::vector<float> result(4);
  REQUIRE(weights.calibrate(weight, kTwoRows).ok());
  REQUIRE(weights.backward(weight, std::vector<float>{1, 2, 3, 4}, result).ok());
  CHECK(result == std::vector<float>{1, 0, 3, 0});
}

TEST_CASE("a fixed quantizer keeps nothing of the batches it checks") {
  Fixed<> fixed({.scale = {0.5F}});
  CHECK(fixed.calibrate(std::vector<float>{1000.0F, 0.0F}).ok());
  CHECK(fixed.params().channels == std::vector<Affine>{{0.5F, 0}});
  CHECK(fixed.calibrate({}).code == StatusCode::empty);
  CHECK(fixed.calibrate(std::vector<float>{0.0F, kNan}).index == 1);
}

TEST_CASE("bad data and sizes are refused by a fixed quantizer") {
  const Fixed<> fixed({.scale = {0.5F}});
  std::vector<float> y = {9.0F, 9.0F};
  CHECK(fixed.forward({}, {}).code == StatusCode::empty);
  CHECK(fixed.forward(std::vector<float>{1.0F, kInfinity}, y).code == StatusCode::not_finite);
  CHECK(fixed.forward(std::vector<float>{1.0F}, y).code == StatusCode::size_mismatch);
  CHECK(fixed.backward(std::vector<float>{1.0F}, y, y).code == StatusCode::size_mismatch);
  CHECK(fixed.backward(y, y, std::span(y).first(1)).code == StatusCode::size_mismatch);

  Fixed<> two({.scale = {0.5F, 1.0F}});
  CHECK(two.forward(std::vector<float>{1.0F, 2.0F}, y).code == StatusCode::size_mismatch);  // whose scales?
  CHECK(two.backward(y, y, y).code == StatusCode::size_mismatch);
  CHECK(two.calibrate(std::vector<float>(6, 1.0F), {1, 1, 3, 2}).code == StatusCode::size_mismatch);
  CHECK(two.calibrate(std::vector<float>(6, 1.0F), kTwoRows).code == StatusCode::size_mismatch);
  CHECK(two.calibrate(std::vector<float>{1, 2, kNan, 4}, kTwoRows).index == 2);
  REQUIRE(two.calibrate(std::vector<float>(4, 1.0F), kTwoRows).ok());
  CHECK(two.forward(std::vector<float>{1.0F, 2.0F}, y).code == StatusCode::size_mismatch);
  CHECK(y == std::vector<float>{9.0F, 9.0F});
}

TEST_CASE("scales and zero points are options with ranges") {
  const auto refused = [](const FixedOptions& options, const char* name, std::size_t index) {
    Fixed<> fixed(options);
    std::vector<float> y = {9.0F};
    const Status status = fixed.forward(std::vector<float>{1.0F}, y);
    return status.code == StatusCode::bad_option && std::string_view(status.name) == name && status.index == index &&
           fixed.calibrate(std::vector<float>{1.0F}).code == StatusCode::bad_option && y[0] == 9.0F;
  };
  CHECK(refused({}, "scale", 0));
  for (const float bad : {0.0F, -1.0F, kNan, kInfinity, 1e-45F}) CHECK(refused({.scale = {1.0F, bad}}, "scale", 1));
  for (const float bad : {0.5F, 128.0F, -129.0F, kNan}) {
    CHECK(refused({.scale = {1.0F}, .zero_point = bad}, "zero_point", 0));
  }
  Fixed<> weight({.scale = {1.0F}, .zero_point = 3.0F});
  const Status status = weight.calibrate(std::vector<float>{1.0F}, ChannelLayout::per_tensor(1));
  CHECK(status.code == StatusCode::bad_option);
  CHECK(std::string_view(status.name) == "zero_point");
  CHECK(FixedOptions{.scale = {1.0F}, .zero_point = 128.0F}.check(amct::Int<9>::range).ok());
}
