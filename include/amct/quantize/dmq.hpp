// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>

/// \file
/// DMQ, diagonal matrix quantization: a factor for each input channel moves the difficulty of quantization from
/// activations with outlier channels to the weights. Activations are divided by the factors and weights multiplied, so
/// the layer computes the same: x * w = (x / f) * (f * w). As SmoothQuant (Xiao et al., 2023).
///
/// Input channels, as a ChannelLayout {groups, outer, channels_per_group, inner}:
/// - activations [N, C, ...] of convolutions: {1, N, C, rest}; [..., C] of linear layers: {1, rest, C, 1};
/// - Conv weights [Cout, Cin/g, ...]: {g, Cout/g, Cin/g, rest}; Linear [Cout, Cin]: {1, Cout, Cin, 1};
/// - ConvTranspose weights [Cin, Cout/g, ...]: {1, 1, Cin, rest}, whatever g is.

namespace amct {

/// Numbers of DMQ, with AMCT's defaults.
struct DmqOptions {
  /// How much of the difficulty moves to the weights, [0.2, 0.8]. A float of a config file becomes a double by its
  /// shortest decimal, so that 0.8 stays within.
  double migration_strength = 0.5;

  [[nodiscard]] constexpr Status check() const noexcept {
    return check_option(migration_strength >= 0.2 && migration_strength <= 0.8, "migration_strength",
                        migration_strength, "[0.2, 0.8]");
  }
};

/// Raises `maxima` to the largest magnitude of each channel of `x`. Start with zeros; several batches may follow.
///
/// \return empty; size_mismatch (index = size found); not_finite with the index; `maxima` are untouched then. \note
/// O(n)
inline Status add_channel_maxima(std::span<const float> x, const ChannelLayout& layout,
                                 std::span<float> maxima) noexcept {
  if (x.empty()) return {StatusCode::empty};
  if (x.size() != layout.size()) return {StatusCode::size_mismatch, x.size()};
  if (maxima.size() != layout.channels()) return {StatusCode::size_mismatch, maxima.size()};
  if (const Status status = check_finite(x); !status) return status;
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    for (const float value : x.subspan(first, count)) {
      const float magnitude = value < 0.0F ? -value : value;
      maxima[channel] = std::max(maxima[channel], magnitude);
    }
  });
  return {};
}

AMCT_EXACT_BEGIN

namespace dmq {

[[nodiscard]] constexpr bool is_dead(float magnitude) noexcept { return magnitude < kScaleEpsilon; }

[[nodiscard]] inline float power(float base, double exponent) noexcept {
  return static_cast<float>(std::pow(static_cast<double>(base), exponent));
}

/// The factor of a channel without regard to dead activations: A^s / W^(1-s), 0 if the weights are dead.
[[nodiscard]] inline float plain_factor(float activation, float weight, double strength) noexcept {
  return is_dead(weight) ? 0.0F : power(activation, strength) / power(weight, 1.0 - strength);
}

/// The largest magnitudes that balanced channels have.
struct Outliers {
  float activation = 0.0F;
  float weight = 0.0F;
};

[[nodiscard]] inline Outliers outliers(std::span<const float> activation, std::span<const float> weight,
                                       double strength) noexcept {
  Outliers found;
  for (std::size_t c = 0; c < activation.size(); ++c) {
    const float factor = plain_factor(activation[c], weight[c], strength);
    if (is_dead(factor)) continue;
    found.activation = std::max(found.activation, activation[c] / factor);
    found.weight = std::max(found.weight, weight[c] * factor);
  }
  return found;
}

/// The factor of a channel: a dead side takes the outlier of its kind.
[[nodiscard]] inline float factor(float activation, float weight, double strength, const Outliers& most) noexcept {
  if (is_dead(activation)) return is_dead(weight) ? 1.0F : most.weight / weight;
  return is_dead(weight) ? activation / most.activation : plain_factor(activation, weight, strength);
}

[[nodiscard]] constexpr bool is_allowed(float factor) noexcept {
  return factor > kScaleEpsilon && factor < 1.0F / kScaleEpsilon;
}

/// Largest magnitude, 0 of none.
[[nodiscard]] constexpr float largest(std::span<const float> maxima) noexcept {
  float most = 0.0F;
  for (const float value : maxima) most = std::max(most, value);
  return most;
}

}  // namespace dmq

