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
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/quantize/channel_values.hpp>
#include <amct/quantize/clip_ends.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Which channels of a weight share a learned scale.
enum class ScaleSharing : std::uint8_t {
  channel,  ///< each has its own
  tensor,   ///< one for all
  group,    ///< one for as many consecutive channels as there are channels a group
};

/// Numbers of UlqScale, with AMCT's defaults.
struct UlqScaleOptions {
  ScaleSharing sharing = ScaleSharing::channel;
  std::size_t groups = 1;   ///< of ScaleSharing::group: a divisor of the number of channels, at least 1
  bool reciprocal = false;  ///< learn 1/scale; AMCT's `s_rec_flag`

  [[nodiscard]] constexpr Status check() const noexcept {
    return check_option(groups >= 1, "groups", static_cast<double>(groups), "at least 1");
  }
};

namespace ulq_scale {

AMCT_EXACT_BEGIN

/// The gradient of the scale of one channel of `count` elements: (inside + below * q_min + above * q_max) /
/// sqrt(count * q_max), and times -scale^2 if the reciprocal is learned.
[[nodiscard]] inline double scale_gradient(const ClipGradient& sums, float scale, std::size_t count, CodeRange range,
                                           bool reciprocal) noexcept {
  const auto most = static_cast<double>(range.max());
  const double sum = sums.inside + sums.below * static_cast<double>(range.min()) + sums.above * most;
  const double gradient = sum / std::sqrt(static_cast<double>(count) * most);
  return reciprocal ? gradient * -(static_cast<double>(scale) * static_cast<double>(scale)) : gradient;
}

AMCT_EXACT_END

}  // namespace ulq_scale

/// Weights whose scales are learned, as in LSQ (Esser et al. 2020); `ulq_retrain` for weights in AMCT.
///
/// calibrate() sets the scales by ARQ's symmetric rule. forward() fake-quantizes by DivideAddRound with offset 0.
/// backward() passes upstream straight through, nothing masked, and adds ulq_scale::scale_gradient of each channel to
/// the parameter "scale" (or "scale_reciprocal"): a tensor's scale gets the sum over its channels, a group's the mean.
/// A layout of one channel makes the whole weight that channel: its factor is then sqrt(size * q_max).
///
/// Degenerate data: channels of zeros start with scale 1; empty data, NaN, Inf, sizes that do not fit the layout,
/// groups that do not divide the channels, and ranges beyond float32 are refused; one huge outlier makes its channel
/// coarse. A scale that training drove below 2^-23, below 0 or to NaN or Inf is set back to that of the step before by
/// forward(), where AMCT would go on with the mirrored scale and record 1. O(n) a step.
template <BitWidth B = Int8>
class UlqScale {
 public:
  using Bits = B;
  using Options = UlqScaleOptions;

