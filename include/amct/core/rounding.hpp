// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/core/exact.hpp>

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

AMCT_EXACT_END

}  // namespace amct
