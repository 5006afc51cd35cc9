// SPDX-License-Identifier: Apache-2.0
#include <amct/core/requantize.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>

#include <doctest/doctest.h>

namespace {

using amct::CodeRange;
using amct::fixed_multiplier;
using amct::FixedMultiplier;
using amct::RequantizeByMultiplier;
using amct::RequantizeByScales;
using amct::RequantizeDoubleRounding;
using amct::RequantizeFixedPoint;
using amct::RequantizeHalfAway;
using amct::RequantizeHalfUp;
using amct::RequantizeShifted;

constexpr CodeRange kInt8{8};
constexpr CodeRange kInt16{16};
constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

static_assert(amct::RequantizeContract<RequantizeByMultiplier<>> && amct::RequantizeContract<RequantizeByScales<>>);
static_assert(amct::RequantizeContract<RequantizeHalfUp> && amct::RequantizeContract<RequantizeHalfAway>);
static_assert(amct::RequantizeContract<RequantizeDoubleRounding> && amct::RequantizeContract<RequantizeShifted<>>);
static_assert(!amct::RequantizeContract<amct::ReciprocalRoundAdd>);

template <class Contract>
constexpr std::int32_t code(std::int32_t acc, typename Contract::Params params, std::int32_t offset = 0,
                            CodeRange range = kInt16) {
  return Contract::code(acc, params, offset, range);
}

__extension__ using BigInteger = __int128;

BigInteger clamped(BigInteger value, BigInteger low, BigInteger high) { return std::min(std::max(value, low), high); }

/// numerator / 2^bits with one rounding; bits <= 100.
template <class Mode>
BigInteger divided(BigInteger numerator, int bits) {
  if (bits <= 0) return numerator << -bits;
  const BigInteger unit = BigInteger{1} << bits;
  BigInteger floor = numerator / unit;
  if (floor * unit > numerator) --floor;
  const BigInteger twice_rest = 2 * (numerator - floor * unit);
  if (twice_rest != unit) return floor + (twice_rest > unit ? 1 : 0);
  if (std::is_same_v<Mode, amct::HalfUp>) return floor + 1;
  if (std::is_same_v<Mode, amct::HalfAway>) return floor + (numerator > 0 ? 1 : 0);
  return floor + (floor & 1);
}

std::int32_t saturated(BigInteger value, std::int32_t offset, CodeRange range) {
  return static_cast<std::int32_t>(clamped(value + offset, range.min(), range.max()));
}

/// acc * multiplier / 2^(31+shift) in 128 bits. A left shift beyond 60 saturates, a right one beyond 69 gives 0.
template <class Mode>
std::int32_t single_reference(std::int32_t acc, FixedMultiplier m, std::int32_t offset, CodeRange range) {
  const int shift = std::clamp(m.shift, -91, 69);
  return saturated(divided<Mode>(BigInteger{acc} * m.multiplier, 31 + shift), offset, range);
}

/// gemmlowp's two functions as they are published, with their truncating division and their mask.
std::int32_t double_reference(std::int32_t acc, FixedMultiplier m, std::int32_t offset, CodeRange range) {
  const BigInteger left = BigInteger{acc} * (BigInteger{1} << -std::clamp(m.shift, -40, 0));
  const auto a = static_cast<std::int32_t>(clamped(left, kMin, kMax));
  std::int32_t high = kMax;
  if (a != kMin || m.multiplier != kMin) {
    const std::int64_t product = std::int64_t{a} * m.multiplier;
    const std::int64_t nudge = product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
    high = static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
  }
  if (m.shift <= 0) return saturated(high, offset, range);
  if (m.shift > 31) return saturated(m.shift == 32 && high == kMin ? -1 : 0, offset, range);
  const std::int64_t mask = (std::int64_t{1} << m.shift) - 1;
  const std::int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return saturated((high >> std::min(m.shift, 31)) + ((high & mask) > threshold ? 1 : 0), offset, range);
}

/// Random integers of all magnitudes, with extremes.
struct Draw {
  std::mt19937_64 random{17};

  std::int32_t any() {
    constexpr std::int32_t kExtremes[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax, 1 << 30, -(1 << 30)};
    const auto bits = random();
    if (bits % 16 == 0) return kExtremes[bits / 16 % std::size(kExtremes)];
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32)) >> bits % 32;
  }
  std::int32_t multiplier() {
    const auto bits = random();
    if (bits % 8 == 0) return any();
    if (bits % 8 == 1) return kMax;
    return static_cast<std::int32_t>((std::uint32_t{1} << 30) + (bits >> 34));
  }
  int shift() {
    const auto bits = random();
    if (bits % 64 == 0) return bits / 64 % 2 == 0 ? kMax : kMin;
    return bits % 4 == 0 ? static_cast<int>(bits / 4 % 120) - 60 : static_cast<int>(bits / 4 % 34);
  }
};

