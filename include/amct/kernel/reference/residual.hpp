// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>

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

/// Whether the clip range is at most 4096 steps wide.
[[nodiscard]] constexpr bool has_few_steps(const ScaleCandidate& c) noexcept {
  constexpr float kFewSteps = 4096.0F;
  return c.high <= kFewSteps * c.scale && c.low >= -kFewSteps * c.scale;
}

}  // namespace amct::kernel

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

/// The distance of x from its clipped value's nearest multiple of the scale. The multiple is rounded to float32 as
/// AMCT's tensors are, which makes the distance of constants exactly 0.
///
/// Over few steps the multiple is chosen by the exact product with the reciprocal. Where that and the float32 quotient
/// choose differently the two multiples are equally far, within 2^-11 of a step, for so few values that the sum is the
/// same in float32. Over many steps the quotient chooses, as in AMCT.
[[nodiscard]] constexpr float residual(float x, const ScaleCandidate& c) noexcept {
  const float clipped = x < c.low ? c.low : (x > c.high ? c.high : x);
  if (!has_few_steps(c)) return round_half_even(clipped / c.scale) * c.scale - x;
  const float inverse = 1.0F / c.scale;
  const double product = static_cast<double>(clipped) * static_cast<double>(inverse);  // exact
  return static_cast<float>(round_half_even(product)) * c.scale - x;
}

/// sum + r * r with one rounding; in constant expressions, which have no fused operation, with a second one from
/// double.
[[nodiscard]] constexpr float add_square(float sum, float r) noexcept {
  if (!std::is_constant_evaluated()) return std::fma(r, r, sum);
  return static_cast<float>(static_cast<double>(r) * static_cast<double>(r) + static_cast<double>(sum));
}

/// Adds the squared residuals of at most one block to `sum`.
constexpr void add_residual_block(std::span<const float> block, const ScaleCandidate& candidate, double& sum) noexcept {
  float lanes[kResidualLanes] = {};
  for (std::size_t i = 0; i < block.size(); ++i) {
    const float r = residual(block[i], candidate);
    lanes[i % kResidualLanes] = add_square(lanes[i % kResidualLanes], r);
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
