// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/histogram.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// Numbers of the KL search, with AMCT's constants.
struct KlWeightOptions {
  std::size_t bins = 512;     ///< of the histogram over [-max|w|, max|w|], 2..65536
  std::size_t searches = 20;  ///< ranges tried; each is one bin narrower at both ends; 1..bins/2

  [[nodiscard]] constexpr Status check() const noexcept {
    for (const Status status :
         {check_option(bins >= 2 && bins <= 65536, "bins", static_cast<double>(bins), "2 .. 65536"),
          check_option(searches >= 1 && searches <= bins / 2, "searches", static_cast<double>(searches),
                       "1 .. bins / 2")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

/// What the search found, for reports and tests.
struct KlWeightResult {
  Affine affine;
  std::size_t best = 0;             ///< bins cut off at either end
  std::vector<double> divergences;  ///< of every range tried; none if all data are zero
};

namespace kl_weight {

AMCT_EXACT_BEGIN

/// The counts of bins [cut, size - cut), with what lies outside added to the bins at the ends.
[[nodiscard]] inline std::vector<double> saturate(std::span<const std::uint64_t> counts, std::size_t cut) {
  std::vector<double> window;
  for (const std::uint64_t count : counts.subspan(cut, counts.size() - 2 * cut)) {
    window.push_back(static_cast<double>(count));
  }
  for (std::size_t i = 0; i < cut; ++i) {
    window.front() += static_cast<double>(counts[i]);
    window.back() += static_cast<double>(counts[counts.size() - 1 - i]);
  }
  return window;
}

/// The distribution that `levels` codes can tell apart: each level covers bins ceil(j * bins / levels) up to the next
/// one's, and its count is spread evenly over those of them that are not empty.
[[nodiscard]] inline std::vector<double> merge(std::span<const double> window, std::size_t levels) {
  std::vector<double> merged(window.size(), 0.0);
  const auto edge = [&](std::size_t level) { return (level * window.size() + levels - 1) / levels; };
  for (std::size_t level = 0; level < levels; ++level) {
    double total = 0.0;
    double used = 0.0;
    for (std::size_t i = edge(level); i < edge(level + 1); ++i) {
      total += window[i];
      used += window[i] != 0.0 ? 1.0 : 0.0;
    }
    for (std::size_t i = edge(level); i < edge(level + 1); ++i) {
      if (window[i] != 0.0) merged[i] = total / used;
    }
  }
  return merged;
}

/// Removes zeros and makes the sum 1: zeros become 1e-4, and the others grow by 1e-4 * zeros / others, as in AMCT.
inline void smooth(std::span<double> counts) noexcept {
  constexpr double kEpsilon = 1e-4;
  const auto zeros = static_cast<double>(std::count(counts.begin(), counts.end(), 0.0));
  const double surplus = kEpsilon * zeros / (static_cast<double>(counts.size()) - zeros);
  double sum = 0.0;
  for (double& count : counts) sum += (count = count == 0.0 ? kEpsilon : count + surplus);
  for (double& count : counts) count /= sum;
}

/// Kullback-Leibler divergence of what `levels` codes can tell from the saturated counts, natural logarithm.
[[nodiscard]] inline double divergence(std::span<const std::uint64_t> counts, std::size_t cut, std::size_t levels) {
  std::vector<double> p = saturate(counts, cut);
  std::vector<double> q = merge(p, levels);
  smooth(p);
  smooth(q);
  double sum = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * std::log(p[i] / q[i]);
  return sum;
}

/// Scale of the range that begins `cut` bins above -abs_max: its lower end gets the most negative code. In float32.
[[nodiscard]] constexpr float scale(float abs_max, std::size_t cut, std::size_t bins, CodeRange range) noexcept {
  const float width = abs_max / (static_cast<float>(bins) * 0.5F);
  return (abs_max - static_cast<float>(cut) * width) / static_cast<float>(-range.min());
}

AMCT_EXACT_END

}  // namespace kl_weight

/// The scale of a weight by Kullback-Leibler divergence, which AdaRound starts from: AMCT's search for `ada_quantize`.
///
/// A histogram over [-max|w|, max|w|] is cut at both ends by 0, 1, .. bins; the range whose saturated histogram loses
/// the least information when only 2^n - 1 levels are told apart wins, of equal ones the widest. The scale is its end
/// divided by 2^(n-1), whichever end of the data is larger; offset 0.
/// All values zero, or a scale below 2^-23: scale 1. One element or one distinct value: nothing is cut. Codes of 9 and
/// more bits tell all bins apart, so nothing is cut either. A huge outlier leaves everything else in the bins around 0:
/// the cut never exceeds 19 of 256 bins. Source: AMCT's `kl_divergence`.
///
/// Keeps all batches in memory until reset: 4 bytes an element. compute() is O(n + searches * (bins + 2^n)).
class KlWeight {
 public:
  using Options = KlWeightOptions;
  struct State {
    std::vector<float> values;  ///< of all batches, in order
    float abs_max = 0.0F;
  };

  explicit KlWeight(Options options = {}) : options_(options) {}

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (batch.empty()) return {StatusCode::empty};
    ValueRange range;
    if (const Status status = range.extend(batch); !status) return status;
    seen_.values.insert(seen_.values.end(), batch.begin(), batch.end());
    seen_.abs_max = std::max(seen_.abs_max, range.abs_max());
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return !seen_.values.empty(); }
  [[nodiscard]] Affine compute(CodeRange range) const { return search(range).affine; }
  Status merge(const KlWeight& other) {
    seen_.values.insert(seen_.values.end(), other.seen_.values.begin(), other.seen_.values.end());
    seen_.abs_max = std::max(seen_.abs_max, other.seen_.abs_max);
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_; }
  void restore(State state) noexcept { seen_ = std::move(state); }
  void reset() noexcept { seen_ = {}; }

  /// The same choice with the divergence of every range tried. \pre at least one batch
  [[nodiscard]] KlWeightResult search(CodeRange range) const {
    KlWeightResult result;
    if (seen_.abs_max == 0.0F) return result;
    std::vector<std::uint64_t> counts(options_.bins);
    add_histogram(seen_.values, -seen_.abs_max, seen_.abs_max, counts);
    for (std::size_t cut = 0; cut < options_.searches; ++cut) {
      result.divergences.push_back(kl_weight::divergence(counts, cut, static_cast<std::size_t>(range.steps())));
    }
    const auto best = std::min_element(result.divergences.begin(), result.divergences.end());
    result.best = static_cast<std::size_t>(best - result.divergences.begin());
    const float scale = kl_weight::scale(seen_.abs_max, result.best, options_.bins, range);
    result.affine = replace_degenerate({scale, 0}, range, Symmetry::symmetric);
    return result;
  }

 private:
  Options options_;
  State seen_;
};

static_assert(Observer<KlWeight>);

}  // namespace amct
