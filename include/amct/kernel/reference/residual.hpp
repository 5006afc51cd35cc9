// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

namespace amct {

/// A clip range and the scale that goes with it, as tried by a scale search.
struct ScaleCandidate {
  float low = 0.0F;
  float high = 0.0F;
  float scale = 1.0F;
};

}  // namespace amct

namespace amct::kernel {

/// The order of summation is part of the result: element i of a block goes to lane i % 16, lanes are summed in float32
/// in order, and the lanes of a block are added to the total in double. So every vector width can give the same bits.
inline constexpr std::size_t kResidualLanes = 16;
inline constexpr std::size_t kResidualBlock = 1024;

}  // namespace amct::kernel

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

[[nodiscard]] constexpr float residual(float x, const ScaleCandidate& c) noexcept {
  const float clipped = x < c.low ? c.low : (x > c.high ? c.high : x);
  return round_half_even(clipped / c.scale) * c.scale - x;
}

/// Adds the squared residuals of at most one block to `sum`.
constexpr void add_residual_block(std::span<const float> block, const ScaleCandidate& candidate, double& sum) noexcept {
  float lanes[kResidualLanes] = {};
  for (std::size_t i = 0; i < block.size(); ++i) {
    const float r = residual(block[i], candidate);
    lanes[i % kResidualLanes] += r * r;
  }
  for (const float lane : lanes) sum += static_cast<double>(lane);
}

constexpr void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                     std::span<double> sums) noexcept {
  for (std::size_t first = 0; first < x.size(); first += kResidualBlock) {
    const auto block = x.subspan(first, std::min(kResidualBlock, x.size() - first));
    for (std::size_t i = 0; i < candidates.size(); ++i) add_residual_block(block, candidates[i], sums[i]);
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
