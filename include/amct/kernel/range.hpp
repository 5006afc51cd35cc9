// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include <amct/core/status.hpp>
#include <amct/kernel/reference/range.hpp>

namespace amct {

/// Smallest and largest value seen so far; `min > max` before the first.
struct ValueRange {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();

  [[nodiscard]] constexpr bool empty() const noexcept { return min > max; }

  /// Takes in more values, which must be finite (see check_finite).
  void extend(std::span<const float> x) noexcept { kernel::reference::extend_range(x, min, max); }
};

/// Refuses data with a NaN or an infinity, naming the first one. O(n).
[[nodiscard]] inline Status check_finite(std::span<const float> x) noexcept {
  const std::size_t bad = kernel::reference::find_not_finite(x);
  if (bad == x.size()) return {};
  return {StatusCode::not_finite, bad, static_cast<double>(x[bad])};
}

}  // namespace amct
