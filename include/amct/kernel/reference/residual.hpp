// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

[[nodiscard]] inline double squared_residual(std::span<const float> x, float low, float high, float scale) noexcept {
  double sum = 0.0;
  for (const float value : x) {
    const float clipped = value < low ? low : (value > high ? high : value);
    const float residual = round_half_even(clipped / scale) * scale - value;
    sum += static_cast<double>(residual * residual);
  }
  return sum;
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
