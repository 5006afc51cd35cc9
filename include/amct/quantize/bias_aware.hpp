// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>

/// \file
/// Weight scales that are chosen with the bias in mind: the degenerate-range policy `bias_aware`.
///
/// A bias is stored as round(b / (scale_d * scale_w)) in int32. AMCT gives scale 1 to a channel whose weights are zero
/// or too small, and the bias loses all digits below scale_d; other channels have a scale so small that the bias
/// leaves int32. AMCT has no counterpart; its own policy is core/affine.hpp's ReplaceByOne.

namespace amct {

/// Why a weight scale was chosen anew.
enum class ScaleReason : std::uint8_t {
  kept,           ///< it was not
  dead_channel,   ///< all weights are zero: the bias alone decides
  small_weights,  ///< AMCT's limit of scales had made all codes zero; now the weights have theirs
  large_bias,     ///< the int32 bias, or its sum with the products, would have overflowed
};

/// What one output channel adds up.
struct ChannelLoad {
  float min = 0.0F;  ///< least weight, at most 0
  float max = 0.0F;  ///< greatest weight, at least 0
  double sum = 0.0;  ///< of the absolute weights
  std::size_t count = 0;
  float bias = 0.0F;
};

/// The codes that a layer reads.
struct DataCodes {
  float scale = 1.0F;          ///< scale_d
  std::int32_t largest = 255;  ///< greatest |code - offset|
};

struct WeightScale {
  float scale = 1.0F;
  ScaleReason reason = ScaleReason::kept;

  friend constexpr bool operator==(const WeightScale&, const WeightScale&) = default;
};

AMCT_EXACT_BEGIN

namespace detail {

/// The least scale that AMCT accepts in a record, 2^-52.
inline constexpr float kLeastRecordScale = 2.220446049250313e-16F;
/// Codes of the bias of a dead channel: all the digits that float32 has, and float32 sums of them are exact.
inline constexpr double kDeadBiasCodes = 8388608.0;
/// int32's end, less what float32 rounds away when it computes a code next to it.
inline constexpr double kMostCodes = 2147483647.0 - 1024.0;

/// The next float32 that is not below `value`.
[[nodiscard]] inline float round_up(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                                              : nearest;
}

/// The least scale with which the bias of a channel fits int32, together with all products. Products have no more than
/// half of the room: where they alone could overflow, a larger scale is no remedy.
[[nodiscard]] inline double least_scale_for_bias(const ChannelLoad& channel, const DataCodes& data) noexcept {
  const double bias = std::fabs(static_cast<double>(channel.bias)) / static_cast<double>(data.scale);
  const double products = std::min(bias, channel.sum * data.largest);
  const double rounding = 0.5 * static_cast<double>(channel.count) * data.largest;  // of the weights
  return (bias + products) / std::max(kMostCodes - rounding, 0.5 * kMostCodes);
}

}  // namespace detail

/// The weight scale of the channels that share one, under the policy `bias_aware`.
///
/// Channels without weights get |b| / (scale_d * 2^23); weights too small for AMCT get the scale of their range; and
/// no scale is smaller than the largest bias allows. Without a bias, dead channels keep their scale. Applying it twice
/// changes nothing. O(channels).
/// \param scale_w   the scale that the quantizer found, usable
/// \param channels  one for a scale a channel, all of them for a scale a tensor; finite numbers
/// \param range     of the weights' codes
[[nodiscard]] inline WeightScale bias_aware_scale(float scale_w, std::span<const ChannelLoad> channels,
                                                  const DataCodes& data, CodeRange range) noexcept {
  ChannelLoad all;
  double least = 0.0;
  for (const ChannelLoad& channel : channels) {
    all.min = std::min(all.min, channel.min);
    all.max = std::max(all.max, channel.max);
    all.bias = std::max(all.bias, std::fabs(channel.bias));
    least = std::max(least, detail::least_scale_for_bias(channel, data));
  }
  const float own = AmctSymmetric::scale(all.min, all.max, range);
  WeightScale choice{scale_w};
  if (own < detail::kLeastRecordScale) {
    const double wanted = static_cast<double>(all.bias) / (static_cast<double>(data.scale) * detail::kDeadBiasCodes);
    if (wanted > 0.0)
      choice = {std::max(detail::round_up(wanted), detail::kLeastRecordScale), ScaleReason::dead_channel};
  } else if (own < kScaleEpsilon && own > 0.0F && scale_w >= kScaleEpsilon) {
    choice = {own, ScaleReason::small_weights};
  }
  if (static_cast<double>(choice.scale) < least) choice = {detail::round_up(least), ScaleReason::large_bias};
  return choice.scale == scale_w || !is_usable(Affine{choice.scale, 0}) ? WeightScale{scale_w} : choice;
}

AMCT_EXACT_END

}  // namespace amct
