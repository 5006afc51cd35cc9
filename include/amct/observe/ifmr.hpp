// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/order_statistic.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/residual.hpp>
#include <amct/kernel/scale_search.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// Numbers of IFMR, with AMCT's defaults. Doubles, since AMCT computes ranks and candidate counts in double.
struct IfmrOptions {
  Symmetry symmetry = Symmetry::asymmetric;
  std::size_t batch_num = 1;         ///< batches to collect before the search, at least 1
  double max_percentile = 0.999999;  ///< [0.5, 1]; config files allow (0.5, 1]
  double min_percentile = 0.999999;  ///< [0.5, 1]; config files allow (0.5, 1]
  double search_start = 0.7;         ///< > 0
  double search_end = 1.3;           ///< > search_start
  double search_step = 0.01;         ///< (0, search_end - search_start]; at most 10,000 candidates

  [[nodiscard]] constexpr Status check() const noexcept {
    constexpr double kMostCandidates = 10000.0;
    const auto percentile = [](double p) { return p >= 0.5 && p <= 1.0; };
    const double width = search_end - search_start;
    // Decimal steps such as 0.6 over 0.7..1.3 must not fail by the last bit of the difference.
    const bool fits =
        search_step > 0.0 && search_step <= width * (1.0 + 1e-9) && width <= search_step * kMostCandidates;
    for (const Status status :
         {check_option(batch_num >= 1, "batch_num", static_cast<double>(batch_num), "at least 1"),
          check_option(percentile(max_percentile), "max_percentile", max_percentile, "[0.5, 1]"),
          check_option(percentile(min_percentile), "min_percentile", min_percentile, "[0.5, 1]"),
          check_option(search_start > 0.0, "search_start", search_start, "above 0"),
          check_option(search_end > search_start && search_end <= 1e30, "search_end", search_end, "above search_start"),
          check_option(fits, "search_step", search_step, "(0, search_end - search_start], at most 10000 steps")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

/// What the search found, for reports and tests.
struct IfmrResult {
  Affine affine;
  float percentile_max = 0.0F;
  float percentile_min = 0.0F;
  std::size_t best = 0;        ///< index of the chosen candidate
  std::vector<double> losses;  ///< mean squared error of every candidate
};

namespace ifmr {

AMCT_EXACT_BEGIN

/// Rank from the end at which a percentile of `count` values lies: count - trunc(p * count), 1 if p is 1 within 2^-23.
[[nodiscard]] constexpr std::size_t rank(double percentile, std::size_t count) noexcept {
  if (1.0 - percentile < 1.192092896e-7) return 1;
  const auto below = static_cast<std::size_t>(percentile * static_cast<double>(count));
  return below >= count ? 1 : count - below;
}

/// Factors tried on the maximum: start + i*step as float32, ceil((end-start)/step) of them in double; so 0.7..1.3 step
/// 0.01 gives 61 and 0.5..1.0 step 0.05 gives 10.
///
/// The last bit follows the vector loop of torch.arange, which AMCT's numbers come from: whole blocks of 16 are made as
/// two groups of 8 that start at a value already rounded to float32; the rest is rounded once.
[[nodiscard]] constexpr std::vector<float> ratios(const IfmrOptions& options) {
  constexpr std::size_t kBlock = 16;
  constexpr std::size_t kGroup = 8;
  const double steps = (options.search_end - options.search_start) / options.search_step;
  const auto whole = static_cast<std::size_t>(steps);
  const std::size_t count = whole + (static_cast<double>(whole) < steps ? 1 : 0);
  const auto exact = [&](std::size_t i) { return options.search_start + options.search_step * static_cast<double>(i); };
  std::vector<float> values;
  const std::size_t in_blocks = count / kBlock * kBlock;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = i % kGroup;
    const auto base = static_cast<double>(static_cast<float>(exact(i - lane)));
    values.push_back(
        static_cast<float>(i < in_blocks ? base + static_cast<double>(lane) * options.search_step : exact(i)));
  }
  return values;
}

/// The clip ranges and scales to try. `max >= 0 >= min` are the percentiles; only the maximum is searched.
[[nodiscard]] constexpr std::vector<ScaleCandidate> candidates(float min, float max, CodeRange range,
                                                               const IfmrOptions& options) {
  const bool symmetric = options.symmetry == Symmetry::symmetric;
  const bool negative_dominates = max < -min;
  const float top = symmetric ? std::max(max, -min) : max;
  const float steps = symmetric ? static_cast<float>(negative_dominates ? -range.min() : range.max())
                                : static_cast<float>(range.steps());
  std::vector<ScaleCandidate> result;
  for (const float ratio : ratios(options)) {
    const float high = ratio * top;
    const float low = symmetric ? -high : min;
    const float scale = (symmetric ? high : high - low) / steps;
    result.push_back({low, high, scale < kScaleEpsilon ? 1.0F : scale});
  }
  return result;
}

/// Offset that goes with the chosen scale: -round(min/scale) - 2^(n-1); not clamped, as in AMCT.
[[nodiscard]] constexpr std::int32_t offset(float min, float scale, CodeRange range) noexcept {
  return static_cast<std::int32_t>(-round_half_even(min / scale)) + range.min();
}

/// Scale and offset of the chosen candidate. \param min  the lower percentile, at most 0
[[nodiscard]] constexpr Affine affine(float min, const ScaleCandidate& chosen, CodeRange range,
                                      Symmetry symmetry) noexcept {
  const Affine result{chosen.scale, 0};
  if (symmetry == Symmetry::symmetric || !is_usable(result)) return result;
  return {chosen.scale, offset(min, chosen.scale, range)};
}

AMCT_EXACT_END

}  // namespace ifmr

/// IFMR, input feature map reconstruction: AMCT's default observer of activations.
///
/// Takes the percentile range of all data, then tries factors on its maximum and keeps the scale with the smallest
/// mean squared error; of equal losses the first. Constant-zero data give scale 1. Source: spec of AMCT's `ifmr`.
/// Keeps all batches in memory until reset: 4 bytes an element. compute() is O(n * candidates) at worst, and on large
/// data a few passes (kernel/scale_search.hpp). Usable in constant expressions.
class Ifmr {
 public:
  using Options = IfmrOptions;
  struct State {
    std::vector<float> values;  ///< of all batches, in order
    std::size_t batches = 0;
  };

  constexpr explicit Ifmr(Options options = {}) : options_(options) {}

  constexpr Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (ready()) return {StatusCode::already_ready};
    if (batch.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(batch); !status) return status;
    seen_.values.insert(seen_.values.end(), batch.begin(), batch.end());
    ++seen_.batches;
    return {};
  }
  [[nodiscard]] constexpr bool ready() const noexcept { return seen_.batches >= options_.batch_num; }
  [[nodiscard]] constexpr Affine compute(CodeRange range) const {
    const Search plan = prepare(range);
    const std::size_t best = find_best_scale(seen_.values, plan.candidates).index;
    return ifmr::affine(plan.ends.low, plan.candidates[best], range, options_.symmetry);
  }
  constexpr Status merge(const Ifmr& other) {
    seen_.values.insert(seen_.values.end(), other.seen_.values.begin(), other.seen_.values.end());
    seen_.batches += other.seen_.batches;
    return {};
  }
  [[nodiscard]] constexpr const State& state() const noexcept { return seen_; }
  constexpr void restore(State state) noexcept { seen_ = std::move(state); }
  constexpr void reset() noexcept { seen_ = {}; }

  /// The same choice with the loss of every candidate, which takes longer on large data.
  [[nodiscard]] constexpr IfmrResult search(CodeRange range) const {
    const Search plan = prepare(range);
    IfmrResult result;
    result.percentile_max = plan.ends.high;
    result.percentile_min = plan.ends.low;
    result.losses.assign(plan.candidates.size(), 0.0);
    add_squared_residuals(seen_.values, plan.candidates, result.losses);
    for (double& loss : result.losses) loss /= static_cast<double>(seen_.values.size());
    result.best =
        static_cast<std::size_t>(std::min_element(result.losses.begin(), result.losses.end()) - result.losses.begin());
    result.affine = ifmr::affine(plan.ends.low, plan.candidates[result.best], range, options_.symmetry);
    return result;
  }

 private:
  struct Search {
    Tails ends;
    std::vector<ScaleCandidate> candidates;
  };

  [[nodiscard]] constexpr Search prepare(CodeRange range) const {
    const std::size_t count = seen_.values.size();
    const Tails found =
        tails(seen_.values, ifmr::rank(options_.min_percentile, count), ifmr::rank(options_.max_percentile, count));
    const Tails ends{std::min(found.low, 0.0F), std::max(found.high, 0.0F)};
    return {ends, ifmr::candidates(ends.low, ends.high, range, options_)};
  }

  Options options_;
  State seen_;
};

static_assert(Observer<Ifmr>);

}  // namespace amct
