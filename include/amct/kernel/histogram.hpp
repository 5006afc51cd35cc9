// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/read.hpp>
#include <amct/kernel/reference/histogram.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/histogram-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
inline void add_histogram(std::span<const float> x, const HistogramBins& bins,
                          std::span<std::uint64_t> counts) noexcept {
  const bool worth_copies = counts.size() <= kMostVectorBins && counts.size() * 4 <= x.size();
  if (worth_copies && has_exact_quotients(bins.width) && bins.is_finite()) {
    AMCT_DISPATCH_VECTOR(add_histogram(x, bins, counts))
  }
  reference::add_histogram(x, bins, counts);
}

}  // namespace kernel

/// Adds to `counts` how many values lie in each of counts.size() bins of equal width over [low, high], the last one
/// closed. A value is in bin trunc((x - low) * bins / (high - low)), in float32 (in double where that overflows), as
/// torch.histc counts. Values outside and NaN are not counted.
/// \pre low < high, both finite; 1 to 2^23 bins
/// \note O(n), no allocation. Large arrays of up to 8192 bins are split over threads, with the same result.
inline void add_histogram(std::span<const float> x, float low, float high, std::span<std::uint64_t> counts) noexcept {
  assert(low < high && !counts.empty() && counts.size() <= (std::size_t{1} << 23));
  const kernel::HistogramBins bins = kernel::histogram_bins(low, high, counts.size());
  constexpr std::size_t kGrain = std::size_t{1} << 22;
  if (counts.size() > kernel::kMostVectorBins || x.size() <= kGrain) {
    return in_default_fp_environment([&] { kernel::add_histogram(x, bins, counts); });
  }
  std::mutex mutex;
  parallel_for(x.size(), kGrain, [&](std::size_t first, std::size_t count) {
    std::uint64_t part[kernel::kMostVectorBins] = {};
    const auto of_part = std::span(part).first(counts.size());
    in_default_fp_environment([&] { kernel::add_histogram(x.subspan(first, count), bins, of_part); });
    const std::lock_guard lock(mutex);
    for (std::size_t bin = 0; bin < counts.size(); ++bin) counts[bin] += of_part[bin];
  });
}

}  // namespace amct
