// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/order_statistic.hpp>
#include <amct/kernel/residual.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/log_histogram.hpp>
#include <amct/observe/log_histogram_observer.hpp>

namespace amct {

/// Numbers of the streaming IFMR: those of Ifmr, without a number of batches, and a limit of memory.
struct IfmrStreamOptions {
  Symmetry symmetry = Symmetry::asymmetric;
  double max_percentile = 0.999999;        ///< [0.5, 1]
  double min_percentile = 0.999999;        ///< [0.5, 1]
  double search_start = 0.7;               ///< > 0
  double search_end = 1.3;                 ///< > search_start
  double search_step = 0.01;               ///< (0, search_end - search_start]; at most 10,000 candidates
  std::size_t max_bins = kDefaultLogBins;  ///< 1024 .. 2^24; 20 bytes each

  /// The options of the search, for the functions of Ifmr.
  [[nodiscard]] constexpr IfmrOptions search() const noexcept {
    return {.symmetry = symmetry,
            .max_percentile = max_percentile,
            .min_percentile = min_percentile,
            .search_start = search_start,
            .search_end = search_end,
            .search_step = search_step};
  }
  [[nodiscard]] constexpr Status check() const noexcept {
    if (const Status status = search().check(); !status) return status;
    return check_log_bins(max_bins);
  }
};

namespace ifmr_stream {

AMCT_EXACT_BEGIN

/// Sum of the squared errors of some values, each as often as its count says, in double and in order.
[[nodiscard]] inline double residual_sum(std::span<const float> values, std::span<const std::uint64_t> counts,
                                         const ScaleCandidate& candidate) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto error = static_cast<double>(kernel::reference::residual(values[i], candidate));
    sum += error * error * static_cast<double>(counts[i]);
  }
  return sum;
}

AMCT_EXACT_END

}  // namespace ifmr_stream

/// IFMR without keeping the data: the same search as Ifmr over a LogHistogram, whose bins count as often as they have
/// values, each at the mean of its bin.
///
/// The result, and the state to the byte, depend on the set of values alone: not on their order, nor on how they were
/// split into batches or merged. Up to `max_bins` different values, percentiles and errors are those of Ifmr, but for
/// the order of summation. Beyond, values are known to about 2^-10 of themselves; the candidate chosen is then the one
/// of Ifmr or a neighbour on ordinary data at 8 bits. Errors are without the spread of the values within a bin, which
/// is the same for all candidates.
///
/// There is no number of batches: it is ready once it saw one, and takes any number. compute() is O(max_bins *
/// candidates), split over threads. Degenerate data as with Ifmr.
class IfmrStream : public LogHistogramObserver<IfmrStreamOptions> {
 public:
  explicit IfmrStream(Options options = {}) : LogHistogramObserver(options) {}

  [[nodiscard]] Affine compute(CodeRange range) const { return search(range).affine; }

  /// The same choice with the loss of every candidate. \pre at least one batch
  [[nodiscard]] IfmrResult search(CodeRange range) const {
    const IfmrOptions options = options_.search();
    const Tails ends = percentiles(options);
    const auto candidates = ifmr::candidates(ends.low, ends.high, range, options);
    IfmrResult result;
    result.percentile_max = ends.high;
    result.percentile_min = ends.low;
    result.losses = losses(candidates);
    result.best = static_cast<std::size_t>(std::ranges::min_element(result.losses) - result.losses.begin());
    result.affine = ifmr::affine(ends.low, candidates[result.best], range, options.symmetry);
    return result;
  }

 private:
  [[nodiscard]] Tails percentiles(const IfmrOptions& options) const noexcept {
    const std::uint64_t total = seen_.total();
    return {std::min(seen_.nth_smallest(ifmr::rank(options.min_percentile, total)), 0.0F),
            std::max(seen_.nth_largest(ifmr::rank(options.max_percentile, total)), 0.0F)};
  }

  [[nodiscard]] std::vector<double> losses(std::span<const ScaleCandidate> candidates) const {
    constexpr std::size_t kGrain = 8;
    std::vector<float> means(seen_.bins());
    in_default_fp_environment([&] {
      for (std::size_t bin = 0; bin < means.size(); ++bin) means[bin] = seen_.mean(bin);
    });
    const auto total = static_cast<double>(seen_.total());
    std::vector<double> result(candidates.size());
    parallel_for(candidates.size(), kGrain, [&](std::size_t first, std::size_t count) {
      in_default_fp_environment([&] {
        for (std::size_t i = first; i < first + count; ++i) {
          result[i] = ifmr_stream::residual_sum(means, seen_.state().counts, candidates[i]) / total;
        }
      });
    });
    return result;
  }
};

static_assert(Observer<IfmrStream>);

}  // namespace amct
