// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/min_max.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/quantize.hpp>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::MinMax;
using amct::StatusCode;
using amct::Symmetry;

constexpr auto kAsymmetric = Symmetry::asymmetric;
constexpr auto kSymmetric = Symmetry::symmetric;

using Batches = std::vector<std::vector<float>>;

/// Calibration of a constant array at compile time.
constexpr Affine constant_affine() {
  constexpr float kData[] = {-1.0F, 0.25F, 1.55F};
  MinMax observer;
  if (!observer.observe(kData).ok()) return {};
  return observer.compute(CodeRange{8});
}
static_assert(constant_affine() == Affine{2.55F / 255.0F, -28});

Affine affine_of(const Batches& batches, Symmetry symmetry = kAsymmetric, int bits = 8) {
  MinMax observer({symmetry});
  for (const auto& batch : batches) REQUIRE(observer.observe(batch).ok());
  return observer.compute(CodeRange{bits});
}

std::vector<int> codes_of(const std::vector<float>& x, const Affine& affine, int bits = 8) {
  std::vector<std::int8_t> codes(x.size());
  amct::quantize(std::span<const float>(x), std::span<std::int8_t>(codes), affine, CodeRange{bits});
  return {codes.begin(), codes.end()};
}

float value_of(int code, const Affine& affine) { return static_cast<float>(code - affine.offset) * affine.scale; }

}  // namespace

TEST_CASE("scale and offset cover the values seen") {
  CHECK(affine_of({{-2.25F, 1.0F, 3.5F}}) == Affine{0.0225490201F, -28});
  CHECK(affine_of({{-1.0F, 0.0F, 1.0F}}) == Affine{0.00784313772F, -1});
  CHECK(affine_of({{0.0F, 6.0F}}, kAsymmetric, 16) == Affine{9.15541314e-05F, -32768});
  CHECK(affine_of({{-1.0F, 0.5F}}, kSymmetric) == Affine{0.0078125F, 0});
  CHECK(affine_of({{-1.0F, 1.0F}}, kSymmetric, 4) == Affine{0.142857149F, 0});
}

TEST_CASE("the split into batches does not matter") {
  const Affine whole = affine_of({{-2.25F, 1.0F, 3.5F, 0.25F}});
  CHECK(affine_of({{-2.25F}, {1.0F}, {3.5F}, {0.25F}}) == whole);
  CHECK(affine_of({{3.5F, 0.25F}, {-2.25F, 1.0F}}) == whole);
}

TEST_CASE("one run of statistics serves several code ranges") {
  MinMax observer;
  REQUIRE(observer.observe(std::vector<float>{0.0F, 6.0F}).ok());
  CHECK(observer.compute({8}) == Affine{6.0F / 255.0F, -128});
  CHECK(observer.compute({4}) == Affine{6.0F / 15.0F, -8});
  CHECK(observer.compute({8}) == Affine{6.0F / 255.0F, -128});
}

TEST_CASE("an observer is ready after one good batch and forgets on reset") {
  MinMax observer;
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::vector<float>{100.0F}).ok());
  CHECK(observer.ready());
  observer.reset();
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::vector<float>{1.0F}).ok());
  CHECK(observer.compute({8}) == Affine{1.0F / 255.0F, -128});
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  MinMax observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  CHECK(observer.observe(std::vector<float>{50.0F, kNan}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::vector<float>{0.0F, 1.0F}).ok());
  const amct::Status status = observer.observe(std::vector<float>{50.0F, 60.0F, -kInf});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 2);
  CHECK(status.value == -std::numeric_limits<double>::infinity());
  CHECK(observer.compute({8}) == Affine{1.0F / 255.0F, -128});
}

TEST_CASE("C01 a tensor of zeros gets scale 1 and every code is the offset") {
  for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
    for (const int bits : {8, 16}) {
      const Affine affine = affine_of({std::vector<float>(48, 0.0F), std::vector<float>(48, -0.0F)}, symmetry, bits);
      CAPTURE(bits);
      CHECK(affine == Affine{1.0F, symmetry == kSymmetric ? 0 : CodeRange{bits}.min()});
      std::vector<std::int16_t> codes(48, 99);
      std::vector<float> values(48, 99.0F);
      amct::quantize(std::span<const float>(std::vector<float>(48, 0.0F)), std::span<std::int16_t>(codes), affine,
                     CodeRange{bits});
      amct::dequantize(std::span<const std::int16_t>(codes), std::span<float>(values), affine);
      CHECK(codes == std::vector<std::int16_t>(48, static_cast<std::int16_t>(affine.offset)));
      CHECK(values == std::vector<float>(48, 0.0F));
    }
  }
}

TEST_CASE("C05 a positive constant uses the largest code and comes back exactly") {
  const Affine affine = affine_of({{3.0F, 3.0F, 3.0F}});
  CHECK(affine == Affine{3.0F / 255.0F, -128});
  CHECK(codes_of({3.0F, 0.0F}, affine) == std::vector<int>{127, -128});
  CHECK(value_of(127, affine) == 3.0F);
}

TEST_CASE("C05 a negative constant uses the smallest code and comes back exactly") {
  const Affine affine = affine_of({{-3.0F, -3.0F}});
  CHECK(affine == Affine{3.0F / 255.0F, 127});
  CHECK(codes_of({-3.0F, 0.0F}, affine) == std::vector<int>{-128, 127});
  CHECK(value_of(-128, affine) == -3.0F);
}

TEST_CASE("C05 values on one side keep zero representable and both values apart") {
  const Affine affine = affine_of({{1.0F, 2.0F}});
  CHECK(affine == Affine{2.0F / 255.0F, -128});
  // 1 is a tie in exact arithmetic; float32 2/255 lies above 2/255, so the quotient is 127.49999.
  CHECK(codes_of({0.0F, 1.0F, 2.0F}, affine) == std::vector<int>{-128, -1, 127});
  CHECK(value_of(-1, affine) == doctest::Approx(0.996078).epsilon(1e-6));
  CHECK(value_of(127, affine) == 2.0F);
}

TEST_CASE("C05 four bits of a range far from zero") {
  const std::vector<float> x = {10.5F, 11.0F, 11.5F, 12.0F, 12.5F, 13.0F, 13.5F, 14.0F};
  const Affine affine = affine_of({x}, kAsymmetric, 4);
  CHECK(affine == Affine{14.0F / 15.0F, -8});
  const auto codes = codes_of(x, affine, 4);
  CHECK(codes == std::vector<int>{3, 4, 4, 5, 5, 6, 6, 7});
  float worst = 0.0F;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::fmax(worst, std::fabs(value_of(codes[i], affine) - x[i]));
  CHECK(worst == doctest::Approx(0.4333334F).epsilon(1e-6));
}

TEST_CASE("C06 one element gives a range from zero to it") {
  CHECK(affine_of({{0.7F}, {0.7F}}) == Affine{0.7F / 255.0F, -128});
  CHECK(affine_of({{0.7F}}, kSymmetric) == Affine{0.7F / 127.0F, 0});
  CHECK(codes_of({0.7F}, affine_of({{0.7F}})) == std::vector<int>{127});
}

TEST_CASE("a width beyond float32 gives a scale that is not usable") {
  constexpr float kMax = std::numeric_limits<float>::max();
  CHECK_FALSE(amct::is_usable(affine_of({{-kMax, kMax}})));
  CHECK(amct::is_usable(affine_of({{-kMax, kMax}}, kSymmetric)));
}
