// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/log_histogram.hpp>
#include <amct/observe/log_histogram_observer.hpp>

namespace amct {

/// Numbers of the percentile observer.
struct PercentileOptions {
  Symmetry symmetry = Symmetry::asymmetric;
  double percentile = 99.99;               ///< in percent, [50, 100]; 100 covers all values
  std::size_t max_bins = kDefaultLogBins;  ///< 1024 .. 2^24; 20 bytes each

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool fine = percentile >= 50.0 && percentile <= 100.0;
    if (const Status status = check_option(fine, "percentile", percentile, "[50, 100]"); !status) return status;
    return check_log_bins(max_bins);
  }
};

namespace percentile {

AMCT_EXACT_BEGIN

/// How many of `count` values may be cut off so that at least `percent` of them are kept. A millionth of a value makes
/// up for percentages that have no exact double, such as 99.9.
[[nodiscard]] constexpr std::uint64_t cut(double percent, std::uint64_t count) noexcept {
  const double most = (100.0 - percent) / 100.0 * static_cast<double>(count) + 1e-6;
  return std::min(static_cast<std::uint64_t>(most), count - 1);
}

AMCT_EXACT_END

}  // namespace percentile

/// Covers a percentage of the values seen, and clips the outliers.
///
/// Symmetric: the smallest range around zero that keeps `percentile` percent of |x|. Asymmetric: half of the rest may
/// be cut off at each end, so that at least `percentile` percent lie between. No interpolation: ends are values of the
/// data. Few data lose nothing: with 99.99 it takes 10,000 values (asymmetric 20,000) until one is cut.
///
/// Keeps a LogHistogram, no data: the result depends on the set of values alone, not on their order or split. Exact up
/// to `max_bins` different values, as are the extremes always; otherwise within about 2^-10 of itself. compute() is
/// O(max_bins).
///
/// Degenerate data: one value or a constant gives the range from zero to it; zeros give scale 1; data of one sign
/// reach to zero; one outlier among enough data is cut off.
class Percentile : public LogHistogramObserver<PercentileOptions> {
 public:
  explicit Percentile(Options options = {}) : LogHistogramObserver(options) {}

  [[nodiscard]] Affine compute(CodeRange range) const noexcept {
    const ValueRange kept = clip();
    return affine_from_range(kept.min, kept.max, range, options_.symmetry);
  }

  /// The range that is kept. Symmetric ranges end where the data do, if these do not reach as far. \pre at least one
  /// batch
  [[nodiscard]] ValueRange clip() const noexcept {
    const ValueRange& all = seen_.range();
    const std::uint64_t total = seen_.total();
    if (options_.symmetry == Symmetry::symmetric) {
      const float limit = seen_.nth_largest_magnitude(percentile::cut(options_.percentile, total) + 1);
      return {std::max(all.min, -limit), std::min(all.max, limit)};
    }
    const std::uint64_t rank = percentile::cut(50.0 + options_.percentile / 2.0, total) + 1;
    return {seen_.nth_smallest(rank), seen_.nth_largest(rank)};
  }
};

static_assert(Observer<Percentile>);

}  // namespace amct
