// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

#include <amct/core/exact.hpp>

/// \file
/// Rounding to the nearest integer. The modes differ in what they do with halves only, and each is a named type.
/// All keep NaN, infinities and the sign of zero, and are usable in constant expressions. Half to even assumes the
/// default rounding mode of the processor; the other two are right under every mode.

namespace amct {

AMCT_EXACT_BEGIN

/// Rounds to the nearest integer, halves to the even one, as ONNX `Round` and IEEE 754 roundTiesToEven do.
/// Keeps NaN, infinities and the sign of zero. Usable in constant expressions; assumes the default rounding mode.
[[nodiscard]] constexpr float round_half_even(float x) noexcept {
  constexpr float kIntegersOnly = 8388608.0F;  // 2^23: from here on every float is an integer
  if (!(x < kIntegersOnly && x > -kIntegersOnly)) return x;
  const float shift = __builtin_copysignf(kIntegersOnly, x);
  return __builtin_copysignf((x + shift) - shift, x);
}

/// The same for double.
[[nodiscard]] constexpr double round_half_even(double x) noexcept {
  constexpr double kIntegersOnly = 4503599627370496.0;  // 2^52
  if (!(x < kIntegersOnly && x > -kIntegersOnly)) return x;
  const double shift = __builtin_copysign(kIntegersOnly, x);
  return __builtin_copysign((x + shift) - shift, x);
}

namespace detail {

/// value / 2^bits as its floor, and how the rest compares with one half.
struct HalvedQuotient {
  std::int64_t floor;
  std::strong_ordering rest;
};

/// Total: `bits` below 1 divide by 1.
[[nodiscard]] constexpr HalvedQuotient divide_by_power_of_two(std::int64_t value, int bits) noexcept {
  using std::strong_ordering;
  if (bits < 1) return {value, strong_ordering::less};
  if (bits > 64) return {value >> 63, value < 0 ? strong_ordering::greater : strong_ordering::less};
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  const std::uint64_t rest = static_cast<std::uint64_t>(value) & (half + (half - 1));
  return {value >> (bits < 63 ? bits : 63), rest <=> half};
}

}  // namespace detail

/// Halves to the even neighbour: AMCT, ONNX, numpy and torch. The default everywhere.
struct HalfEven {
  [[nodiscard]] static constexpr float round(float x) noexcept { return round_half_even(x); }
  [[nodiscard]] static constexpr double round(double x) noexcept { return round_half_even(x); }

  /// value / 2^bits, rounded once. Right for every value and every `bits`; those below 1 divide by 1.
  [[nodiscard]] static constexpr std::int64_t shift_right(std::int64_t value, int bits) noexcept {
    const auto [floor, rest] = detail::divide_by_power_of_two(value, bits);
    return floor + ((rest > 0 || (rest == 0 && floor % 2 != 0)) ? 1 : 0);
  }
};

/// Halves away from zero, as C's `round` does.
struct HalfAway {
  [[nodiscard]] static constexpr float round(float x) noexcept {
    if (!(x < 8388608.0F && x > -8388608.0F)) return x;
    const float magnitude = x < 0.0F ? -x : x;
    const auto whole = static_cast<float>(static_cast<std::int32_t>(magnitude));
    return __builtin_copysignf(whole + (magnitude - whole >= 0.5F ? 1.0F : 0.0F), x);
  }
  [[nodiscard]] static constexpr double round(double x) noexcept {
    if (!(x < 4503599627370496.0 && x > -4503599627370496.0)) return x;
    const double magnitude = x < 0.0 ? -x : x;
    const auto whole = static_cast<double>(static_cast<std::int64_t>(magnitude));
    return __builtin_copysign(whole + (magnitude - whole >= 0.5 ? 1.0 : 0.0), x);
  }

  /// value / 2^bits, rounded once. Right for every value and every `bits`; those below 1 divide by 1.
  [[nodiscard]] static constexpr std::int64_t shift_right(std::int64_t value, int bits) noexcept {
    const auto [floor, rest] = detail::divide_by_power_of_two(value, bits);
    return floor + ((rest > 0 || (rest == 0 && floor >= 0)) ? 1 : 0);
  }
};

/// Halves up: floor(x + 0.5) in exact arithmetic. The sum is never formed, so 0.49999997 stays 0 and 8388609 itself.
/// -0.5 and what lies between it and zero give -0.
struct HalfUp {
  [[nodiscard]] static constexpr float round(float x) noexcept {
    if (!(x < 8388608.0F && x > -8388608.0F)) return x;
    const auto whole = static_cast<float>(static_cast<std::int32_t>(x));  // towards zero, so the rest is exact
    const float rest = x - whole;
    return __builtin_copysignf(whole + (rest >= 0.5F ? 1.0F : 0.0F) - (rest < -0.5F ? 1.0F : 0.0F), x);
  }
  [[nodiscard]] static constexpr double round(double x) noexcept {
    if (!(x < 4503599627370496.0 && x > -4503599627370496.0)) return x;
    const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
    const double rest = x - whole;
    return __builtin_copysign(whole + (rest >= 0.5 ? 1.0 : 0.0) - (rest < -0.5 ? 1.0 : 0.0), x);
  }

  /// value / 2^bits, rounded once. Right for every value and every `bits`; those below 1 divide by 1.
  [[nodiscard]] static constexpr std::int64_t shift_right(std::int64_t value, int bits) noexcept {
    const auto [floor, rest] = detail::divide_by_power_of_two(value, bits);
    return floor + (rest >= 0 ? 1 : 0);
  }
};

AMCT_EXACT_END

/// A way of rounding real values to integers.
template <class R>
concept RoundingMode = requires(float x, double y) {
  { R::round(x) } -> std::same_as<float>;
  { R::round(y) } -> std::same_as<double>;
};

/// A way of rounding that also divides integers by powers of two, for fixed-point arithmetic.
template <class R>
concept ShiftRoundingMode = RoundingMode<R> && requires(std::int64_t value, int bits) {
  { R::shift_right(value, bits) } -> std::same_as<std::int64_t>;
};

}  // namespace amct
