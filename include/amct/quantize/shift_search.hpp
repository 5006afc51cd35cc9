// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>

namespace amct {

/// Numbers of the shift search.
struct ShiftSearchOptions {
  /// Scale of the accumulator (accumulator_scale): one, or one a channel. All usable.
  std::vector<float> dequant_scales{1.0F};
  bool channel_wise = true;  ///< a shift a channel; otherwise one for the whole layer
};

namespace shift_search {

inline constexpr int kMost = 16;
/// Squared errors of the shifts 1..16.
using Errors = std::array<double, kMost>;

AMCT_EXACT_BEGIN

/// The accumulator that stands for a float output: round(y / scale) in float32, saturated to int32. \pre y is finite
[[nodiscard]] constexpr std::int32_t accumulator(float y, float dequant_scale) noexcept {
  constexpr float kLimit = 2147483648.0F;
  const float code = round_half_even(y / dequant_scale);
  if (code >= kLimit) return std::numeric_limits<std::int32_t>::max();
  if (code <= -kLimit) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(code);
}

/// Adds the squared error that each shift makes of an accumulator.
constexpr void add_errors(std::int32_t acc, Errors& errors) noexcept {
  for (int shift = 1; shift <= kMost; ++shift) {
    const std::int64_t kept = std::int64_t{shift_accumulator(acc, shift)} * (std::int64_t{1} << shift);
    const auto error = static_cast<double>(acc - kept);
    errors[static_cast<std::size_t>(shift - 1)] += error * error;
  }
}

AMCT_EXACT_END

/// The shift with the least error; of equal ones the largest.
[[nodiscard]] constexpr int best(const Errors& errors) noexcept {
  int found = kMost;
  for (int shift = kMost - 1; shift >= 1; --shift) {
    if (errors[static_cast<std::size_t>(shift - 1)] < errors[static_cast<std::size_t>(found - 1)]) found = shift;
  }
  return found;
}

}  // namespace shift_search

/// Searches the `shift_bit` of a layer: by how many bits, 1..16, the int32 accumulators are shifted right so that they
/// fit int16 (shift_accumulator). Feed it float outputs of the layer; it keeps the shift with the least squared error
/// of the accumulators. Of equal errors the largest shift wins, so zeros give 16.
///
/// Keeps 16 doubles a channel, whatever the amount of data. The split into batches does not matter as long as their
/// order is kept; an error of zero is exact in any order. Outputs beyond int32 saturate. Source: AMCT's `search_n`.
class ShiftSearch {
 public:
  using Options = ShiftSearchOptions;

  explicit ShiftSearch(Options options) : options_(std::move(options)) {}

  /// Takes in one batch of outputs; `layout` tells their channels, {1, N, C, rest} for [N, C, ...]. O(16 n).
  /// \return unusable_scale with the channel; empty; size_mismatch (index = elements, or channels that differ from the
  ///         scales or the batches before); not_finite with the index. Nothing is taken in then
  Status observe(std::span<const float> outputs, const ChannelLayout& layout) {
    if (const Status status = check(outputs, layout); !status) return status;
    if (errors_.empty()) errors_.resize(options_.channel_wise ? layout.channels() : 1);
    channels_ = layout.channels();
    for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      const auto& scales = options_.dequant_scales;
      const float scale = scales[scales.size() == 1 ? 0 : channel];
      auto& errors = errors_[options_.channel_wise ? channel : 0];
      for (const float y : outputs.subspan(first, count)) {
        shift_search::add_errors(shift_search::accumulator(y, scale), errors);
      }
    });
    return {};
  }

  /// Takes in what another search with the same options has seen.
  /// \return size_mismatch (index = its channels) if both have seen data with different channels
  Status merge(const ShiftSearch& other) {
    if (other.errors_.empty()) return {};
    if (channels_ != 0 && channels_ != other.channels_) return {StatusCode::size_mismatch, other.channels_};
    errors_.resize(other.errors_.size());
    channels_ = other.channels_;
    for (std::size_t c = 0; c < errors_.size(); ++c) {
      for (std::size_t k = 0; k < errors_[c].size(); ++k) errors_[c][k] += other.errors_[c][k];
    }
    return {};
  }

  [[nodiscard]] bool ready() const noexcept { return !errors_.empty(); }

  /// The record's `shift_bit`: one a channel, or a single one. Empty before the first batch.
  [[nodiscard]] std::vector<int> shift_bits() const {
    std::vector<int> result;
    result.reserve(errors_.size());
    for (const auto& errors : errors_) result.push_back(shift_search::best(errors));
    return result;
  }

  /// Root of the sum of squared errors of the accumulators that a shift makes, for reports.
  /// \pre ready(), the channel is known (0 for a single shift), 1 <= shift <= 16
  [[nodiscard]] double error(std::size_t channel, int shift) const noexcept {
    return std::sqrt(errors_[channel][static_cast<std::size_t>(shift - 1)]);
  }

  void reset() noexcept {
    errors_.clear();
    channels_ = 0;
  }

 private:
  [[nodiscard]] Status check(std::span<const float> outputs, const ChannelLayout& layout) const noexcept {
    const auto& scales = options_.dequant_scales;
    for (std::size_t c = 0; c < scales.size(); ++c) {
      if (!is_usable(Affine{scales[c], 0})) return {StatusCode::unusable_scale, c, double{scales[c]}};
    }
    if (outputs.empty()) return {StatusCode::empty};
    if (outputs.size() != layout.size()) return {StatusCode::size_mismatch, outputs.size()};
    const bool known = channels_ == 0 || channels_ == layout.channels();
    if (!known || (scales.size() != 1 && scales.size() != layout.channels())) {
      return {StatusCode::size_mismatch, layout.channels()};
    }
    return check_finite(outputs);
  }

  Options options_;
  std::vector<shift_search::Errors> errors_;  ///< one a channel, or a single one; none before the first batch
  std::size_t channels_ = 0;
};

}  // namespace amct
