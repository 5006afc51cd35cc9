// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <amct/kernel/residual.hpp>

/// \file
/// Bounds of the squared error of a quantizer from a histogram that knows the mean of each bin.
///
/// Let q(x) be the nearest multiple of a scale s, within the clip range. Over a bin where q is one number the sum of
/// (x - q)^2 follows from the count and the sum of x, but for the sum of x^2, which is the same for every candidate. A
/// bin with a boundary t between q and q + s, half a step from both, has in addition -2s * sum of max(0, x - t), which
/// lies between what Jensen's inequality gives for the mean and what the chord over the bin gives. A boundary below all
/// data adds as much to the first bin, where both are what the mean gives. Few bins have a boundary, so the bounds are
/// within some per cent of each other.

namespace amct::kernel {

/// Counts and sums of positions of values, in bins of equal width over [low, high].
struct BinMoments {
  static constexpr std::size_t kBins = 8192;
  static constexpr std::int32_t kSteps = 256;  ///< positions within a bin are whole 256ths

  float low, high;
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(kBins);
  std::vector<std::uint64_t> positions = std::vector<std::uint64_t>(kBins);

  BinMoments(float least, float most) : low(least), high(most) {}

  /// From value to position: steps a unit. Finite and normal for ranges that can be used.
  [[nodiscard]] float steps_per_unit() const noexcept { return static_cast<float>(kBins * kSteps) / (high - low); }
  [[nodiscard]] bool is_usable() const noexcept { return high - low >= 1e-30F && high - low <= 1e30F; }

  void add(const BinMoments& other) noexcept {
    for (std::size_t b = 0; b < kBins; ++b) {
      counts[b] += other.counts[b];
      positions[b] += other.positions[b];
    }
  }
};

/// Bounds of a sum of squared residuals, less the part that all candidates share.
struct LossBounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

/// Cumulative counts and sums of values over the bins.
class MomentSums {
 public:
  explicit MomentSums(const BinMoments& moments)
      : low_(static_cast<double>(moments.low)),
        width_((static_cast<double>(moments.high) - low_) / static_cast<double>(BinMoments::kBins)) {
    for (std::size_t b = 0; b < BinMoments::kBins; ++b) {
      const auto count = static_cast<double>(moments.counts[b]);
      const double inside = (static_cast<double>(moments.positions[b]) + 0.5 * count) / BinMoments::kSteps;
      const double sum = count * edge(b) + inside * width_;
      counts_.push_back(counts_.back() + count);
      sums_.push_back(sums_.back() + sum);
      if (count > 0) squares_ += sum * sum / count;
    }
  }

  /// For a scale finer than a few bins the bounds say nothing.
  [[nodiscard]] LossBounds bounds(const ScaleCandidate& candidate) const {
    const auto scale = static_cast<double>(candidate.scale);
    if (scale < 4.0 * width_) return {};
    const double first = std::nearbyint(static_cast<double>(candidate.low) / scale);
    const double last = std::nearbyint(static_cast<double>(candidate.high) / scale);
    double base = 0.0;
    double least_gain = 0.0;
    double most_gain = 0.0;
    double near = 0.0;  // values that may lie in the bin next to theirs, by the rounding of positions
    std::size_t done = 0;
    for (double k = first; k <= last; ++k) {
      const double boundary = (k + 0.5) * scale;
      const std::size_t b = k < last ? bin_of(boundary) : BinMoments::kBins;
      const std::size_t end = std::min(b + 1, BinMoments::kBins);
      const double q = k * scale;
      base += q * q * (counts_[end] - counts_[done]) - 2.0 * q * (sums_[end] - sums_[done]);
      done = end;
      if (b == BinMoments::kBins) break;
      const double count = counts_[end] - counts_[b];
      const double sum = sums_[end] - sums_[b];
      const double gain = std::max(0.0, sum - count * boundary);
      const double chord = (edge(end) - boundary) / width_ * (sum - count * edge(b));
      const bool is_below = boundary < low_;  // then all of the first bin is behind it
      least_gain += gain;
      most_gain += is_below ? gain : std::max(0.0, chord);
      if (!is_below || boundary >= low_ - width_) {
        near += counts_[std::min(end + 1, BinMoments::kBins)] - counts_[b > 0 ? b - 1 : 0];
      }
    }
    const double most = base - 2.0 * scale * least_gain;
    return widened(most - 2.0 * scale * (most_gain - least_gain), most, scale * near);
  }

 private:
  [[nodiscard]] double edge(std::size_t bin) const noexcept { return low_ + static_cast<double>(bin) * width_; }

  /// The bin of a boundary; the first or a number beyond the last for those outside.
  [[nodiscard]] std::size_t bin_of(double value) const noexcept {
    const double bin = (value - low_) / width_;
    if (bin < 0.0) return 0;
    return bin >= static_cast<double>(BinMoments::kBins) ? BinMoments::kBins : static_cast<std::size_t>(bin);
  }

  /// With what the rounding of positions and of the float32 sums can add. `near` is the count of values near boundaries
  /// times the scale.
  [[nodiscard]] LossBounds widened(double least, double most, double near) const noexcept {
    constexpr double kPosition = 1.0 / 64.0;  // of a bin; true errors stay below 1.5 / 256
    constexpr double kSums = 1e-5;
    const double count = counts_.back();
    const double loss = std::max(0.0, most + squares_) + 0.25 * count * width_ * width_;
    const double slack =
        2.0 * kPosition * width_ * std::sqrt(count * loss) + 4.0 * kPosition * width_ * near + kSums * loss;
    return {least - slack, most + slack};
  }

  double low_, width_;
  double squares_ = 0.0;  ///< sum of x^2, but for the spread within bins
  std::vector<double> counts_ = {0.0};
  std::vector<double> sums_ = {0.0};
};

}  // namespace amct::kernel
