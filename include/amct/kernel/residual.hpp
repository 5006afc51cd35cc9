// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>

#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/reference/residual.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/residual-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
inline void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                  std::span<double> sums) noexcept {
  AMCT_DISPATCH(add_squared_residuals(x, candidates, sums))
}

}  // namespace kernel

/// Adds to `sums[i]` the squared error of quantizing `x` with candidate i: clip to [low, high], round to a multiple of
/// the scale (no integer grid, so no offset), compare with the unclipped value. Elements and short partial sums in
/// float32 with fused operations, the rest in double (see kernel/reference/residual.hpp for the order).
/// \pre no NaN in x; usable scales
/// \note O(x.size() * candidates.size()), no allocation, usable in constant expressions. Large searches are split over
/// threads, with the same result.
constexpr void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                     std::span<double> sums) noexcept {
  assert(candidates.size() == sums.size());
  if (std::is_constant_evaluated()) return kernel::reference::add_squared_residuals(x, candidates, sums);
  // Split over candidates: the order of summation within one is part of the result.
  const std::size_t grain = x.size() < kernel::kParallelGrain ? candidates.size() : 16;
  parallel_for(candidates.size(), grain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { kernel::add_squared_residuals(x, candidates.subspan(first, count), sums.subspan(first, count)); });
  });
}

}  // namespace amct
