// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/log_histogram.hpp>
#include <amct/observe/log_histogram_observer.hpp>

namespace amct {

/// Numbers of the entropy calibration.
struct KlDivergenceOptions {
  Symmetry symmetry = Symmetry::symmetric;
  std::size_t num_of_bins = 2048;          ///< of the histogram of |x|, 256 .. 16384
  std::size_t max_bins = kDefaultLogBins;  ///< of what is kept of the data, 1024 .. 2^24; 20 bytes each

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool fine = num_of_bins >= 256 && num_of_bins <= 16384;
    if (const Status status = check_option(fine, "num_of_bins", static_cast<double>(num_of_bins), "256 .. 16384");
        !status) {
      return status;
    }
    return check_log_bins(max_bins);
  }
};

/// What the search found, for reports and tests.
struct KlDivergenceResult {
  Affine affine;
  float threshold = 0.0F;           ///< values beyond +-threshold are clipped
  std::size_t bins = 0;             ///< bins of |x| within the threshold; 0 if there was nothing to search
  std::vector<double> divergences;  ///< of each number of bins that was tried, from one bin a level to all bins
};

namespace kl_divergence {

/// Kullback-Leibler divergence, in nats, between the first bins of a histogram and what a number of levels keeps of
/// them.
///
/// For the first n bins, P is their counts with everything beyond added to the last one; Q spreads the sum of each of
/// `levels` groups of bins evenly over those bins of the group that are not empty. Both are divided by their sums. It
/// is infinite where P has values and Q has none.
class Divergence {
 public:
  explicit Divergence(std::vector<double> counts) : counts_(std::move(counts)), sums_(counts_.size() + 1) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      sums_[i + 1] = {sums_[i].count + counts_[i], sums_[i].entropy + entropy(counts_[i]),
                      sums_[i].occupied + (counts_[i] > 0.0 ? 1.0 : 0.0)};
    }
  }

  /// \pre levels <= bins <= all
  [[nodiscard]] double operator()(std::size_t bins, std::size_t levels) const noexcept {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double total = sums_.back().count;
    const double inside = sums_[bins].count;
    const double outliers = total - inside;
    const double last = counts_[bins - 1];
    if (inside == 0.0 || (last == 0.0 && outliers > 0.0)) return kInfinity;
    // sum of p log(p/q) over the bins, with q the same in each group; only the last bin of P holds more than its count.
    double sum = sums_[bins].entropy - entropy(last) + entropy(last + outliers);
    for (std::size_t level = 0; level < levels; ++level) {
      const Sums& from = sums_[level * bins / levels];
      const Sums& to = sums_[(level + 1) * bins / levels];
      const double count = to.count - from.count;
      if (count == 0.0) continue;
      const double weight = level + 1 == levels ? count + outliers : count;
      sum -= weight * std::log(count / (to.occupied - from.occupied));
    }
    return std::max(sum / total + std::log(inside / total), 0.0);
  }

 private:
  struct Sums {
    double count = 0.0;
    double entropy = 0.0;
    double occupied = 0.0;
  };

  [[nodiscard]] static double entropy(double count) noexcept { return count > 0.0 ? count * std::log(count) : 0.0; }

  std::vector<double> counts_;
  std::vector<Sums> sums_;  ///< of all bins before each
};

}  // namespace kl_divergence

/// Entropy calibration: clips where the distribution of |x| loses least information by quantization, as TensorRT and
/// MXNet calibrate activations.
///
/// A histogram of |x| over [0, max|x|] is cut to its first 2^(n-1) bins (128 for 8 bits), then to one bin more, and so
/// on up to all. Each cut is compared with its quantization to 2^(n-1) levels (kl_divergence::Divergence), and the
/// first one of the least divergence gives the threshold, the upper border of its last bin. The range is [-threshold,
/// threshold], shortened where the data do not reach as far, and then affine_from_range.
///
/// The first bin counts as many values as the second one, as in pytorch-quantization: zeros cost no information, and
/// the many zeros behind a ReLU would pull the threshold down. If the bins are no more than the levels (12 bits and
/// more with 2048 bins), there is nothing to search, and all values are covered.
///
/// Keeps a LogHistogram, no data: the result depends on the set of values alone, not on their order or split, and
/// max|x| need not be known beforehand. Values are in the right bin up to `max_bins` different ones, otherwise up to
/// one bin off. compute() is O(num_of_bins * levels + max_bins).
///
/// Degenerate data: zeros give scale 1; a constant or one value gives the range from zero to it. One huge outlier
/// leaves almost all values in the first bin, so prefer IFMR for such data. A range beyond float32 gives a scale that
/// is_usable refuses. Source: S. Migacz, 8-bit inference with TensorRT, GTC 2017.
class KlDivergence : public LogHistogramObserver<KlDivergenceOptions> {
 public:
  explicit KlDivergence(Options options = {}) : LogHistogramObserver(options) {}

  [[nodiscard]] Affine compute(CodeRange range) const { return search(range).affine; }

  /// The same choice with all divergences. \pre at least one batch
  [[nodiscard]] KlDivergenceResult search(CodeRange range) const {
    KlDivergenceResult result;
    const float largest = seen_.range().abs_max();
    result.threshold = largest;
    const auto levels = static_cast<std::size_t>(-range.min());
    if (largest > 0.0F && levels < options_.num_of_bins) {
      const kl_divergence::Divergence divergence(magnitudes(largest));
      for (std::size_t bins = levels; bins <= options_.num_of_bins; ++bins) {
        result.divergences.push_back(divergence(bins, levels));
      }
      const auto best = std::ranges::min_element(result.divergences) - result.divergences.begin();
      result.bins = levels + static_cast<std::size_t>(best);
      result.threshold = static_cast<float>(static_cast<double>(largest) * static_cast<double>(result.bins) /
                                            static_cast<double>(options_.num_of_bins));
    }
    const ValueRange& all = seen_.range();
    result.affine = affine_from_range(std::max(all.min, -result.threshold), std::min(all.max, result.threshold), range,
                                      options_.symmetry);
    return result;
  }

 private:
  /// Counts of |x| in bins of equal width over [0, largest].
  [[nodiscard]] std::vector<double> magnitudes(float largest) const {
    std::vector<double> counts(options_.num_of_bins);
    const double width = static_cast<double>(largest) / static_cast<double>(counts.size());
    for (std::size_t i = 0; i < seen_.bins(); ++i) {
      const auto bin = static_cast<std::size_t>(std::fabs(static_cast<double>(seen_.mean(i))) / width);
      counts[std::min(bin, counts.size() - 1)] += static_cast<double>(seen_.count(i));
    }
    counts[0] = counts[1];
    return counts;
  }
};

static_assert(Observer<KlDivergence>);

}  // namespace amct
