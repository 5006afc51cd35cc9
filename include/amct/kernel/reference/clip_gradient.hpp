// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

namespace amct {

/// Where a fake-quantizer clips, in real values, and its scale.
struct ClipRange {
  float low = 0.0F;
  float high = 0.0F;
  float scale = 1.0F;
};

/// Sums over all elements. For clips c (ULQ), with E(v) = (round(v/s) - v/s) / (2^n - 1):
/// d c_max = inside / (2^n - 1) + above * (1 + E(c_max)) + below * E(c_min), and d c_min likewise.
/// For a learned scale (LSQ): d s = inside + below * q_min + above * q_max.
struct ClipGradient {
  double below = 0.0;   ///< sum of upstream where x < low
  double above = 0.0;   ///< sum of upstream where x > high
  double inside = 0.0;  ///< sum of upstream * (round(x/scale) - x/scale) elsewhere

  friend constexpr bool operator==(const ClipGradient&, const ClipGradient&) = default;
};

}  // namespace amct

namespace amct::kernel {

/// The order of summation, as in kernel/reference/residual.hpp: element i of a block goes to lane i % 16.
inline constexpr std::size_t kGradientLanes = 16;
inline constexpr std::size_t kGradientBlock = 1024;

}  // namespace amct::kernel

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

inline void add_clip_gradient_block(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                                    ClipGradient& sums) noexcept {
  float below[kGradientLanes] = {};
  float above[kGradientLanes] = {};
  float inside[kGradientLanes] = {};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t lane = i % kGradientLanes;
    if (x[i] < range.low) {
      below[lane] += upstream[i];
    } else if (x[i] > range.high) {
      above[lane] += upstream[i];
    } else {
      const float steps = x[i] / range.scale;
      inside[lane] += (round_half_even(steps) - steps) * upstream[i];
    }
  }
  for (std::size_t lane = 0; lane < kGradientLanes; ++lane) {
    sums.below += static_cast<double>(below[lane]);
    sums.above += static_cast<double>(above[lane]);
    sums.inside += static_cast<double>(inside[lane]);
  }
}

inline void add_clip_gradient(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                              ClipGradient& sums) noexcept {
  for (std::size_t first = 0; first < x.size(); first += kGradientBlock) {
    const std::size_t count = std::min(kGradientBlock, x.size() - first);
    add_clip_gradient_block(x.subspan(first, count), upstream.subspan(first, count), range, sums);
  }
}

inline void mask_clipped(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                         std::span<float> gradient) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    gradient[i] = x[i] < range.low || x[i] > range.high ? 0.0F : upstream[i];
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