  explicit UlqScale(Options options = {}) noexcept : options_(options) {}

  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (const Status status = options_.check(); !status) return status;
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (const Status status = check_finite(weight); !status) return status;
    const std::size_t scales = scales_of(layout);
    if (layout.channels() % scales != 0) {
      return {StatusCode::bad_option, 0, static_cast<double>(scales), "groups", "a divisor of the number of channels"};
    }
    const std::size_t shared = layout.channels() / scales;
    std::vector<ValueRange> ranges(scales);
    const ChannelValues channels(weight, layout);
    for (std::size_t c = 0; c < layout.channels(); ++c) (void)ranges[c / shared].extend(channels[c]);
    std::vector<float> first;
    for (const ValueRange& range : ranges) {
      const Affine affine = affine_from_range(range.min, range.max, B::range, Symmetry::symmetric);
      if (!is_usable(affine)) return {StatusCode::unusable_scale, first.size()};
      first.push_back(options_.reciprocal ? 1.0F / affine.scale : affine.scale);
    }
    layout_ = layout;
    learned_ = previous_ = std::move(first);
    gradient_.assign(scales, 0.0F);
    return {};
  }

  /// `result` may be `weight`. A size other than the calibrated one is refused.
  Status forward(std::span<const float> weight, std::span<float> result) {
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout_.size()) return {StatusCode::size_mismatch, weight.size()};
    if (result.size() != weight.size()) return {StatusCode::size_mismatch, result.size()};
    if (const Status status = check_finite(weight); !status) return status;
    for (std::size_t i = 0; i < learned_.size(); ++i) learned_[i] = repaired(i);
    previous_ = learned_;
    channels_ = channel_affines();
    amct::fake_quantize<DivideAddRound>(weight, result, layout_, channels_, B::range);
    return {};
  }

  /// `gradient` may be `upstream`. \pre forward() was called
  Status backward(std::span<const float> weight, std::span<const float> upstream, std::span<float> gradient) {
    if (weight.size() != layout_.size()) return {StatusCode::size_mismatch, weight.size()};
    if (upstream.size() != weight.size()) return {StatusCode::size_mismatch, upstream.size()};
    if (gradient.size() != weight.size()) return {StatusCode::size_mismatch, gradient.size()};
    const ChannelValues values(weight, layout_);
    const ChannelValues upstreams(upstream, layout_);
    std::vector<double> sums(learned_.size(), 0.0);
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const ClipGradient found = amct::clip_gradient(values[c], upstreams[c], clip_ends(channels_[c], B::range));
      sums[c / shared()] +=
          ulq_scale::scale_gradient(found, channels_[c].scale, values.channel_size(), B::range, options_.reciprocal);
    }
    const double rows = options_.sharing == ScaleSharing::group ? static_cast<double>(shared()) : 1.0;
    for (std::size_t i = 0; i < sums.size(); ++i) gradient_[i] += static_cast<float>(sums[i] / rows);
    if (gradient.data() != upstream.data()) std::ranges::copy(upstream, gradient.begin());
    return {};
  }
  /// Views into this quantizer, valid until it is moved, calibrated again or destroyed.
  [[nodiscard]] std::vector<Parameter> parameters() {
    return {{options_.reciprocal ? "scale_reciprocal" : "scale", learned_, gradient_}};
  }

  /// Of the scales as they are now, repaired: one for a tensor, otherwise one a channel.
  [[nodiscard]] QuantParams params() const {
    std::vector<Affine> affines = channel_affines();
    if (options_.sharing == ScaleSharing::tensor) affines.resize(affines.empty() ? 0 : 1);
    return {std::move(affines), B::range};
  }
  [[nodiscard]] RecordExtras extras() const { return {}; }

 private:
  [[nodiscard]] std::size_t scales_of(const ChannelLayout& layout) const noexcept {
    if (options_.sharing == ScaleSharing::tensor) return 1;
    return options_.sharing == ScaleSharing::group ? options_.groups : layout.channels();
  }
  /// Channels a scale. \pre calibrated
  [[nodiscard]] std::size_t shared() const noexcept { return layout_.channels() / learned_.size(); }

  [[nodiscard]] float scale_of(float learned) const noexcept { return options_.reciprocal ? 1.0F / learned : learned; }
  [[nodiscard]] float repaired(std::size_t i) const noexcept {
    const float scale = scale_of(learned_[i]);
    return scale >= kScaleEpsilon && is_usable(Affine{scale, 0}) ? learned_[i] : previous_[i];
  }
  [[nodiscard]] std::vector<Affine> channel_affines() const {
    std::vector<Affine> result;
    if (learned_.empty()) return result;
    for (std::size_t c = 0; c < layout_.channels(); ++c) result.push_back({scale_of(repaired(c / shared())), 0});
    return result;
  }

  Options options_;
  ChannelLayout layout_;
  std::vector<float> learned_;
  std::vector<float> previous_;  // of the step before
  std::vector<float> gradient_;
  std::vector<Affine> channels_;  // of the last forward()
};

static_assert(WeightQuantizer<UlqScale<>> && TrainableQuantizer<UlqScale<>>);

}  // namespace amct
