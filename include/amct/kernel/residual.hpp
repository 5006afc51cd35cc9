// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include <amct/kernel/reference/residual.hpp>

namespace amct {

/// A clip range and the scale that goes with it, as tried by a scale search.
struct ScaleCandidate {
  float low = 0.0F;
  float high = 0.0F;
  float scale = 1.0F;
};

/// Adds to `sums[i]` the squared error of quantizing `x` with candidate i: clip to [low, high], round to a multiple of
/// the scale (no integer grid, so no offset), compare with the unclipped value. Elements in float32, sums in double.
/// \note O(x.size() * candidates.size()), no allocation.
inline void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                  std::span<double> sums) noexcept {
  assert(candidates.size() == sums.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    sums[i] += kernel::reference::squared_residual(x, candidates[i].low, candidates[i].high, candidates[i].scale);
  }
}

}  // namespace amct
