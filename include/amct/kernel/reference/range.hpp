// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace amct::kernel::reference {

inline void extend_range(std::span<const float> x, float& min, float& max) noexcept {
  for (const float value : x) {
    min = value < min ? value : min;
    max = value > max ? value : max;
  }
}

/// Index of the first NaN or infinity, x.size() if there is none.
[[nodiscard]] inline std::size_t find_not_finite(std::span<const float> x) noexcept {
  constexpr float kLargest = std::numeric_limits<float>::max();
  std::size_t i = 0;
  while (i < x.size() && x[i] >= -kLargest && x[i] <= kLargest) ++i;
  return i;
}

}  // namespace amct::kernel::reference
