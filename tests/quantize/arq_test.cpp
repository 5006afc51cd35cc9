// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/arq.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::Arq;
using amct::ChannelLayout;
using amct::Int4;
using amct::Int8;
using amct::StatusCode;
using amct::Symmetry;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

/// Rows of -1, of 0, of 1, and of -1, 0, 1 in turn.
std::vector<float> four_rows() {
  std::vector<float> weight;
  for (const float value : {-1.0F, 0.0F, 1.0F}) weight.insert(weight.end(), 12, value);
  for (int i = 0; i < 4; ++i) weight.insert(weight.end(), {-1.0F, 0.0F, 1.0F});
  return weight;
}

constexpr ChannelLayout kFourRows{1, 1, 4, 12};

template <class B = Int8>
Arq<B> calibrated(const std::vector<float>& weight, const ChannelLayout& layout,
                  Symmetry symmetry = Symmetry::symmetric) {
  Arq<B> arq({symmetry});
  REQUIRE(arq.calibrate(weight, layout).ok());
  return arq;
}

template <class B>
std::vector<int> codes_of(const Arq<B>& arq, const std::vector<float>& weight) {
  std::vector<typename B::storage> codes(weight.size(), 99);
  arq.quantize(weight, codes);
  return {codes.begin(), codes.end()};
}

std::vector<int> row(const std::vector<int>& codes, std::size_t index) {
  const auto first = codes.begin() + static_cast<std::ptrdiff_t>(12 * index);
  return {first, first + 12};
}

using Affines = std::vector<Affine>;

/// Scale of the second channel, found at compile time.
constexpr float constant_scale() {
  constexpr float kWeight[] = {1.0F, -2.0F, 0.5F, 127.0F, 3.0F, -4.0F};
  amct::Arq<amct::Int8> arq;
  if (!arq.calibrate(kWeight, {.channels_per_group = 2, .inner = 3}).ok()) return 0.0F;
  return arq.channels()[1].scale;
}
static_assert(constant_scale() == 1.0F);

}  // namespace

TEST_CASE("one symmetric scale for a whole weight") {
  const auto weight = four_rows();
  const auto arq = calibrated(weight, ChannelLayout::per_tensor(48));
  CHECK(arq.channels() == Affines{{0.00787401572F, 0}});
  std::vector<float> fake(48);
  arq.fake_quantize(weight, fake);
  for (std::size_t i = 0; i < 48; ++i) CHECK(std::fabs(fake[i] - weight[i]) <= 1e-6F);
}

TEST_CASE("one symmetric scale a channel, 1 for a row of zeros") {
  const auto weight = four_rows();
  const auto arq = calibrated(weight, kFourRows);
  CHECK(arq.channels() == Affines{{0.00787401572F, 0}, {1.0F, 0}, {0.00787401572F, 0}, {0.00787401572F, 0}});
  const auto codes = codes_of(arq, weight);
  CHECK(row(codes, 0) == std::vector<int>(12, -127));
  CHECK(row(codes, 1) == std::vector<int>(12, 0));
  CHECK(row(codes, 2) == std::vector<int>(12, 127));
}

TEST_CASE("one asymmetric scale a channel") {
  const auto weight = four_rows();
  const auto arq = calibrated(weight, kFourRows, Symmetry::asymmetric);
  CHECK(arq.channels() == Affines{{0.00392156886F, 127}, {1.0F, -128}, {0.00392156886F, -128}, {0.00784313772F, -1}});
  const auto codes = codes_of(arq, weight);
  CHECK(row(codes, 0) == std::vector<int>(12, -128));
  CHECK(row(codes, 1) == std::vector<int>(12, -128));
  CHECK(row(codes, 2) == std::vector<int>(12, 127));
  CHECK(row(codes, 3) == std::vector<int>{-128, -1, 126, -128, -1, 126, -128, -1, 126, -128, -1, 126});
}

