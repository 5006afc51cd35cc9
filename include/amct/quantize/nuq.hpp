// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Numbers of NUQ, with AMCT's defaults.
struct NuqOptions {
  std::size_t num_steps = 32;        ///< levels kept: 16 or 32
  std::size_t num_of_iteration = 1;  ///< 0..5; effort of AMCT's search. The one here is exact, so it has no effect

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool steps = num_steps == 16 || num_steps == 32;
    if (!steps) return check_option(false, "num_steps", static_cast<double>(num_steps), "16 or 32");
    return check_option(num_of_iteration <= 5, "num_of_iteration", static_cast<double>(num_of_iteration), "0 .. 5");
  }
};

namespace nuq {

inline constexpr std::size_t kCodes = 256;

/// How often each INT8 code occurs, from -128 on.
using Counts = std::array<std::uint64_t, kCodes>;

/// Squared distance of codes to the nearest of the levels around them, each a sum over running totals. Exact: up to
/// 2^40 codes fit.
class LevelCosts {
 public:
  explicit LevelCosts(const Counts& counts) noexcept {
    for (std::size_t i = 0; i < kCodes; ++i) {
      const auto code = static_cast<std::int64_t>(i);
      const auto count = static_cast<std::int64_t>(counts[i]);
      totals_[i + 1] = {totals_[i].count + count, totals_[i].sum + count * code,
                        totals_[i].squares + count * code * code};
    }
  }

  /// Of the codes below the first level, and above the last.
  [[nodiscard]] std::int64_t below(std::size_t level) const noexcept { return around(0, level, level); }
  [[nodiscard]] std::int64_t above(std::size_t level) const noexcept { return around(level, kCodes, level); }
  /// Of the codes between two neighbouring levels; half way belongs to the lower one.
  [[nodiscard]] std::int64_t between(std::size_t low, std::size_t high) const noexcept {
    const std::size_t middle = (low + high) / 2 + 1;
    return around(low, middle, low) + around(middle, high, high);
  }

 private:
  struct Totals {
    std::int64_t count = 0;
    std::int64_t sum = 0;
    std::int64_t squares = 0;
  };

  /// Of codes [first, last) to one level.
  [[nodiscard]] std::int64_t around(std::size_t first, std::size_t last, std::size_t level) const noexcept {
    const auto at = static_cast<std::int64_t>(level);
    const Totals& a = totals_[first];
    const Totals& b = totals_[last];
    return b.squares - a.squares - 2 * at * (b.sum - a.sum) + at * at * (b.count - a.count);
  }

  std::array<Totals, kCodes + 1> totals_{};
};

/// The `steps` INT8 levels with the least sum of squared distances of all codes to the nearest one, ascending; of equal
/// choices that with the lowest last level, then the lowest one before it. Dynamic programming, O(steps * 256^2).
/// \pre 1 <= steps <= 256
[[nodiscard]] inline std::vector<std::int32_t> best_levels(const Counts& counts, std::size_t steps) {
  const LevelCosts costs(counts);
  constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, kCodes> best{};  // of all codes below `last`, the last level so far
  for (std::size_t last = 0; last < kCodes; ++last) best[last] = costs.below(last);
  std::vector<std::array<std::uint8_t, kCodes>> before(steps);
  for (std::size_t step = 1; step < steps; ++step) {
    std::array<std::int64_t, kCodes> next{};
    next.fill(kImpossible);
    for (std::size_t last = step; last < kCodes; ++last) {
      for (std::size_t previous = step - 1; previous < last; ++previous) {
        const std::int64_t cost = best[previous] + costs.between(previous, last);
        if (cost >= next[last]) continue;
        next[last] = cost;
        before[step][last] = static_cast<std::uint8_t>(previous);
      }
    }
    best = next;
  }
  std::size_t level = steps - 1;
  for (std::size_t last = steps; last < kCodes; ++last) {
    if (best[last] + costs.above(last) < best[level] + costs.above(level)) level = last;
  }
  std::vector<std::int32_t> levels(steps);
  for (std::size_t step = steps; step-- > 0;) {
    levels[step] = static_cast<std::int32_t>(level) + Int8::min;
    level = before[step][level];
  }
  return levels;
}

}  // namespace nuq

