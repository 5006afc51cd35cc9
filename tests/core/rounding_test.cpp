// SPDX-License-Identifier: Apache-2.0
#include <amct/core/rounding.hpp>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::HalfAway;
using amct::HalfEven;
using amct::HalfUp;
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

static_assert(amct::ShiftRoundingMode<HalfEven> && amct::ShiftRoundingMode<HalfAway>);
static_assert(amct::ShiftRoundingMode<HalfUp>);
static_assert(!amct::RoundingMode<float>);

static_assert(HalfUp::round(0.49999997F) == 0.0F, "0.49999997 + 0.5 is 1 in float32");
static_assert(HalfUp::round(8388609.0F) == 8388609.0F, "8388609 + 0.5 is 8388610 in float32");
static_assert(HalfUp::round(-8388609.0F) == -8388609.0F && HalfAway::round(8388609.0F) == 8388609.0F);
static_assert(HalfUp::round(8388607.5F) == 8388608.0F && HalfUp::round(-8388607.5F) == -8388607.0F);
static_assert(HalfAway::round(-8388607.5F) == -8388608.0F && HalfAway::round(0.49999997F) == 0.0F);
static_assert(HalfUp::round(0.49999999999999994) == 0.0 && HalfAway::round(0.49999999999999994) == 0.0);
static_assert(HalfUp::round(4503599627370497.0) == 4503599627370497.0);
static_assert(HalfAway::round(-2.5) == -3.0 && HalfUp::round(-2.5) == -2.0 && HalfEven::round(-2.5) == -2.0);

/// floor(x + 0.5), which 64 bits of mantissa hold exactly unless x is tiny; zeros keep the sign of x.
float half_up_reference(float x) {
  if (!std::isfinite(x)) return x;
  return std::copysign(static_cast<float>(std::floor(static_cast<long double>(x) + 0.5L)), x);
}

/// The floats of every `stride`-th bit pattern that `Mode` rounds differently from `reference`.
template <class Mode, class Reference>
std::int64_t differences(std::uint32_t stride, Reference reference) {
  std::int64_t count = 0;
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += stride) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    count += same(Mode::round(x), reference(x)) ? 0 : 1;
  }
  return count;
}

template <class Mode, class Real>
bool rounds_ties_to(std::initializer_list<Real> expected) {
  Real tie = Real{-2.5};
  for (const Real value : expected) {
    if (Mode::round(tie) != value) return false;
    tie += Real{1};
  }
  return true;
}

__extension__ using BigInteger = __int128;

/// value / 2^bits rounded with halves up, away from zero or to even, by integer arithmetic of 128 bits.
template <class Mode>
std::int64_t shift_reference(std::int64_t value, int bits) {
  if (bits < 1) return value;
  const BigInteger unit = BigInteger{1} << std::min(bits, 100);
  BigInteger floor = value / unit;
  if (floor * unit > value) --floor;
  const BigInteger twice_rest = 2 * (value - floor * unit);
  bool up = twice_rest > unit;
  if (twice_rest == unit) {
    up = std::is_same_v<Mode, HalfUp> || (std::is_same_v<Mode, HalfAway> ? value > 0 : (floor & 1) != 0);
  }
  return static_cast<std::int64_t>(floor + (up ? 1 : 0));
}