TEST_CASE("a channel whose negative end is the larger one uses code -128") {
  const std::vector<float> weight = {-1.28F, 0.64F, 1.27F, -0.64F};
  const auto arq = calibrated(weight, {1, 1, 2, 2});
  CHECK(arq.channels() == Affines{{1.28F / 128.0F, 0}, {1.27F / 127.0F, 0}});
  CHECK(codes_of(arq, weight) == std::vector<int>{-128, 64, 127, -64});
}

TEST_CASE("weights are divided, not multiplied by a reciprocal") {
  // Scale 0.1 by a largest weight of 12.7; -12.1499996 / 0.1 rounds to -121, times 10 it would be -122.
  const std::vector<float> weight = {12.7F, -0x1.84ccccp+3F};
  const auto arq = calibrated(weight, ChannelLayout::per_tensor(2));
  REQUIRE(arq.channels() == Affines{{0.1F, 0}});
  CHECK(codes_of(arq, weight) == std::vector<int>{127, -121});
}

TEST_CASE("four bits") {
  const std::vector<float> weight = {-8.0F, 7.0F, 0.5F, 1.5F, 7.0F, -6.5F, 0.0F, 2.5F};
  const auto arq = calibrated<Int4>(weight, {1, 1, 2, 4});
  CHECK(arq.channels() == Affines{{1.0F, 0}, {1.0F, 0}});
  CHECK(codes_of(arq, weight) == std::vector<int>{-8, 7, 0, 2, 7, -6, 0, 2});
}

TEST_CASE("channels may lie on the last axis or in groups") {
  const std::vector<float> matrix = {1.27F, 12.7F, -0.5F, 5.0F};  // [2, 2], channels are columns
  CHECK(calibrated(matrix, {1, 2, 2, 1}).channels() == Affines{{1.27F / 127.0F, 0}, {12.7F / 127.0F, 0}});

  // Transposed convolution [4, 2, 1] with 2 groups: four real output channels.
  const std::vector<float> grouped = {0.01F, 0.1F, 0.005F, 0.05F, 1.0F, 10.0F, 0.5F, 5.0F};
  CHECK(calibrated(grouped, {2, 2, 2, 1}).channels() ==
        Affines{{0.01F / 127.0F, 0}, {0.1F / 127.0F, 0}, {1.0F / 127.0F, 0}, {10.0F / 127.0F, 0}});
}

TEST_CASE("fake-quantized weights are the dequantized codes, in place or not") {
  std::vector<float> weight = {-1.0F, 0.3F, 0.004F, 0.9F, 2.0F, -1.5F};
  const auto arq = calibrated(weight, {1, 1, 2, 3});
  const auto codes = codes_of(arq, weight);
  std::vector<float> fake(6);
  arq.fake_quantize(weight, fake);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(fake[i] == static_cast<float>(codes[i]) * arq.channels()[i / 3].scale);
  }
  arq.fake_quantize(weight, weight);
  CHECK(weight == fake);
}

TEST_CASE("scales below 2^-23 become 1 and the codes 0") {
  const std::vector<float> weight = {1e-7F, -1e-7F, 1.0F, 0.0F};
  const auto arq = calibrated(weight, {1, 1, 2, 2});
  CHECK(arq.channels()[0] == Affine{1.0F, 0});
  CHECK(codes_of(arq, weight) == std::vector<int>{0, 0, 127, 0});
}

TEST_CASE("one element and negative zero") {
  // Minimum and maximum are the same -0.25: a tie of magnitudes, which divides by 127.
  CHECK(codes_of(calibrated({-0.25F}, ChannelLayout::per_tensor(1)), {-0.25F}) == std::vector<int>{-127});
  CHECK(calibrated({-0.0F}, ChannelLayout::per_tensor(1)).channels() == Affines{{1.0F, 0}});
}

