// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace amct::kernel {

/// Smallest and largest value; which of equal zeros is not said.
struct Extremes {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  bool finite = true;  ///< false if a NaN or an infinity was among the values; min and max mean nothing then
};

}  // namespace amct::kernel

namespace amct::kernel::reference {

[[nodiscard]] constexpr Extremes extremes(std::span<const float> x) noexcept {
  Extremes result;
  for (const float value : x) {
    result.min = value < result.min ? value : result.min;
    result.max = value > result.max ? value : result.max;
    result.finite &= value - value == 0.0F;
  }
  return result;
}

/// Index of the first NaN or infinity, x.size() if there is none.
[[nodiscard]] constexpr std::size_t find_not_finite(std::span<const float> x) noexcept {
  std::size_t i = 0;
  while (i < x.size() && (std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff) < 0x7f800000) ++i;
  return i;
}

}  // namespace amct::kernel::reference