template <class Mode>
std::int64_t shift_differences() {
  std::mt19937_64 random(11);
  std::int64_t count = 0;
  for (int i = 0; i < 400000; ++i) {
    const int bits = static_cast<int>(random() % 75) - 3;
    auto value = static_cast<std::int64_t>(random()) >> random() % 64;
    if (bits > 1 && i % 2 == 0) {  // an exact tie, when it fits
      const int tail = std::min(bits, 63) - 1;
      value = static_cast<std::int64_t>((static_cast<std::uint64_t>(value) >> tail | 1U) << tail);
    }
    count += Mode::shift_right(value, bits) == shift_reference<Mode>(value, bits) ? 0 : 1;
  }
  constexpr std::int64_t kExtremes[] = {std::numeric_limits<std::int64_t>::min(), -1, 0, 1,
                                        std::numeric_limits<std::int64_t>::max()};
  for (const std::int64_t value : kExtremes) {
    for (int bits = -2; bits < 130; ++bits) {
      count += Mode::shift_right(value, bits) == shift_reference<Mode>(value, bits) ? 0 : 1;
    }
  }
  return count;
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

TEST_CASE("C13 the modes differ on halves") {
  CHECK(rounds_ties_to<HalfEven>({-2.0F, -2.0F, 0.0F, 0.0F, 2.0F, 2.0F}));
  CHECK(rounds_ties_to<HalfAway>({-3.0F, -2.0F, -1.0F, 1.0F, 2.0F, 3.0F}));
  CHECK(rounds_ties_to<HalfUp>({-2.0F, -1.0F, 0.0F, 1.0F, 2.0F, 3.0F}));
  CHECK(rounds_ties_to<HalfEven>({-2.0, -2.0, 0.0, 0.0, 2.0, 2.0}));
  CHECK(rounds_ties_to<HalfAway>({-3.0, -2.0, -1.0, 1.0, 2.0, 3.0}));
  CHECK(rounds_ties_to<HalfUp>({-2.0, -1.0, 0.0, 1.0, 2.0, 3.0}));
}

TEST_CASE("each mode agrees with an independent one on a strided subset of all floats") {
  for (const std::uint32_t stride : {1021U, 65536U}) {
    CAPTURE(stride);
    CHECK(differences<HalfEven>(stride, [](float x) { return std::nearbyint(x); }) == 0);
    CHECK(differences<HalfAway>(stride, [](float x) { return std::round(x); }) == 0);
    CHECK(differences<HalfUp>(stride, half_up_reference) == 0);
  }
}

TEST_CASE("each mode agrees with an independent one on ties and their neighbours") {
  std::int64_t wrong = 0;
  for (int k = -70000; k < 70000; ++k) {
    const float tie = static_cast<float>(k) + 0.5F;
    for (const float x : {std::nextafter(tie, -HUGE_VALF), tie, std::nextafter(tie, HUGE_VALF)}) {
      wrong += same(HalfAway::round(x), std::round(x)) && same(HalfUp::round(x), half_up_reference(x)) ? 0 : 1;
    }
    const double wide = k * 1048576.0 + 0.5;
    for (const double x : {std::nextafter(wide, -HUGE_VAL), wide, std::nextafter(wide, HUGE_VAL)}) {
      const auto up = static_cast<double>(std::floor(static_cast<long double>(x) + 0.5L));
      wrong += HalfAway::round(x) == std::round(x) && HalfUp::round(x) == up ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("each mode keeps NaN, infinities and the sign of zero") {
  const auto check = []<class Mode>() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    CHECK(std::isnan(Mode::round(std::numeric_limits<float>::quiet_NaN())));
    CHECK(std::isnan(Mode::round(std::numeric_limits<double>::quiet_NaN())));
    CHECK(Mode::round(kInf) == kInf);
    CHECK(Mode::round(-kInf) == -kInf);
    CHECK(std::signbit(Mode::round(-0.0F)));
    CHECK_FALSE(std::signbit(Mode::round(0.0F)));
    CHECK(std::signbit(Mode::round(-0.25F)));
    CHECK(std::signbit(Mode::round(-0.25)));
    CHECK(Mode::round(-1e-45F) == 0.0F);
    CHECK(Mode::round(std::numeric_limits<float>::max()) == std::numeric_limits<float>::max());
  };
  check.operator()<HalfEven>();
  check.operator()<HalfAway>();
  check.operator()<HalfUp>();
}

TEST_CASE("integers are divided by powers of two with one rounding") {
  static_assert(HalfEven::shift_right(5, 1) == 2 && HalfUp::shift_right(5, 1) == 3 && HalfAway::shift_right(5, 1) == 3);
  static_assert(HalfEven::shift_right(-5, 1) == -2 && HalfUp::shift_right(-5, 1) == -2);
  static_assert(HalfAway::shift_right(-5, 1) == -3 && HalfAway::shift_right(-1, 1) == -1);
  static_assert(HalfUp::shift_right(std::int64_t{1} << 62, 63) == 1, "half of 2^63 must not overflow");
  static_assert(HalfAway::shift_right(std::numeric_limits<std::int64_t>::min(), 64) == -1);
  static_assert(HalfUp::shift_right(-7, 0) == -7 && HalfUp::shift_right(-7, 1000) == 0);
  CHECK(shift_differences<HalfEven>() == 0);
  CHECK(shift_differences<HalfAway>() == 0);
  CHECK(shift_differences<HalfUp>() == 0);
}

TEST_CASE("C13 halves away and up are right under every rounding mode of the processor") {
  std::vector<float> values, away, up;  // the references are made under the default mode
  for (int k = -3000; k < 3000; ++k) {
    values.push_back(static_cast<float>(k) * 0.25F);
    away.push_back(std::round(values.back()));
    up.push_back(half_up_reference(values.back()));
  }
  std::int64_t wrong = 0;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    const int before = std::fegetround();
    std::fesetround(mode);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const volatile float stored = values[i];
      const float x = stored;
      wrong += same(HalfAway::round(x), away[i]) && same(HalfUp::round(x), up[i]) ? 0 : 1;
    }
    std::fesetround(before);
  }
  CHECK(wrong == 0);
}
