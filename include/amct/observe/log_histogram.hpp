// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>

namespace amct {

/// Least and most bins that observers with a LogHistogram may be given, and what they take if not told.
inline constexpr std::size_t kLeastLogBins = 1024;
inline constexpr std::size_t kMostLogBins = std::size_t{1} << 24;
inline constexpr std::size_t kDefaultLogBins = std::size_t{1} << 16;

/// Refuses a limit of bins out of its range.
[[nodiscard]] constexpr Status check_log_bins(std::size_t max_bins) noexcept {
  return check_option(max_bins >= kLeastLogBins && max_bins <= kMostLogBins, "max_bins", static_cast<double>(max_bins),
                      "1024 .. 2^24");
}

/// All that a LogHistogram has seen. A function of the values alone: equal values give equal bytes, in whatever order
/// and portions they came.
struct LogHistogramState {
  ValueRange range;
  std::uint32_t dropped_bits = 0;     ///< of each value, at most 23
  std::vector<std::uint32_t> keys;    ///< the other bits of each occupied bin, ascending with its values
  std::vector<std::uint64_t> counts;  ///< values in each bin
  std::vector<std::uint64_t> rests;   ///< sum of the dropped bits of the values in each bin
};

namespace log_histogram {

inline constexpr std::uint32_t kSign = 0x80000000U;

/// The bits of a float as an integer that is larger for larger values. The two zeros are one. \pre no NaN
[[nodiscard]] constexpr std::uint32_t ordered(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits > kSign ? ~bits : bits | kSign;
}

[[nodiscard]] constexpr float from_ordered(std::uint32_t bits) noexcept {
  return std::bit_cast<float>((bits & kSign) != 0 ? bits & ~kSign : ~bits);
}

/// Sorts by all bits but the lowest `ignored` ones, 11 bits at a time.
inline void sort_bits(std::vector<std::uint32_t>& values, std::vector<std::uint32_t>& scratch, std::uint32_t ignored) {
  constexpr std::uint32_t kDigitBits = 11;
  constexpr std::uint32_t kDigits = std::uint32_t{1} << kDigitBits;
  scratch.resize(values.size());
  for (std::uint32_t shift = ignored; shift < 32; shift += kDigitBits) {
    std::array<std::size_t, kDigits> begins{};
    const auto digit = [&](std::uint32_t value) { return (value >> shift) % kDigits; };
    for (const std::uint32_t value : values) ++begins[digit(value)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), std::size_t{0});
    for (const std::uint32_t value : values) scratch[begins[digit(value)]++] = value;
    values.swap(scratch);
  }
}

inline void push(LogHistogramState& bins, std::uint32_t key, std::uint64_t count, std::uint64_t rest) {
  if (!bins.keys.empty() && bins.keys.back() == key) {
    bins.counts.back() += count;
    bins.rests.back() += rest;
    return;
  }
  bins.keys.push_back(key);
  bins.counts.push_back(count);
  bins.rests.push_back(rest);
}

/// The bins of values sorted by all but the lowest bits, which are dropped.
[[nodiscard]] inline LogHistogramState bins_of(std::span<const std::uint32_t> sorted, std::uint32_t dropped_bits) {
  LogHistogramState bins;
  bins.dropped_bits = dropped_bits;
  const std::uint32_t mask = (std::uint32_t{1} << dropped_bits) - 1;
  for (std::size_t i = 0; i < sorted.size();) {
    const std::uint32_t key = sorted[i] >> dropped_bits;
    const std::size_t first = i;
    std::uint64_t rest = 0;
    for (; i < sorted.size() && sorted[i] >> dropped_bits == key; ++i) rest += sorted[i] & mask;
    push(bins, key, i - first, rest);
  }
  return bins;
}

/// The same values with more bits dropped.
[[nodiscard]] inline LogHistogramState coarser(LogHistogramState bins, std::uint32_t dropped_bits) {
  const std::uint32_t shift = dropped_bits - bins.dropped_bits;
  if (shift == 0) return bins;
  LogHistogramState result;
  result.range = bins.range;
  result.dropped_bits = dropped_bits;
  for (std::size_t i = 0; i < bins.keys.size(); ++i) {
    const std::uint64_t low = bins.keys[i] & ((std::uint32_t{1} << shift) - 1);
    push(result, bins.keys[i] >> shift, bins.counts[i], bins.rests[i] + (low << bins.dropped_bits) * bins.counts[i]);
  }
  return result;
}

/// The values of both, in at most `max_bins` bins.
[[nodiscard]] inline LogHistogramState joined(LogHistogramState a, LogHistogramState b, std::size_t max_bins) {
  assert(max_bins >= kLeastLogBins);  // enough for all signs and exponents
  const std::uint32_t dropped_bits = std::max(a.dropped_bits, b.dropped_bits);
  a = coarser(std::move(a), dropped_bits);
  b = coarser(std::move(b), dropped_bits);
  LogHistogramState all;
  all.range = {std::min(a.range.min, b.range.min), std::max(a.range.max, b.range.max)};
  all.dropped_bits = dropped_bits;
  const auto take = [&](const LogHistogramState& from, std::size_t i) {
    push(all, from.keys[i], from.counts[i], from.rests[i]);
  };
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    for (; j < b.keys.size() && b.keys[j] < a.keys[i]; ++j) take(b, j);
    take(a, i);
  }
  for (; j < b.keys.size(); ++j) take(b, j);
  while (all.keys.size() > max_bins) all = coarser(std::move(all), all.dropped_bits + 1);
  return all;
}

AMCT_EXACT_BEGIN