/// NUQ: INT8 weights that use only 16 or 32 of the 256 codes, so that 4 or 5 bits tell which.
///
/// ARQ gives the INT8 code of each weight; the levels, one list for all channels, are the INT8 codes with the least sum
/// of squared distances to them in codes, found exactly, whatever the scales of the channels; each code is replaced by
/// the nearest level, of two the lower one. Scales and biases are those of INT8. Weights with fewer distinct codes than
/// levels keep all their codes; the other levels are the lowest codes left. A weight of zeros: all codes 0. A huge
/// outlier coarsens the INT8 codes as in ARQ. Source: AMCT's `nuq_quantize`, whose documents give parameters, record
/// and principle; the search is amct's.
class Nuq {
 public:
  using Bits = Int8;
  using Options = NuqOptions;

  explicit Nuq(Options options = {}) noexcept : options_(options) {}

  /// Finds scales and levels. Refuses options out of range and what Arq::calibrate refuses, and is then unchanged.
  /// O(n + num_steps * 256^2).
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (const Status status = options_.check(); !status) return status;
    Arq<Int8> arq;
    if (const Status status = arq.calibrate(weight, layout); !status) return status;
    std::vector<std::int8_t> codes(weight.size());
    arq.quantize(weight, codes);
    nuq::Counts counts{};
    for (const std::int8_t code : codes) ++counts[index(code)];
    levels_ = nuq::best_levels(counts, options_.num_steps);
    std::size_t nearest = 0;
    for (std::int32_t code = Int8::min; code <= Int8::max; ++code) {
      while (nearest + 1 < levels_.size() && levels_[nearest + 1] - code < code - levels_[nearest]) ++nearest;
      replaced_[index(code)] = static_cast<std::int8_t>(levels_[nearest]);
    }
    arq_ = std::move(arq);
    layout_ = layout;
    return {};
  }

  /// Weights as integer execution sees them. Refuses NaN and Inf and other sizes than calibrated. O(n).
  Status forward(std::span<const float> x, std::span<float> y) const {
    if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
    std::vector<std::int8_t> codes(x.size());
    if (const Status status = quantize(x, codes); !status) return status;
    amct::dequantize(std::span<const std::int8_t>(codes), y, layout_, arq_.channels());
    return {};
  }

  /// INT8 weights, all of them levels. Refuses what forward() refuses. O(n).
  Status quantize(std::span<const float> weight, std::span<std::int8_t> codes) const {
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout_.size()) return {StatusCode::size_mismatch, weight.size()};
    if (codes.size() != weight.size()) return {StatusCode::size_mismatch, codes.size()};
    if (const Status status = check_finite(weight); !status) return status;
    arq_.quantize(weight, codes);
    for (std::int8_t& code : codes) code = replaced_[index(code)];
    return {};
  }

  [[nodiscard]] QuantParams params() const { return {arq_.channels(), Int8::range}; }
  /// The levels, ascending.
  [[nodiscard]] RecordExtras extras() const {
    RecordExtras result;
    result.cluster = levels_;
    return result;
  }

 private:
  [[nodiscard]] static constexpr std::size_t index(std::int32_t code) noexcept {
    return static_cast<std::size_t>(code - Int8::min);
  }

  Options options_;
  ChannelLayout layout_;
  Arq<Int8> arq_;
  std::vector<std::int32_t> levels_;
  std::array<std::int8_t, nuq::kCodes> replaced_{};  ///< the level next to each code
};

static_assert(WeightQuantizer<Nuq>);

}  // namespace amct
