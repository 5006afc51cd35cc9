// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <span>
#include <type_traits>

#include <amct/core/parallel.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/read.hpp>
#include <amct/kernel/reference/range.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/range-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
[[nodiscard]] inline Extremes part_extremes(std::span<const float> x) noexcept { AMCT_DISPATCH(extremes(x)) }

/// Large arrays are split over threads.
[[nodiscard]] inline Extremes extremes(std::span<const float> x) noexcept {
  constexpr std::size_t kGrain = std::size_t{1} << 22;
  if (x.size() <= kGrain) return part_extremes(x);
  Extremes all;
  std::mutex mutex;
  parallel_for(x.size(), kGrain, [&](std::size_t first, std::size_t count) {
    const Extremes part = part_extremes(x.subspan(first, count));
    const std::lock_guard lock(mutex);
    all.min = std::min(all.min, part.min);
    all.max = std::max(all.max, part.max);
    all.finite &= part.finite;
  });
  return all;
}

}  // namespace kernel

/// Smallest and largest value seen so far; `min > max` before the first.
struct ValueRange {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();

  [[nodiscard]] constexpr bool empty() const noexcept { return min > max; }
  /// Largest |value|, 0 before the first.
  [[nodiscard]] constexpr float abs_max() const noexcept { return empty() ? 0.0F : std::max(max, -min) + 0.0F; }

  /// Takes in more values, in one pass. Data with a NaN or an infinity are refused, naming the first one, and change
  /// nothing. A zero end is +0, whatever the signs of the zeros seen.
  /// \note O(n), no allocation, usable in constant expressions. Large arrays are split over threads.
  constexpr Status extend(std::span<const float> x) noexcept {
    const kernel::Extremes found = std::is_constant_evaluated() ? kernel::reference::extremes(x) : kernel::extremes(x);
    if (!found.finite) {
      const std::size_t bad = kernel::reference::find_not_finite(x);
      return {StatusCode::not_finite, bad, static_cast<double>(x[bad])};
    }
    min = (found.min < min ? found.min : min) + 0.0F;
    max = (found.max > max ? found.max : max) + 0.0F;
    return {};
  }
};

/// Refuses data with a NaN or an infinity, naming the first one. O(n).
[[nodiscard]] constexpr Status check_finite(std::span<const float> x) noexcept {
  ValueRange ignored;
  return ignored.extend(x);
}

}  // namespace amct