/// Mean of the values in a bin.
[[nodiscard]] inline float mean(const LogHistogramState& bins, std::size_t bin) noexcept {
  const std::uint32_t first = bins.keys[bin] << bins.dropped_bits;
  const auto low = static_cast<double>(from_ordered(first));
  if (bins.rests[bin] == 0) return static_cast<float>(low);
  // Values are evenly spaced within a bin, since its sign and exponent are the same.
  const double spacing = static_cast<double>(from_ordered(first + 1)) - low;
  const double rest = static_cast<double>(bins.rests[bin]) / static_cast<double>(bins.counts[bin]);
  return static_cast<float>(low + rest * spacing);
}

AMCT_EXACT_END

}  // namespace log_histogram

/// Counts of values in bins of equal relative width, in bounded memory, for observers that keep no data.
///
/// A bin is a sign, an exponent and the leading bits of the mantissa. The mantissa is shortened, bit by bit and for
/// all bins alike, just so far that the occupied bins are at most `max_bins`. How far depends on the set of values
/// alone, and sums are integers, so the state is the same to the byte in whatever order the values come and however
/// they are split and merged. Each bin also knows the exact mean of its values.
///
/// Up to `max_bins` different values are kept exactly. With 2^16 bins the values of normal data of any amount are then
/// known to about 2^-10 of themselves or better. Memory: 20 bytes an occupied bin. Adding is O(n + bins).
class LogHistogram {
 public:
  explicit LogHistogram(std::size_t max_bins = kDefaultLogBins) noexcept : max_bins_(max_bins) {}

  /// Takes in values, or refuses empty data and NaN or infinities, and is then unchanged.
  /// \pre check_log_bins(max_bins), fewer than 2^41 values in all
  Status add(std::span<const float> x) {
    if (x.empty()) return {StatusCode::empty};
    ValueRange range = seen_.range;
    if (const Status status = range.extend(x); !status) return status;
    constexpr std::size_t kChunk = std::size_t{1} << 18;
    std::vector<std::uint32_t> bits;
    std::vector<std::uint32_t> scratch;
    for (std::size_t first = 0; first < x.size(); first += kChunk) {
      const auto chunk = x.subspan(first, std::min(kChunk, x.size() - first));
      bits.resize(chunk.size());
      std::ranges::transform(chunk, bits.begin(), log_histogram::ordered);
      log_histogram::sort_bits(bits, scratch, seen_.dropped_bits);
      LogHistogramState added = log_histogram::bins_of(bits, seen_.dropped_bits);
      seen_ = log_histogram::joined(std::move(seen_), std::move(added), max_bins_);
    }
    seen_.range = range;
    return {};
  }

  /// Takes in the values of another one with the same `max_bins`. Associative and commutative.
  /// \pre check_log_bins(max_bins)
  void merge(const LogHistogram& other) {
    LogHistogramState added = other.seen_;
    seen_ = log_histogram::joined(std::move(seen_), std::move(added), max_bins_);
  }

  [[nodiscard]] const LogHistogramState& state() const noexcept { return seen_; }
  void restore(LogHistogramState state) noexcept { seen_ = std::move(state); }
  void reset() noexcept { seen_ = {}; }

  [[nodiscard]] bool empty() const noexcept { return seen_.keys.empty(); }
  /// Smallest and largest value, exactly.
  [[nodiscard]] const ValueRange& range() const noexcept { return seen_.range; }
  /// Occupied bins, in ascending order of their values.
  [[nodiscard]] std::size_t bins() const noexcept { return seen_.keys.size(); }
  [[nodiscard]] std::uint64_t count(std::size_t bin) const noexcept { return seen_.counts[bin]; }
  /// Number of values. O(bins).
  [[nodiscard]] std::uint64_t total() const noexcept {
    return std::accumulate(seen_.counts.begin(), seen_.counts.end(), std::uint64_t{0});
  }

  /// Mean of the values in a bin; the value itself where no bits are dropped.
  [[nodiscard]] float mean(std::size_t bin) const noexcept { return log_histogram::mean(seen_, bin); }

  /// The `rank`-th smallest value: the minimum for rank 1, otherwise the mean of the values in its bin. O(bins).
  /// \pre 1 <= rank <= total()
  [[nodiscard]] float nth_smallest(std::uint64_t rank) const noexcept {
    if (rank == 1) return seen_.range.min;
    std::size_t bin = 0;
    for (std::uint64_t below = seen_.counts[0]; below < rank; below += seen_.counts[bin]) ++bin;
    return mean(bin);
  }
  /// The `rank`-th largest value, in the same way.
  [[nodiscard]] float nth_largest(std::uint64_t rank) const noexcept {
    if (rank == 1) return seen_.range.max;
    std::size_t bin = bins() - 1;
    for (std::uint64_t above = seen_.counts[bin]; above < rank; above += seen_.counts[bin]) --bin;
    return mean(bin);
  }
  /// The `rank`-th largest |value|, in the same way.
  [[nodiscard]] float nth_largest_magnitude(std::uint64_t rank) const noexcept {
    if (rank == 1) return seen_.range.abs_max();
    std::size_t low = 0;
    std::size_t high = bins() - 1;
    std::uint64_t above = 0;
    float magnitude = 0.0F;
    while (above < rank) {
      const bool negative = -mean(low) > mean(high);
      const std::size_t bin = negative ? low++ : high--;
      magnitude = negative ? -mean(bin) : mean(bin);
      above += count(bin);
    }
    return magnitude;
  }

 private:
  std::size_t max_bins_;
  LogHistogramState seen_;
};

}  // namespace amct
