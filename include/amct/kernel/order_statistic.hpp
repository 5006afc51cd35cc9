// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <span>

namespace amct {

/// The k-th largest value, k = 1 being the maximum. Reorders `values`, which must be free of NaN.
/// \pre 1 <= k <= values.size()
/// \note O(n) on average, no allocation.
[[nodiscard]] inline float kth_largest(std::span<float> values, std::size_t k) noexcept {
  assert(k >= 1 && k <= values.size());
  const auto position = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), position, values.end(), std::greater<>{});
  return *position;
}

/// The k-th smallest value, k = 1 being the minimum; otherwise as kth_largest.
[[nodiscard]] inline float kth_smallest(std::span<float> values, std::size_t k) noexcept {
  assert(k >= 1 && k <= values.size());
  const auto position = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), position, values.end());
  return *position;
}

}  // namespace amct
