// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

/// \file
/// Half-precision floats, and the reduced precisions that AMCT gives its scales.

namespace amct {

/// An IEEE 754 binary16 number, as its bits.
struct Half {
  std::uint16_t bits = 0;

  friend constexpr bool operator==(const Half&, const Half&) = default;  ///< of the bits: NaN equals itself, -0 not 0
};

AMCT_EXACT_BEGIN

/// The half next to `x`, halves to even: from 65520 on infinite, down to subnormals and zeros of either sign.
/// NaN stays NaN: quiet, with its sign and the upper bits of its payload, as hardware converts.
[[nodiscard]] constexpr Half to_half(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t half = 0x7C00U;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U | (magnitude >> 13 & 0x3FFU);
  } else if (magnitude < 0x38800000U) {  // below 2^-14: a multiple of 2^-24
    half = static_cast<std::uint32_t>(round_half_even(std::bit_cast<float>(magnitude) * 0x1p24F));
  } else if (magnitude < 0x47800000U) {  // below 2^16: the exponent moves from bias 127 to 15; may carry to infinity
    half = (magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | half)};
}

/// The float of the same value; exact. NaN becomes quiet and keeps its sign and payload.
[[nodiscard]] constexpr float to_float(Half x) noexcept {
  const std::uint32_t sign = (x.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = x.bits & 0x7FFFU;
  std::uint32_t bits = (magnitude << 13) + 0x38000000U;
  if (magnitude > 0x7C00U) {
    bits = 0x7FC00000U | magnitude << 13;
  } else if (magnitude == 0x7C00U) {
    bits = 0x7F800000U;
  } else if (magnitude < 0x0400U) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
  }
  return std::bit_cast<float>(sign | bits);
}

/// A float32 as it is, for code that takes both.
[[nodiscard]] constexpr float to_float(float x) noexcept { return x; }

/// A real number that array functions read: float32, or a half, which is promoted.
template <class X>
concept RealInput = std::same_as<X, float> || std::same_as<X, Half>;

/// "s19", the 19 bits that the NPU keeps of a dequant scale: the low 13 bits of the mantissa are cut off, not rounded.
/// NaN stays NaN.
[[nodiscard]] constexpr float truncate_s19(float x) noexcept {
  return x != x ? x : std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFFE000U);
}

namespace detail {

/// The float32 square root, rounded to nearest; NaN for negative numbers. Newton's method in double, since the
/// standard function is no constant expression.
[[nodiscard]] constexpr float square_root(float x) noexcept {
  if (x < 0.0F) return std::numeric_limits<float>::quiet_NaN();
  if (!(x > 0.0F && x <= std::numeric_limits<float>::max())) return x;
  const double value = x;
  double root = std::bit_cast<double>((std::bit_cast<std::uint64_t>(value) >> 1) + (std::uint64_t{1023} << 51));
  for (int i = 0; i < 5; ++i) root = 0.5 * (root + value / root);
  return static_cast<float>(root);
}

}  // namespace detail

/// AMCT's FORCE_FP16_QUANT for a scale: rounded to a half within 2^-14 .. 65504, otherwise the square of the half next
/// to its root. From 65520^2 on it becomes infinite and up to 2^-50 zero, which is_usable refuses.
[[nodiscard]] constexpr float to_fp16_precision(float scale) noexcept {
  if (scale >= 0x1p-14F && scale <= 65504.0F) return to_float(to_half(scale));
  const float root = to_float(to_half(detail::square_root(scale)));
  return root * root;
}

AMCT_EXACT_END

}  // namespace amct