struct Differences {
  int half_up = 0, half_away = 0, half_even = 0, double_rounding = 0, between = 0;
};

Differences compare(int triples) {
  Draw draw;
  Differences wrong;
  for (int i = 0; i < triples; ++i) {
    const std::int32_t acc = draw.any();
    const FixedMultiplier m{draw.multiplier(), draw.shift()};
    const std::int32_t offset = i % 64 == 0 ? draw.any() : static_cast<std::int32_t>(draw.random() % 256) - 128;
    const CodeRange range{i % 2 == 0 ? 16 : 8};
    const auto up = RequantizeHalfUp::code(acc, m, offset, range);
    const auto twice = RequantizeDoubleRounding::code(acc, m, offset, range);
    wrong.half_up += up != single_reference<amct::HalfUp>(acc, m, offset, range);
    wrong.half_away +=
        RequantizeHalfAway::code(acc, m, offset, range) != single_reference<amct::HalfAway>(acc, m, offset, range);
    wrong.half_even += RequantizeFixedPoint<amct::HalfEven>::code(acc, m, offset, range) !=
                       single_reference<amct::HalfEven>(acc, m, offset, range);
    wrong.double_rounding += twice != double_reference(acc, m, offset, range);
    wrong.between += m.shift >= 0 && std::abs(up - twice) > 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("C15 single and double rounding differ where the first rounding makes a tie") {
  constexpr FixedMultiplier kM{1583594044, 9};
  static_assert(code<RequantizeHalfUp>(7984, kM) == 11 && code<RequantizeHalfUp>(-7984, kM) == -11);
  static_assert(code<RequantizeHalfAway>(7984, kM) == 11 && code<RequantizeHalfAway>(-7984, kM) == -11);
  static_assert(code<RequantizeDoubleRounding>(7984, kM) == 12);
  CHECK(code<RequantizeDoubleRounding>(-7984, kM) == -12);
}

TEST_CASE("C15 1.5 million random triples agree with 128-bit integers") {
  const Differences wrong = compare(1500000);
  CHECK(wrong.half_up == 0);
  CHECK(wrong.half_away == 0);
  CHECK(wrong.half_even == 0);
  CHECK(wrong.double_rounding == 0);
  CHECK(wrong.between == 0);  // the two never differ by more than one code
}

TEST_CASE("halves of the single rounding go where the name says") {
  constexpr FixedMultiplier kHalf{1 << 30, 0};
  static_assert(code<RequantizeHalfUp>(5, kHalf) == 3 && code<RequantizeHalfUp>(-5, kHalf) == -2);
  static_assert(code<RequantizeHalfAway>(5, kHalf) == 3 && code<RequantizeHalfAway>(-5, kHalf) == -3);
  using Even = RequantizeFixedPoint<amct::HalfEven>;
  static_assert(code<Even>(5, kHalf) == 2 && code<Even>(-5, kHalf) == -2 && code<Even>(7, kHalf) == 4);
  static_assert(code<RequantizeDoubleRounding>(5, kHalf) == 3);
  CHECK(code<RequantizeDoubleRounding>(-5, kHalf) == -2);  // the high multiplication rounds halves up
}

TEST_CASE("fixed-point requantization is total") {
  static_assert(code<RequantizeHalfUp>(kMin, {kMax, 0}) == -32768);
  static_assert(code<RequantizeHalfUp>(kMin, {kMax, 16}) == -32768);
  static_assert(code<RequantizeHalfUp>(kMin, {kMax, 17}) == -16384);
  static_assert(code<RequantizeHalfUp>(kMin, {kMax, 31}) == -1 && code<RequantizeHalfUp>(kMin, {kMax, 32}) == 0);
  static_assert(code<RequantizeHalfAway>(kMin, {kMin, 32}) == 1, "2^62 / 2^63 is a half");
  static_assert(code<RequantizeHalfUp>(kMin, {kMin, 33}) == 0);
  static_assert(code<RequantizeHalfUp>(1, {1, -31}) == 1 && code<RequantizeHalfUp>(3, {1 << 30, -3}) == 12);
  static_assert(code<RequantizeHalfUp>(-1, {1, kMin}) == -32768 && code<RequantizeHalfUp>(0, {kMax, kMin}) == 0);
  static_assert(code<RequantizeHalfUp>(kMax, {kMax, kMax}, 7) == 7);
  static_assert(code<RequantizeDoubleRounding>(kMin, {kMin, 0}) == 32767, "gemmlowp's only overflow saturates");
  static_assert(code<RequantizeDoubleRounding>(kMin, {kMin, 17}) == 16384);
  static_assert(code<RequantizeDoubleRounding>(kMin, {kMax, kMax}, -9) == -9);
  static_assert(code<RequantizeDoubleRounding>(1, {kMax, kMin}) == 32767);
  static_assert(code<RequantizeHalfUp>(kMax, {kMax, 0}, kMax) == 32767);
  CHECK(code<RequantizeHalfUp>(kMin, {kMax, 0}, kMin, kInt8) == -128);
}

TEST_CASE("a real multiplier becomes the nearest Q31 multiplier and shift") {
  static_assert(fixed_multiplier(1.0) == FixedMultiplier{1 << 30, -1});
  static_assert(fixed_multiplier(0.5) == FixedMultiplier{1 << 30, 0});
  static_assert(fixed_multiplier(0x1p-10) == FixedMultiplier{1 << 30, 9});
  static_assert(fixed_multiplier(0x1.fffffffffffffp-1) == FixedMultiplier{1 << 30, -1}, "rounding carries");
  static_assert(fixed_multiplier(-0.75) == FixedMultiplier{-(3 << 29), 0});
  static_assert(fixed_multiplier(0x1p-1074) == FixedMultiplier{1 << 30, 1073}, "the smallest double");
  static_assert(fixed_multiplier(0.0) == FixedMultiplier{} && !amct::is_usable(fixed_multiplier(0.0)));
  static_assert(amct::is_usable(fixed_multiplier(1e-30)) && !amct::is_usable(fixed_multiplier(-1.0)));
  CHECK_FALSE(amct::is_usable(fixed_multiplier(std::numeric_limits<double>::quiet_NaN())));
  CHECK_FALSE(amct::is_usable(fixed_multiplier(std::numeric_limits<double>::infinity())));
}

TEST_CASE("the Q31 multiplier agrees with frexp and is exact for float32") {
  std::mt19937_64 random(23);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const double mantissa = 0.5 + static_cast<double>(random() >> 12) * 0x1p-53;
    const double real = std::ldexp(mantissa, static_cast<int>(random() % 2200) - 1120);
    if (!std::isfinite(real) || real == 0.0) continue;
    int exponent = 0;
    auto q31 = static_cast<std::int64_t>(std::round(std::ldexp(std::frexp(real, &exponent), 31)));
    if (q31 == std::int64_t{1} << 31) q31 /= 2, ++exponent;
    const FixedMultiplier m = fixed_multiplier(real);
    wrong += m.multiplier != q31 || m.shift != -exponent;
    wrong += fixed_multiplier(-real) != FixedMultiplier{-m.multiplier, m.shift};
    const auto narrow = static_cast<float>(mantissa);
    const FixedMultiplier exact = fixed_multiplier(static_cast<double>(narrow));
    wrong += std::ldexp(static_cast<double>(exact.multiplier), -31 - exact.shift) != static_cast<double>(narrow);
  }
  CHECK(wrong == 0);
}

TEST_CASE("a float multiplier works in float32, with halves to even and the offset behind") {
  using Merged = RequantizeByMultiplier<>;
  static_assert(code<Merged>(5, {0.5F}) == 2 && code<Merged>(7, {0.5F}) == 4 && code<Merged>(-5, {0.5F}) == -2);
  static_assert(code<Merged>(5, {0.5F}, 1) == 3);
  static_assert(code<RequantizeByMultiplier<amct::AddThenRound>>(5, {0.5F}, 1) == 4, "the NPU adds first");
  static_assert(code<RequantizeByMultiplier<amct::RoundThenAdd, amct::HalfAway>>(5, {0.5F}) == 3);
  static_assert(code<Merged>(16777217, {0x1p-10F}) == 16384, "the accumulator itself is rounded to float32");
  static_assert(code<Merged>(kMin, {1.0F}) == -32768 && code<Merged>(kMax, {1.0F}, 0, kInt8) == 127);
  CHECK(code<Merged>(3, {kNan}, 11) == 11);
  CHECK(code<Merged>(0, {kInf}, 11) == 11);
  CHECK(code<Merged>(-1, {kInf}, 11) == -32768);
}

TEST_CASE("ReQuant is dequantization and quantization, bit for bit") {
  std::mt19937 random(29);
  std::uniform_real_distribution<float> scales(1e-4F, 0.1F);
  int wrong = 0;
  int merged_differs = 0;
  for (int i = 0; i < 300000; ++i) {
    const float dequant = scales(random) * scales(random);
    const float next = scales(random);
    const auto acc = static_cast<std::int32_t>(random()) >> (8 + random() % 16);
    const auto offset = static_cast<std::int32_t>(random() % 256) - 128;
    const volatile float real = static_cast<float>(acc) * dequant;
    const volatile float inverse = 1.0F / next;
    const volatile float scaled = real * inverse;
    const float placed = std::nearbyint(scaled) + static_cast<float>(offset);
    const auto expected = static_cast<std::int32_t>(std::clamp(placed, -128.0F, 127.0F));
    wrong += code<RequantizeByScales<>>(acc, {dequant, next}, offset, kInt8) != expected;
    merged_differs += code<RequantizeByMultiplier<>>(acc, {dequant * inverse}, offset, kInt8) != expected;
  }
  CHECK(wrong == 0);
  CHECK(merged_differs < 300);  // and only near ties
  CHECK(code<RequantizeByScales<amct::DivideAddRound>>(5, {0.5F, 1.0F}, 1) == 4);
}

TEST_CASE("C15 ReQuant of extreme accumulators saturates") {
  static_assert(code<RequantizeByScales<>>(kMin, {1.0F, 1.0F}) == -32768);
  static_assert(code<RequantizeByScales<>>(kMax, {1.0F, 1.0F}) == 32767);
  CHECK(code<RequantizeByScales<>>(1, {kNan, 1.0F}, 5) == 5);
}

TEST_CASE("a bias is added modulo 2^32") {
  using amct::add_bias;
  static_assert(add_bias(5, -7) == -2 && add_bias(-5, 7) == 2 && add_bias(0, kMin) == kMin);
  static_assert(add_bias(kMax, 1) == kMin && add_bias(kMin, -1) == kMax, "wraps at both ends");
  static_assert(add_bias(kMax, kMax) == -2 && add_bias(kMin, kMin) == 0 && add_bias(kMin, kMax) == -1);
  CHECK(add_bias(2000000000, 2000000000) == -294967296);
}

TEST_CASE("shift_bit shifts with rounding down, clamps to int16 and scales back") {
  using amct::dequantize_shifted;
  using amct::shift_accumulator;
  static_assert(shift_accumulator(5, 1) == 2 && shift_accumulator(-5, 1) == -3 && shift_accumulator(-1, 16) == -1);
  static_assert(shift_accumulator(1 << 20, 4) == 32767 && shift_accumulator(-(1 << 20), 4) == -32768);
  static_assert(shift_accumulator(kMin, 16) == -32768 && shift_accumulator(kMax, 16) == 32767);
  static_assert(shift_accumulator(kMin, 31) == -1 && shift_accumulator(kMin, 1000) == -1);
  static_assert(shift_accumulator(kMax, kMax) == 0);
  static_assert(shift_accumulator(1 << 20, 0) == 1 << 20 && shift_accumulator(kMin, kMin) == kMin, "0: not shifted");
  static_assert(dequantize_shifted(-5, 0.25F, 1) == -1.5F && dequantize_shifted(1 << 20, 0.5F, 4) == 262136.0F);
  static_assert(dequantize_shifted(7, 0.25F, 0) == 1.75F);
  static_assert(code<RequantizeShifted<>>(-5, {0.25F, 0.5F, 1}) == -3);
  static_assert(code<RequantizeShifted<>>(-5, {0.25F, 0.5F, 0}) == -2, "-2.5 without the shift");
  CHECK(code<RequantizeShifted<>>(0, {1.0F, 1.0F, kMax}, 3) == 3);
  CHECK(code<RequantizeShifted<>>(-1, {1.0F, 1.0F, kMax}, 3) == -32768);
}

TEST_CASE("shift_bit agrees with AMCT's chain of power, division, floor and clip") {
  Draw draw;
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::int32_t acc = draw.any();
    const int k = 1 + i % 16;
    const double floor = std::clamp(std::floor(static_cast<double>(acc) / std::exp2(k)), -32768.0, 32767.0);
    wrong += static_cast<double>(amct::shift_accumulator(acc, k)) != floor;
    const float expected = static_cast<float>(floor * std::exp2(k)) * 3.1e-5F;
    wrong += amct::dequantize_shifted(acc, 3.1e-5F, k) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("contracts in float32 take sums beyond int32") {
  const std::int64_t sum = std::int64_t{5} << 32;
  const amct::CodeRange range = amct::Int8::range;
  CHECK(amct::RequantizeByMultiplier<>::code(sum, {0x1p-30F}, -3, range) == 17);
  CHECK(amct::RequantizeByScales<>::code(-sum, {0x1p-32F, 0.5F}, 1, range) == -9);
  CHECK(amct::RequantizeShifted<>::code(sum, {1.0F, 32768.0F, 4}, 0, range) == 16);  // 32767 * 16
  CHECK(amct::shift_accumulator(sum, 16) == 32767);
  CHECK(amct::shift_accumulator(sum, 0) == sum);
}
