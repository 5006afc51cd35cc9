// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/read.hpp>
#include <amct/kernel/residual.hpp>
#include <amct/kernel/scale_bounds.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/bin_moments-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

/// The winner of a scale search.
struct ScaleChoice {
  std::size_t index = 0;
  double residual = 0.0;  ///< its sum of squared residuals

  friend constexpr bool operator==(const ScaleChoice&, const ScaleChoice&) = default;
};

namespace kernel {

/// On the active instruction set, on this thread. There is no scalar body: without vectors nothing is gained.
inline void add_bin_moments(std::span<const float> x, BinMoments& moments) noexcept {
  AMCT_DISPATCH_VECTOR(add_bin_moments(x, moments))
}

/// Counts from 0.
[[nodiscard]] constexpr std::vector<std::size_t> all_of_them(std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

/// Candidates that may be the best, in order: all but those whose lower bound is above another's upper bound.
[[nodiscard]] inline std::vector<std::size_t> find_finalists(std::span<const float> x,
                                                             std::span<const ScaleCandidate> candidates) {
  constexpr std::size_t kWorthBounds = std::size_t{1} << 18;
  std::vector<std::size_t> finalists = all_of_them(candidates.size());
  if (x.size() < kWorthBounds || candidates.size() < 8 || simd::active() == simd::Arch::scalar) return finalists;
  const Extremes ends = extremes(x);
  BinMoments moments(ends.min, ends.max);
  if (!moments.is_usable()) return finalists;
  std::mutex mutex;
  parallel_for(x.size(), std::size_t{1} << 21, [&](std::size_t first, std::size_t count) {
    BinMoments part(ends.min, ends.max);
    in_default_fp_environment([&] { add_bin_moments(x.subspan(first, count), part); });
    const std::lock_guard lock(mutex);
    moments.add(part);
  });
  in_default_fp_environment([&] {
    const MomentSums sums(moments);
    std::vector<LossBounds> bounds;
    double least = std::numeric_limits<double>::infinity();
    for (const ScaleCandidate& candidate : candidates) {
      bounds.push_back(sums.bounds(candidate));
      least = std::min(least, bounds.back().most);
    }
    std::erase_if(finalists, [&](std::size_t i) { return bounds[i].least > least; });
  });
  return finalists;
}

/// The same; all of them in constant expressions.
[[nodiscard]] constexpr std::vector<std::size_t> finalists(std::span<const float> x,
                                                           std::span<const ScaleCandidate> candidates) {
  if (std::is_constant_evaluated()) return all_of_them(candidates.size());
  return find_finalists(x, candidates);
}

}  // namespace kernel

/// The candidate with the smallest sum of squared residuals, the first of equal ones: exactly the one that
/// add_squared_residuals over all candidates would give, with the same sum.
///
/// On large data a histogram with the mean of each bin gives proven bounds of every sum first
/// (kernel/scale_bounds.hpp), and only candidates that can still win, usually a few, are computed. \pre no NaN or
/// infinity in x; usable scales; at least one candidate \note O(x.size() * candidates.size()) at worst. Large searches
/// are split over threads, with the same result.
[[nodiscard]] constexpr ScaleChoice find_best_scale(std::span<const float> x,
                                                    std::span<const ScaleCandidate> candidates) {
  assert(!candidates.empty());
  const std::vector<std::size_t> finalists = kernel::finalists(x, candidates);
  std::vector<ScaleCandidate> chosen;
  for (const std::size_t i : finalists) chosen.push_back(candidates[i]);
  std::vector<double> sums(chosen.size(), 0.0);
  add_squared_residuals(x, chosen, sums);
  const auto best = std::min_element(sums.begin(), sums.end());
  return {finalists[static_cast<std::size_t>(best - sums.begin())], *best};
}

}  // namespace amct
