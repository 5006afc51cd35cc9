// SPDX-License-Identifier: Apache-2.0
#include <amct/core/rounding.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

namespace {

using amct::round_half_even;

static_assert(round_half_even(-2.5F) == -2.0F);
static_assert(round_half_even(-1.5F) == -2.0F);
static_assert(round_half_even(-0.5F) == 0.0F);
static_assert(round_half_even(0.5F) == 0.0F);
static_assert(round_half_even(1.5F) == 2.0F);
static_assert(round_half_even(2.5F) == 2.0F);
static_assert(round_half_even(0.49999997F) == 0.0F, "the float below one half must not become 1");
static_assert(round_half_even(8388607.5F) == 8388608.0F, "the largest float with a fraction");
static_assert(round_half_even(4194303.5F) == 4194304.0F);
static_assert(round_half_even(16777217.0) == 16777217.0);
static_assert(round_half_even(2.5) == 2.0);
static_assert(round_half_even(-3.5) == -4.0);
static_assert(round_half_even(4503599627370495.5) == 4503599627370496.0);

/// Same bits, or both NaN.
bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// The first float of every `stride`-th bit pattern that nearbyint rounds differently; -1 if none.
std::int64_t first_difference(std::uint32_t stride) {
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += stride) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!same(round_half_even(x), std::nearbyint(x))) return static_cast<std::int64_t>(bits);
  }
  return -1;
}

}  // namespace

TEST_CASE("rounding agrees with nearbyint on a strided subset of all floats") {
  CHECK(first_difference(251) == -1);    // odd: all low bits occur
  CHECK(first_difference(65536) == -1);  // short mantissas: many exact ties
}

TEST_CASE("rounding agrees with nearbyint on every tie up to 2^17 and its neighbours") {
  std::int64_t differences = 0;
  for (int k = -131072; k < 131072; ++k) {
    const float tie = static_cast<float>(k) + 0.5F;
    const float neighbours[] = {std::nextafter(tie, -HUGE_VALF), tie, std::nextafter(tie, HUGE_VALF)};
    for (const float x : neighbours) differences += same(round_half_even(x), std::nearbyint(x)) ? 0 : 1;
  }
  CHECK(differences == 0);
}

TEST_CASE("rounding keeps NaN, infinities and the sign of zero") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(round_half_even(std::numeric_limits<float>::quiet_NaN())));
  CHECK(round_half_even(kInf) == kInf);
  CHECK(round_half_even(-kInf) == -kInf);
  CHECK(std::signbit(round_half_even(-0.0F)));
  CHECK(std::signbit(round_half_even(-0.25F)));
  CHECK_FALSE(std::signbit(round_half_even(0.25F)));
  CHECK(std::signbit(round_half_even(-0.5)));
  CHECK(round_half_even(1e-45F) == 0.0F);
}

TEST_CASE("large values are integers already") {
  CHECK(round_half_even(8388608.0F) == 8388608.0F);
  CHECK(round_half_even(8388609.0F) == 8388609.0F);
  CHECK(round_half_even(-8388609.0F) == -8388609.0F);
  CHECK(round_half_even(std::numeric_limits<float>::max()) == std::numeric_limits<float>::max());
  CHECK(round_half_even(4503599627370497.0) == 4503599627370497.0);
}

TEST_CASE("double rounding agrees with nearbyint around ties") {
  for (int k = -5000; k < 5000; ++k) {
    const double tie = k * 1048576.0 + 0.5;
    for (const double x : {std::nextafter(tie, -HUGE_VAL), tie, std::nextafter(tie, HUGE_VAL)}) {
      CAPTURE(x);
      REQUIRE(round_half_even(x) == std::nearbyint(x));
    }
  }
}
