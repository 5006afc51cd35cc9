// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/exact.hpp>

namespace amct::kernel {

/// Bins of equal width over [low, high], as computed with.
struct HistogramBins {
  float low = 0.0F;
  float high = 0.0F;
  float width = 0.0F;  ///< high - low, of all bins together
  float count = 0.0F;

  /// Whether no product of computing a bin overflows float32.
  [[nodiscard]] constexpr bool is_finite() const noexcept { return width * count <= std::numeric_limits<float>::max(); }
};

/// Most bins that the vector bodies count in; copies of the counts live on the stack.
inline constexpr std::size_t kMostVectorBins = 8192;

AMCT_EXACT_BEGIN

[[nodiscard]] constexpr HistogramBins histogram_bins(float low, float high, std::size_t count) noexcept {
  return {low, high, high - low, static_cast<float>(count)};
}

namespace reference {

/// Ranges too wide for float32 are computed in double.
[[nodiscard]] constexpr std::size_t bin_of(float value, const HistogramBins& bins) noexcept {
  if (bins.is_finite()) return static_cast<std::size_t>((value - bins.low) * bins.count / bins.width);
  const auto low = static_cast<double>(bins.low);
  const double width = static_cast<double>(bins.high) - low;
  return static_cast<std::size_t>((static_cast<double>(value) - low) * static_cast<double>(bins.count) / width);
}

constexpr void add_histogram(std::span<const float> x, const HistogramBins& bins,
                             std::span<std::uint64_t> counts) noexcept {
  for (const float value : x) {
    if (!(value >= bins.low && value <= bins.high)) continue;
    const std::size_t bin = bin_of(value, bins);
    ++counts[bin < counts.size() ? bin : counts.size() - 1];
  }
}

}  // namespace reference

AMCT_EXACT_END

}  // namespace amct::kernel