/// Balance factors of the input channels from the largest magnitudes A of the activations and W of the weights: with
/// the migration strength s, f = A^s / W^(1-s). In float32 as in AMCT, powers rounded from double.
///
/// A magnitude below 2^-23 counts as dead. Of a channel with dead activations f = max(W*f) / W, with dead weights
/// f = A / max(A/f), over the channels that have a factor; with both f = 1. If all activations or all weights are dead,
/// all factors are 1.
///
/// \param activation_maxima, weight_maxima  magnitudes, one an input channel (add_channel_maxima)
/// \param factors  as many; untouched if the status is not ok
/// \return bad_option; empty; size_mismatch (index = size found); not_finite with the channel; unusable_scale with the
///         channel and the factor if it is not between 2^-23 and 2^23, both excluded
/// \note O(channels), no allocation. Source: AMCT's `dmq_balancer`
inline Status dmq_factors(std::span<const float> activation_maxima, std::span<const float> weight_maxima,
                          const DmqOptions& options, std::span<float> factors) noexcept {
  if (const Status status = options.check(); !status) return status;
  const std::size_t channels = activation_maxima.size();
  if (channels == 0) return {StatusCode::empty};
  if (weight_maxima.size() != channels) return {StatusCode::size_mismatch, weight_maxima.size()};
  if (factors.size() != channels) return {StatusCode::size_mismatch, factors.size()};
  for (const auto maxima : {activation_maxima, weight_maxima}) {
    if (const Status status = check_finite(maxima); !status) return status;
  }
  if (dmq::is_dead(dmq::largest(activation_maxima)) || dmq::is_dead(dmq::largest(weight_maxima))) {
    std::ranges::fill(factors, 1.0F);
    return {};
  }
  const double strength = options.migration_strength;
  const dmq::Outliers most = dmq::outliers(activation_maxima, weight_maxima, strength);
  const auto factor = [&](std::size_t c) {
    return dmq::factor(activation_maxima[c], weight_maxima[c], strength, most);
  };
  for (std::size_t c = 0; c < channels; ++c) {
    if (!dmq::is_allowed(factor(c))) return {StatusCode::unusable_scale, c, static_cast<double>(factor(c))};
  }
  for (std::size_t c = 0; c < channels; ++c) factors[c] = factor(c);
  return {};
}

namespace dmq {

/// Writes `change(value, factor of its channel)` for each element.
template <class Change>
Status balance(std::span<const float> x, const ChannelLayout& layout, std::span<const float> factors,
               std::span<float> y, const Change& change) noexcept {
  if (x.size() != layout.size()) return {StatusCode::size_mismatch, x.size()};
  if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
  if (factors.size() != layout.channels()) return {StatusCode::size_mismatch, factors.size()};
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) y[i] = change(x[i], factors[channel]);
  });
  return {};
}

}  // namespace dmq

/// Activations as calibration sees them: divided by the factors of their channels. `y` may be `x`. NaN stays NaN.
/// \return size_mismatch (index = size found). \note O(n), no allocation. Deployed models multiply by float32(1/f)
inline Status balance_activations(std::span<const float> x, const ChannelLayout& layout, std::span<const float> factors,
                                  std::span<float> y) noexcept {
  return dmq::balance(x, layout, factors, y, [](float value, float factor) { return value / factor; });
}

/// Weights as they are quantized: multiplied by the factors of their input channels. `y` may be `weight`.
/// \return size_mismatch (index = size found). \note O(n), no allocation
inline Status balance_weights(std::span<const float> weight, const ChannelLayout& layout,
                              std::span<const float> factors, std::span<float> y) noexcept {
  return dmq::balance(weight, layout, factors, y, [](float value, float factor) { return value * factor; });
}

AMCT_EXACT_END

}  // namespace amct
