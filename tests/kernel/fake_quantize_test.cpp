// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/fake_quantize.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/quantize.hpp>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::DivideAddRound;
using amct::ReciprocalRoundAdd;

template <class Contract = ReciprocalRoundAdd>
std::vector<float> faked(const std::vector<float>& x, Affine affine, CodeRange range = {8}) {
  std::vector<float> y(x.size(), 99.0F);
  amct::fake_quantize<Contract>(x, y, affine, range);
  return y;
}

using Values = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("values move to the nearest code, ties to the even one") {
  CHECK(faked({-1.25F, -0.75F, -0.25F, 0.25F, 0.75F, 1.25F, 0.3F}, {0.5F, 0}) ==
        Values{-1.0F, -1.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.5F});
}

TEST_CASE("C13 the two orders of rounding and offset differ at ties") {
  const Values ties = {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F};
  CHECK(faked(ties, {1.0F, 1}) == Values{-2, -2, 0, 0, 2, 2});
  CHECK(faked<DivideAddRound>(ties, {1.0F, 1}) == Values{-3, -1, -1, 1, 1, 3});
}

TEST_CASE("C14 the two ways to divide differ near ties") {
  CHECK(faked({-0x1.84ccccp+3F}, {0.1F, 0}) == Values{-122.0F * 0.1F});
  CHECK(faked<DivideAddRound>({-0x1.84ccccp+3F}, {0.1F, 0}) == Values{-121.0F * 0.1F});
}

TEST_CASE("values outside the range saturate, also infinite ones") {
  CHECK(faked({-500.0F, 500.0F, -kInf, kInf, 3e38F}, {1.0F, 0}) == Values{-128, 127, -128, 127, 127});
  CHECK(faked({-500.0F, 500.0F, kInf}, {0.5F, -128}) == Values{0.0F, 127.5F, 127.5F});
  CHECK(faked({-500.0F, 500.0F}, {0.5F, 127}) == Values{-127.5F, 0.0F});
  CHECK(faked({-9.0F, 9.0F}, {1.0F, 0}, {4}) == Values{-8, 7});
  CHECK(faked({-40000.0F, 300.4F, 40000.0F}, {1.0F, 0}, {16}) == Values{-32768, 300, 32767});
}

TEST_CASE("NaN stays NaN and its neighbours are not disturbed") {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t bad = 0; bad < size; ++bad) {
      Values x(size, 1.5F);
      x[bad] = kNan;
      const Values y = faked(x, {1.0F, 0});
      CAPTURE(size);
      CAPTURE(bad);
      for (std::size_t i = 0; i < size; ++i) CHECK((i == bad ? std::isnan(y[i]) : y[i] == 2.0F));
    }
  }
}

TEST_CASE("zero stays exactly zero whatever the offset") {
  for (int offset = -128; offset <= 127; ++offset) {
    CAPTURE(offset);
    CHECK(faked({0.0F, -0.0F}, {0.1F, offset}) == Values{0.0F, 0.0F});
    CHECK(faked<DivideAddRound>({0.0F, -0.0F}, {0.1F, offset}) == Values{0.0F, 0.0F});
  }
}

TEST_CASE("input and output may be the same memory") {
  Values x = {-1.3F, 0.2F, 0.8F};
  amct::fake_quantize(x, x, {0.5F, 0}, {8});
  CHECK(x == Values{-1.5F, 0.0F, 1.0F});
}

TEST_CASE("fake quantization equals quantization followed by dequantization") {
  const Affine affine{0.0372F, -14};
  for (std::size_t size = 0; size <= 67; ++size) {
    Values x;
    for (std::size_t i = 0; i < size; ++i) x.push_back(static_cast<float>(i * i % 113) * 0.117F - 5.0F);
    std::vector<std::int8_t> codes(size);
    Values expected(size);
    amct::quantize(std::span<const float>(x), std::span<std::int8_t>(codes), affine, {8});
    amct::dequantize(std::span<const std::int8_t>(codes), std::span<float>(expected), affine);
    CAPTURE(size);
    CHECK(faked(x, affine) == expected);
  }
}

TEST_CASE_TEMPLATE("every path fake-quantizes to the bits of the reference", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound) {
  for (const amct::Affine affine : kAwkwardAffines) {
    for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
      const auto all = support::awkward_floats(length + offset, affine.scale);
      const auto x = std::span<const float>(all).subspan(offset);
      for (const int bits : {4, 8, 16}) {
        std::vector<float> want(length);
        amct::kernel::reference::fake_quantize<Contract>(x, std::span(want), affine, amct::CodeRange{bits});
        on_every_path([&] {
          std::vector<float> got(length);
          amct::fake_quantize<Contract>(x, std::span(got), affine, amct::CodeRange{bits});
          CHECK(same_bits(got, want));
        });
      }
    });
  }
}