TEST_CASE("calibrating again forgets the weight before") {
  Arq<Int8> arq;
  REQUIRE(arq.calibrate(four_rows(), kFourRows).ok());
  REQUIRE(arq.calibrate(std::vector<float>{127.0F}, ChannelLayout::per_tensor(1)).ok());
  CHECK(arq.channels() == Affines{{1.0F, 0}});
}

TEST_CASE("bad weights are refused with their place") {
  Arq<Int8> arq;
  CHECK(arq.calibrate({}, ChannelLayout::per_tensor(0)).code == StatusCode::empty);
  CHECK(arq.calibrate(std::vector<float>(5), {1, 1, 2, 2}).code == StatusCode::size_mismatch);
  const amct::Status nan = arq.calibrate(std::vector<float>{1.0F, 2.0F, kNan, 3.0F}, {1, 1, 2, 2});
  CHECK(nan.code == StatusCode::not_finite);
  CHECK(nan.index == 2);

  Arq<Int8> asymmetric({Symmetry::asymmetric});
  const amct::Status wide = asymmetric.calibrate(std::vector<float>{1.0F, 2.0F, -kMax, kMax}, {1, 1, 2, 2});
  CHECK(wide.code == StatusCode::unusable_scale);
  CHECK(wide.index == 1);
  CHECK(arq.calibrate(std::vector<float>{-kMax, kMax}, {1, 1, 1, 2}).ok());
}

TEST_CASE("forward gives fake-quantized weights and the record what calibration found") {
  std::vector<float> weight = {-1.0F, 0.3F, 0.004F, 0.9F, 2.0F, -1.5F};
  const auto arq = calibrated(weight, {1, 1, 2, 3});
  std::vector<float> fake(6);
  std::vector<float> result(6);
  arq.fake_quantize(weight, fake);
  REQUIRE(arq.forward(weight, result).ok());
  CHECK(result == fake);
  REQUIRE(arq.forward(weight, weight).ok());
  CHECK(weight == fake);
  CHECK(arq.params().channels == arq.channels());
  CHECK(arq.params().range == Int8::range);
  CHECK(arq.extras().cluster.empty());
}

TEST_CASE("forward refuses what was not calibrated and what is not finite") {
  std::vector<float> result = {9.0F, 9.0F};
  CHECK(Arq<Int8>().forward(std::vector<float>{1.0F, 2.0F}, result).code == StatusCode::size_mismatch);
  const auto arq = calibrated({1.0F, 2.0F}, ChannelLayout::per_tensor(2));
  CHECK(arq.forward({}, {}).code == StatusCode::empty);
  CHECK(arq.forward(std::vector<float>{1.0F}, result).code == StatusCode::size_mismatch);
  CHECK(arq.forward(std::vector<float>{1.0F, 2.0F}, std::span(result).first(1)).code == StatusCode::size_mismatch);
  const amct::Status nan = arq.forward(std::vector<float>{1.0F, kNan}, result);
  CHECK(nan.code == StatusCode::not_finite);
  CHECK(nan.index == 1);
  CHECK(result == std::vector<float>{9.0F, 9.0F});
}

TEST_CASE("a least scale is what small scales are raised to, instead of 1") {
  const std::vector<float> weight{0.0F, 0.0F, 1e-6F, -1e-6F, 0.5F, -0.25F};
  const amct::ChannelLayout layout{.channels_per_group = 3, .inner = 2};
  amct::Arq<> arq(amct::ArqOptions{.least_scale = 7.63312164e-6F});
  REQUIRE(arq.calibrate(weight, layout).ok());
  CHECK(arq.channels()[0].scale == 7.63312164e-6F);
  CHECK(arq.channels()[1].scale == 7.63312164e-6F);
  CHECK(arq.channels()[2].scale == 0.5F / 127.0F);
  CHECK(arq.degenerate_channels() == std::vector<std::size_t>{0, 1});
  CHECK(amct::Arq<>(amct::ArqOptions{.least_scale = 1e-9F}).calibrate(weight, layout).code ==
        amct::StatusCode::bad_option);
}
