// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/arq_retrain.hpp>

#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::ArqRetrain;
using amct::ChannelLayout;
using amct::StatusCode;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr ChannelLayout kTwoRows{1, 1, 2, 2};
using Affines = std::vector<Affine>;

}  // namespace

TEST_CASE("the scales follow the weights of each step") {
  ArqRetrain<> arq;
  std::vector<float> weight = {1.27F, 0.5F, -2.56F, 1.0F};
  REQUIRE(arq.calibrate(weight, kTwoRows).ok());
  CHECK(arq.params().channels == Affines{{1.27F / 127.0F, 0}, {2.56F / 128.0F, 0}});
  std::vector<float> result(4);
  weight = {12.7F, 5.04F, -2.56F, 1.0F};
  REQUIRE(arq.forward(weight, result).ok());
  CHECK(arq.params().channels == Affines{{12.7F / 127.0F, 0}, {2.56F / 128.0F, 0}});
  CHECK(result == std::vector<float>{127.0F * 0.1F, 50.0F * 0.1F, -2.56F, 1.0F});
  CHECK(arq.arq().degenerate_channels().empty());
}

TEST_CASE("the gradient of retrained weights passes straight through, in place too") {
  ArqRetrain<amct::Int4> arq;
  const std::vector<float> weight = {100.0F, -0.1F, 0.0F, 3.0F};
  std::vector<float> result(4);
  REQUIRE(arq.calibrate(weight, kTwoRows).ok());
  REQUIRE(arq.forward(weight, result).ok());
  std::vector<float> upstream = {1.0F, -2.0F, 3.0F, -4.0F};
  REQUIRE(arq.backward(weight, upstream, result).ok());
  CHECK(result == upstream);
  REQUIRE(arq.backward(weight, upstream, upstream).ok());
  CHECK(result == upstream);
  CHECK(arq.parameters().empty());
  CHECK_FALSE(arq.extras().clip_max.has_value());
}

TEST_CASE("retraining overwrites the weights only if told to") {
  ArqRetrain<> arq;
  std::vector<float> weight = {1.0F, 0.3F, 0.0F, 0.0F};
  REQUIRE(arq.calibrate(weight, kTwoRows).ok());
  std::vector<float> result(4);
  REQUIRE(arq.forward(weight, result).ok());
  CHECK(weight == std::vector<float>{1.0F, 0.3F, 0.0F, 0.0F});
  REQUIRE(arq.forward(weight, weight).ok());
  CHECK(weight == result);
}

TEST_CASE("a row that training makes zero gets scale 1 for as long as it is zero") {
  ArqRetrain<> arq;
  std::vector<float> result(4);
  REQUIRE(arq.calibrate(std::vector<float>{1, 1, 2, 2}, kTwoRows).ok());
  REQUIRE(arq.forward(std::vector<float>{0, 0, 2, 2}, result).ok());
  CHECK(arq.params().channels[0] == Affine{1.0F, 0});
  CHECK(arq.arq().degenerate_channels() == std::vector<std::size_t>{0});
  REQUIRE(arq.forward(std::vector<float>{1, 1, 2, 2}, result).ok());
  CHECK(arq.params().channels[0] == Affine{1.0F / 127.0F, 0});
}

TEST_CASE("bad weights are refused in training and the scales before stay") {
  ArqRetrain<> arq;
  std::vector<float> result = {9, 9, 9, 9};
  CHECK(arq.forward(std::vector<float>{1, 2, 3, 4}, result).code == StatusCode::size_mismatch);  // no layout yet
  CHECK(arq.calibrate({}, ChannelLayout::per_tensor(0)).code == StatusCode::empty);
  REQUIRE(arq.calibrate(std::vector<float>{1, 2, 3, 4}, kTwoRows).ok());
  const Affines before = arq.params().channels;
  const amct::Status nan = arq.forward(std::vector<float>{1, 2, kNan, 4}, result);
  CHECK(nan.code == StatusCode::not_finite);
  CHECK(nan.index == 2);
  CHECK(arq.forward(std::vector<float>{1, 2}, std::span(result).first(2)).code == StatusCode::size_mismatch);
  CHECK(arq.forward(std::vector<float>{1, 2, 3, 4}, std::span(result).first(2)).code == StatusCode::size_mismatch);
  CHECK(arq.backward(std::vector<float>{1, 2}, std::vector<float>{1}, std::span(result).first(2)).code ==
        StatusCode::size_mismatch);
  CHECK(arq.backward(std::vector<float>{1, 2}, std::vector<float>{1, 2}, result).code == StatusCode::size_mismatch);
  CHECK(result == std::vector<float>{9, 9, 9, 9});
  CHECK(arq.params().channels == before);

  ArqRetrain<> asymmetric({amct::Symmetry::asymmetric});
  CHECK(asymmetric.calibrate(std::vector<float>{-kMax, kMax}, ChannelLayout::per_tensor(2)).code ==
        StatusCode::unusable_scale);
}
