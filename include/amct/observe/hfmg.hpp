// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
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

/// Numbers of HFMG, with AMCT's defaults.
struct HfmgOptions {
  Symmetry symmetry = Symmetry::asymmetric;
  std::size_t batch_num = 1;       ///< batches to collect before the search, at least 1
  std::size_t num_of_bins = 4096;  ///< 1024, 2048, 4096 or 8192

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool known = num_of_bins == 1024 || num_of_bins == 2048 || num_of_bins == 4096 || num_of_bins == 8192;
    for (const Status status :
         {check_option(batch_num >= 1, "batch_num", static_cast<double>(batch_num), "at least 1"),
          check_option(known, "num_of_bins", static_cast<double>(num_of_bins), "1024, 2048, 4096 or 8192")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

/// What HFMG has seen: a histogram of equal bins over [range.min, range.max]. No counts before the first batch.
struct HfmgState {
  ValueRange range;
  std::vector<std::uint64_t> counts;
  std::size_t batches = 0;
};

/// Neighbouring bins, both ends included.
struct HfmgRange {
  std::size_t left = 0;
  std::size_t right = 0;

  friend constexpr bool operator==(const HfmgRange&, const HfmgRange&) = default;
};

/// What the search found, for reports and tests.
struct HfmgResult {
  Affine affine;
  ValueRange clip;                ///< where the chosen bins begin and end
  std::size_t best = 0;           ///< index of the chosen range
  std::vector<HfmgRange> ranges;  ///< all that were tried, in order
  std::vector<double> losses;     ///< squared error of each, summed over all values
};

namespace hfmg {

AMCT_EXACT_BEGIN

/// Adds the values to a histogram over their range. A range of no width counts as one that reaches 1 to both sides, as
/// in torch.histc: all values are in the middle bin.
inline void add_counts(std::span<const float> x, float low, float high, std::span<std::uint64_t> counts) noexcept {
  if (low < high) return add_histogram(x, low, high, counts);
  counts[counts.size() / 2] +=
      static_cast<std::uint64_t>(std::ranges::count_if(x, [&](float value) { return value == low; }));
}

/// Adds a histogram over the range `from` to one of as many bins over the wider range `to`. A bin that lies in one new
/// bin moves as a whole. One that crosses a border gives the lower bin the part of its count that its width tells, cut
/// off to an integer, and the upper one the rest. Ends that agree within 2^-23 mean the same bins.
/// \pre `to` covers `from`; at least as many bins in `to` as in `from`
inline void add_rebinned(std::span<const std::uint64_t> old, ValueRange from, ValueRange to,
                         std::span<std::uint64_t> counts) noexcept {
  const double from_low = from.min;
  const double to_low = to.min;
  const double limit = kScaleEpsilon;
  if (std::fabs(from_low - to_low) < limit && std::fabs(double{from.max} - double{to.max}) < limit) {
    std::ranges::transform(old, counts, counts.begin(), std::plus<>{});
    return;
  }
  const double width = (double{from.max} - from_low) / static_cast<double>(old.size());
  const double step = (double{to.max} - to_low) / static_cast<double>(counts.size());
  const auto bin_of = [&](double value) {
    const auto bin = static_cast<std::size_t>(std::max(std::floor((value - to_low) / step), 0.0));
    return std::min(bin, counts.size() - 1);
  };
  for (std::size_t k = 0; k < old.size(); ++k) {
    if (old[k] == 0) continue;
    const double low = from_low + static_cast<double>(k) * width;
    const double high = low + width;
    const std::size_t first = bin_of(low);
    const std::size_t last = bin_of(high);
    if (first == last) {
      counts[first] += old[k];
      continue;
    }
    const double border = to_low + static_cast<double>(first + 1) * step;
    const double part = std::clamp((border - low) / (high - low), 0.0, 1.0);
    const auto below = static_cast<std::uint64_t>(static_cast<double>(old[k]) * part);
    counts[first] += below;
    counts[last] += old[k] - below;
  }
}

/// Width of one of `bins` bins.
[[nodiscard]] inline float bin_width(ValueRange range, std::size_t bins) noexcept {
  return (range.max - range.min) / static_cast<float>(bins);
}

/// Where some bins begin and end.
[[nodiscard]] inline ValueRange ends(HfmgRange chosen, ValueRange range, std::size_t bins) noexcept {
  const float width = bin_width(range, bins);
  return {range.min + static_cast<float>(chosen.left) * width,
          range.min + static_cast<float>(chosen.right + 1) * width};
}

/// The ranges that are tried, from wide to narrow. Each turn looks from both ends for the bins that hold the next
/// 1/100,000 of all values, and drops the side where these are more bins, the right one of equals. Ends when at most a
/// quarter of the bins is left. The full range is never among them, as in AMCT.
[[nodiscard]] inline std::vector<HfmgRange> search_ranges(std::span<const std::uint64_t> counts) {
  constexpr std::uint64_t kStepDivisor = 100000;
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::uint64_t step = std::max<std::uint64_t>(total / kStepDivisor + (total % kStepDivisor != 0 ? 1 : 0), 1);
  std::vector<HfmgRange> ranges;
  HfmgRange now{0, counts.size() - 1};
  while (now.right - now.left > (counts.size() + 3) / 4) {
    std::size_t left = now.left;
    for (std::uint64_t sum = 0; sum < step && left < now.right; ++left) sum += counts[left];
    std::size_t right = now.right;
    for (std::uint64_t sum = 0; sum < step && right > left; --right) sum += counts[right];
    if (now.right - right >= left - now.left) {
      now.right = right;
    } else {
      now.left = left;
    }
    ranges.push_back(now);
  }
  return ranges;
}

/// Squared error of quantizing the values of a histogram over one of its ranges with 2^n steps, as an integral: the
/// values of a bin count as evenly spread over it, those outside go to the nearest step.
///
/// Terms are float32, as in AMCT, and their sums double. Widths are scaled by a power of two, which changes no bit but
/// lets no cube overflow.
class Loss {
 public:
  /// \param width of a bin
  Loss(std::span<const std::uint64_t> counts, float width, CodeRange range) noexcept
      : counts_(counts),
        steps_(static_cast<float>(range.steps() + 1)),
        usable_(width > 0.0F && width <= std::numeric_limits<float>::max()),
        exponent_(usable_ ? std::ilogb(width) : 0),
        width_(width),
        unit_(usable_ ? std::ldexp(width, -exponent_) : 1.0F) {}

  /// The error, or any value of at least `enough` if it is not below that. Steps narrower than 2^-23 have none, as in
  /// AMCT.
  [[nodiscard]] double operator()(HfmgRange tried,
                                  double enough = std::numeric_limits<double>::infinity()) const noexcept {
    const auto bins = static_cast<float>(tried.right - tried.left + 1);
    if (!usable_ || width_ * bins / steps_ < kScaleEpsilon) return 0.0;
    const float step = unit_ * bins / steps_;
    const double limit = std::ldexp(enough, -2 * exponent_);
    double sum = 0.0;
    for (std::size_t k = 0; k < tried.left && sum < limit; ++k) sum += outside(k, tried.left, step / 2.0F);
    const float last_centre = (steps_ - 1.0F) * step + step / 2.0F;
    for (std::size_t k = counts_.size(); --k > tried.right && sum < limit;) sum += outside(k, tried.left, last_centre);
    for (std::size_t k = tried.left; k <= tried.right && sum < limit; ++k) sum += inside(k, tried.left, step);
    return std::ldexp(sum, 2 * exponent_);
  }

 private:
  /// Integral of the squared distance over [from, to], times a density.
  [[nodiscard]] static float moment(float from, float to, float density) noexcept {
    return (to * to * to - from * from * from) / 3.0F * density;
  }
  [[nodiscard]] float density(std::size_t bin) const noexcept { return static_cast<float>(counts_[bin]) / unit_; }
  /// Distance of a bin's lower border from the range's, negative to the left.
  [[nodiscard]] float border(std::size_t bin, std::size_t left) const noexcept {
    return (static_cast<float>(bin) - static_cast<float>(left)) * unit_;
  }

  [[nodiscard]] double outside(std::size_t bin, std::size_t left, float centre) const noexcept {
    if (counts_[bin] == 0) return 0.0;
    const float from = border(bin, left);
    return static_cast<double>(moment(from - centre, from + unit_ - centre, density(bin)));
  }

  [[nodiscard]] double inside(std::size_t bin, std::size_t left, float step) const noexcept {
    if (counts_[bin] == 0) return 0.0;
    const float from = border(bin, left);
    const float to = from + unit_;
    const float rho = density(bin);
    const float half = step / 2.0F;
    const float first = std::clamp(std::floor(from / step), 0.0F, steps_ - 1.0F);
    const float last = std::clamp(std::floor(to / step), 0.0F, steps_ - 1.0F);
    const float centre = first * step + half;
    if (first == last) return static_cast<double>(moment(from - centre, to - centre, rho));
    return static_cast<double>(moment(from - centre, half, rho) + (last - first - 1.0F) * moment(-half, half, rho) +
                               moment(-half, to - last * step - half, rho));
  }

  std::span<const std::uint64_t> counts_;
  float steps_;
  bool usable_;
  int exponent_;
  float width_;
  float unit_;  ///< width_ scaled to [1, 2)
};

AMCT_EXACT_END

}  // namespace hfmg

/// HFMG, histogram feature map glutton: AMCT's observer of activations with fixed memory.
///
/// Counts all values in a histogram, cuts its sparser end off step by step (hfmg::search_ranges), and keeps the range
/// whose quantization has the smallest squared error (hfmg::Loss), the first of equal ones. At least one bin and
/// 1/100,000 of all values are always lost, so one end of the data is always clipped a little. 8 bytes a bin. compute()
/// is O(bins * ranges), at most about bins^2. Source: AMCT's `hfmg`.
///
/// The result depends on the order of batches if their ranges differ, since a later, wider batch moves counts into new
/// bins (hfmg::add_rebinned). IfmrStream does not.
///
/// Degenerate data: a constant or a single value gives the range from zero to it; zeros give scale 1. Quantization
/// steps narrower than 2^-23 count as free of error, as in AMCT, so that 16 bits of a range below 1/32 usually end at
/// scale 1. A range that float32 cannot hold gives a scale that is_usable refuses.
class Hfmg {
 public:
  using Options = HfmgOptions;
  using State = HfmgState;

  explicit Hfmg(Options options = {}) noexcept : options_(options) {}

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (ready()) return {StatusCode::already_ready};
    if (batch.empty()) return {StatusCode::empty};
    ValueRange range = seen_.range;
    if (const Status status = range.extend(batch); !status) return status;
    std::vector<std::uint64_t> counts(options_.num_of_bins);
    hfmg::add_counts(batch, range.min, range.max, counts);
    if (seen_.batches > 0) hfmg::add_rebinned(seen_.counts, seen_.range, range, counts);
    seen_ = {range, std::move(counts), seen_.batches + 1};
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return seen_.batches >= options_.batch_num; }
  [[nodiscard]] Affine compute(CodeRange range) const {
    const hfmg::Loss loss(seen_.counts, width(), range);
    const std::vector<HfmgRange> ranges = hfmg::search_ranges(seen_.counts);
    HfmgRange best = ranges.front();
    double least = loss(best);
    for (const HfmgRange& tried : std::span(ranges).subspan(1)) {
      const double found = loss(tried, least);
      if (!(found < least)) continue;
      least = found;
      best = tried;
    }
    return affine(best, range);
  }
  /// Counts of both over the range of both. Exact where the ranges agree; otherwise the counts of both move into new
  /// bins, so the result can differ by a bin from that of one observer. Other numbers of bins are a size_mismatch.
  Status merge(const Hfmg& other) {
    if (other.seen_.batches == 0) return {};
    if (seen_.batches == 0) {
      if (other.seen_.counts.size() != options_.num_of_bins) return {StatusCode::size_mismatch};
      seen_ = other.seen_;
      return {};
    }
    if (other.seen_.counts.size() != seen_.counts.size()) return {StatusCode::size_mismatch};
    const ValueRange range{std::min(seen_.range.min, other.seen_.range.min),
                           std::max(seen_.range.max, other.seen_.range.max)};
    std::vector<std::uint64_t> counts(seen_.counts.size());
    hfmg::add_rebinned(seen_.counts, seen_.range, range, counts);
    hfmg::add_rebinned(other.seen_.counts, other.seen_.range, range, counts);
    seen_ = {range, std::move(counts), seen_.batches + other.seen_.batches};
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_; }
  /// \pre a state of an observer with the same options
  void restore(State state) noexcept { seen_ = std::move(state); }
  void reset() noexcept { seen_ = {}; }

  /// The same choice with the loss of every range, which takes longer. \pre at least one batch
  [[nodiscard]] HfmgResult search(CodeRange range) const {
    const hfmg::Loss loss(seen_.counts, width(), range);
    HfmgResult result;
    result.ranges = hfmg::search_ranges(seen_.counts);
    for (const HfmgRange& tried : result.ranges) result.losses.push_back(loss(tried));
    result.best = static_cast<std::size_t>(std::ranges::min_element(result.losses) - result.losses.begin());
    result.clip = hfmg::ends(result.ranges[result.best], seen_.range, seen_.counts.size());
    result.affine = affine(result.ranges[result.best], range);
    return result;
  }

 private:
  [[nodiscard]] float width() const noexcept { return hfmg::bin_width(seen_.range, seen_.counts.size()); }
  [[nodiscard]] Affine affine(HfmgRange chosen, CodeRange range) const noexcept {
    const ValueRange clip = hfmg::ends(chosen, seen_.range, seen_.counts.size());
    return affine_from_range(clip.min, clip.max, range, options_.symmetry);
  }

  Options options_;
  State seen_;
};

static_assert(Observer<Hfmg>);

}  // namespace amct
