// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/reduce_f32.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

using namespace amct;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// The order of summation, as the header states it.
double stated_sum(std::span<const float> x) {
  double total = 0.0;
  for (std::size_t block = 0; block < x.size(); block += kernel::kSumBlock) {
    float lanes[kernel::kSumLanes] = {};
    for (std::size_t i = block; i < std::min(x.size(), block + kernel::kSumBlock); ++i) {
      lanes[(i - block) % kernel::kSumLanes] += x[i];
    }
    for (const float lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

}  // namespace

TEST_CASE("sums are added in the stated order on every path") {
  for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
    const auto all = support::awkward_floats(length + offset, 0.3F, true);
    std::vector<float> values(all.begin() + static_cast<std::ptrdiff_t>(offset), all.end());
    for (float& value : values) value = std::fabs(value) < 1e6F ? value : 0.7F;
    std::vector<float> squares;
    for (const float value : values) squares.push_back((value - 0.5F) * (value - 0.5F));
    on_every_path([&] {
      CHECK(sum_f32(values) == stated_sum(values));
      CHECK(sum_of_squares_f32(values, 0.5F) == doctest::Approx(stated_sum(squares)).epsilon(1e-6));
    });
  });
}

TEST_CASE("sums and maxima of few known numbers") {
  CHECK(sum_f32({}) == 0.0);
  CHECK(sum_f32(std::vector<float>{1, 2, 4}) == 7.0);
  CHECK(sum_of_squares_f32(std::vector<float>{1, 2, 4}) == 21.0);
  CHECK(sum_of_squares_f32(std::vector<float>{1, 2, 4}, 2.0F) == 5.0);
  CHECK(max_f32({}) == -kInf);
  CHECK(max_f32(std::vector<float>{-3, -1, -2}) == -1.0F);
  CHECK_FALSE(std::signbit(max_f32(std::vector<float>{-0.0F, -0.0F})));
}

TEST_CASE("squares, powers and maxima are the same on every path") {
  for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
    const auto all = support::awkward_floats(length + offset, 0.01F, true);
    const auto x = std::span<const float>(all).subspan(offset);
    std::vector<float> want(length);
    const simd::Arch before = simd::active();
    simd::use(simd::Arch::scalar);
    const double squares = sum_of_squares_f32(x, 0.25F);
    const double powers = exp_f32(x, 3.0F, want);
    const float top = max_f32(x);
    simd::use(before);
    on_every_path([&] {
      std::vector<float> y(x.begin(), x.end());
      CHECK(sum_of_squares_f32(x, 0.25F) == squares);
      CHECK(exp_f32(y, 3.0F, y) == powers);
      CHECK(same_bits(y, want));
      CHECK(max_f32(x) == top);
    });
  });
}

TEST_CASE("exp_f32 gives powers and their sum") {
  const std::vector<float> x = {3, 3.0F + std::log(2.0F), -kInf};
  std::vector<float> y(3);
  CHECK(exp_f32(x, 3.0F, y) == doctest::Approx(3.0));
  CHECK(y[0] == 1.0F);
  CHECK(y[1] == doctest::Approx(2.0));
  CHECK(y[2] == 0.0F);
}

TEST_CASE("NaN and infinities at every place show in all results") {
  on_every_path([] {
    for (std::size_t place = 0; place < 70; ++place) {
      std::vector<float> x(70, 1.0F);
      x[place] = kNan;
      std::vector<float> y(70);
      CHECK(std::isnan(sum_f32(x)));
      CHECK(std::isnan(sum_of_squares_f32(x)));
      CHECK(std::isnan(exp_f32(x, 0.0F, y)));
      CHECK(std::isnan(max_f32(x)));
      x[place] = kInf;
      CHECK(max_f32(x) == kInf);
      CHECK(sum_f32(x) == static_cast<double>(kInf));
    }
  });
}
