// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/scale_search.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// How LuqMse lays its codes over the data.
enum class LuqScheme : std::uint8_t {
  symmetric,  ///< offset 0, scale = max|x| / q_max
  affine,     ///< all codes between minimum and maximum, which contain 0
  dynamic,    ///< affine if no value is negative, otherwise symmetric
};

/// Numbers of LuqMse, with the defaults of hotwheels.
struct LuqMseOptions {
  LuqScheme scheme = LuqScheme::symmetric;
  double search_start = 0.5;  ///< [0.5, 1.5], the first factor
  double search_end = 1.5;    ///< [search_start, 1.5], the last factor
  std::size_t steps = 100;    ///< number of factors, 1 to 10,000
  std::size_t batch_num = 1;  ///< batches to collect, at least 1

  [[nodiscard]] constexpr Status check() const noexcept {
    constexpr std::size_t kMostSteps = 10000;
    for (const Status status :
         {check_option(search_start >= 0.5 && search_start <= 1.5, "search_start", search_start, "[0.5, 1.5]"),
          check_option(search_end >= search_start && search_end <= 1.5, "search_end", search_end,
                       "[search_start, 1.5]"),
          check_option(steps >= 1 && steps <= kMostSteps, "steps", static_cast<double>(steps), "1 to 10000"),
          check_option(batch_num >= 1, "batch_num", static_cast<double>(batch_num), "at least 1")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

/// All batches that LuqMse has seen.
struct LuqMseState {
  std::vector<float> values;      ///< of all batches, in order
  std::vector<std::size_t> ends;  ///< where each batch ends in `values`
};

namespace luq_mse {

/// The ends of a range, max >= 0 >= min.
struct Range {
  float max = 0.0F;
  float min = 0.0F;
};

AMCT_EXACT_BEGIN

/// Factors tried: start + (end - start) * i / (steps - 1) in double, rounded to float32; only the start for one step.
[[nodiscard]] inline std::vector<float> ratios(const LuqMseOptions& options) {
  std::vector<float> result;
  const double width = options.search_end - options.search_start;
  const double last = static_cast<double>(std::max<std::size_t>(options.steps, 2) - 1);
  for (std::size_t i = 0; i < options.steps; ++i) {
    result.push_back(static_cast<float>(options.search_start + width * static_cast<double>(i) / last));
  }
  return result;
}

/// Scale and offset of a range. A symmetric one is max / q_max, also if the negative end was the larger one.
[[nodiscard]] inline Affine affine_of(const Range& ends, bool symmetric, CodeRange range) noexcept {
  if (!symmetric) return affine_from_range<Asymmetric>(ends.min, ends.max, range);
  return {ReplaceByOne{}(ends.max / static_cast<float>(range.max())), 0};
}

/// What quantization with an Affine clips and rounds to; the offset is an integer, so multiples of the scale are all
/// its values. Ends beyond float32 become its largest value.
[[nodiscard]] inline ScaleCandidate candidate(const Affine& affine, CodeRange range) noexcept {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float low = affine.scale * (static_cast<float>(range.min()) - static_cast<float>(affine.offset));
  const float high = affine.scale * (static_cast<float>(range.max()) - static_cast<float>(affine.offset));
  return {std::max(low, -kLargest), std::min(high, kLargest), affine.scale};
}

/// The range of a batch times the factor with the smallest mean squared error of quantization; of equal ones the first.
/// Factors that lead beyond float32 are not tried; without any the range itself is returned.
[[nodiscard]] inline Range best_range(std::span<const float> batch, bool symmetric, CodeRange range,
                                      std::span<const float> ratios) {
  ValueRange seen;
  (void)seen.extend(batch);
  const Range whole =
      symmetric ? Range{seen.abs_max(), 0.0F} : Range{std::max(seen.max, 0.0F), std::min(seen.min, 0.0F)};
  std::vector<Range> tried;
  std::vector<ScaleCandidate> candidates;
  for (const float ratio : ratios) {
    const Range scaled{ratio * whole.max, ratio * whole.min};
    const Affine affine = affine_of(scaled, symmetric, range);
    if (!is_usable(affine)) continue;
    tried.push_back(scaled);
    candidates.push_back(candidate(affine, range));
  }
  return tried.empty() ? whole : tried[find_best_scale(batch, candidates).index];
}

AMCT_EXACT_END

}  // namespace luq_mse

/// The observer of LUQ: the factor on the range of each batch that gives the smallest mean squared error, and the mean
/// of these ranges over all batches.
///
/// Symmetric: alpha = mean of factor * max|x|, scale = alpha / q_max, offset 0. Affine: the same with both ends of the
/// range, widened to contain 0; scale and offset by affine_from_range<Asymmetric>. Whether `dynamic` is affine depends
/// on all batches together.
///
/// Degenerate data: empty batches, NaN and Inf are refused. Zeros give scale 1, and the smallest code as offset if
/// affine; so do values too small for a scale of 2^-23. Constant and one-signed data have the range from 0. One huge
/// outlier decides the range, since factors below 0.5 are not tried. A range beyond float32 is
/// tried with the factors that bring it within; without any the scale is infinite.
///
/// Keeps all batches until reset: 4 bytes an element. compute() is O(n * steps) at worst, and on large data a few
/// passes (kernel/scale_search.hpp). The ranges and defaults are those of hotwheels' LuqMseObserver; formula, mean over
/// batches and the meaning of `dynamic` are choices of this library, for no source describes them.
class LuqMse {
 public:
  using Options = LuqMseOptions;
  using State = LuqMseState;

  explicit LuqMse(Options options = {}) noexcept : options_(options) {}

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (ready()) return {StatusCode::already_ready};
    if (batch.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(batch); !status) return status;
    append(batch);
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return seen_.ends.size() >= options_.batch_num; }

  [[nodiscard]] Affine compute(CodeRange range) const {
    const bool symmetric = is_symmetric();
    const std::vector<float> ratios = luq_mse::ratios(options_);
    double max = 0.0;
    double min = 0.0;
    std::size_t first = 0;
    for (const std::size_t end : seen_.ends) {
      const auto batch = std::span(seen_.values).subspan(first, end - first);
      const luq_mse::Range best = luq_mse::best_range(batch, symmetric, range, ratios);
      max += static_cast<double>(best.max);
      min += static_cast<double>(best.min);
      first = end;
    }
    const auto batches = static_cast<double>(seen_.ends.size());
    const luq_mse::Range mean{static_cast<float>(max / batches), static_cast<float>(min / batches)};
    return luq_mse::affine_of(mean, symmetric, range);
  }

  Status merge(const LuqMse& other) {
    const State theirs = other.seen_;  // other may be this one
    std::size_t first = 0;
    for (const std::size_t end : theirs.ends) {
      append(std::span(theirs.values).subspan(first, end - first));
      first = end;
    }
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_; }
  void restore(State state) noexcept { seen_ = std::move(state); }
  void reset() noexcept { seen_ = {}; }

 private:
  void append(std::span<const float> batch) {
    seen_.values.insert(seen_.values.end(), batch.begin(), batch.end());
    seen_.ends.push_back(seen_.values.size());
  }
  [[nodiscard]] bool is_symmetric() const noexcept {
    if (options_.scheme != LuqScheme::dynamic) return options_.scheme == LuqScheme::symmetric;
    ValueRange all;
    (void)all.extend(seen_.values);
    return all.min < 0.0F;
  }

  Options options_;
  State seen_;
};

static_assert(Observer<LuqMse>);

}  // namespace amct
