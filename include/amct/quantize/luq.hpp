// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
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
#include <amct/observe/concept.hpp>
#include <amct/observe/luq_mse.hpp>
#include <amct/quantize/channel_values.hpp>
#include <amct/quantize/clip_ends.hpp>
#include <amct/quantize/concept.hpp>
#include <amct/quantize/ulq.hpp>

namespace amct {

/// Numbers of LUQ, with the defaults of hotwheels.
template <Observer O>
struct LuqOptions {
  float max_value_eps = 0.00038928920371275036F;  ///< the least max_value, above 0
  typename O::Options observer{};                 ///< finds the first max_value

  [[nodiscard]] constexpr Status check() const noexcept {
    return check_option(max_value_eps > 0.0F && max_value_eps <= 1e30F, "max_value_eps",
                        static_cast<double>(max_value_eps), "above 0");
  }
};

namespace luq {

AMCT_EXACT_BEGIN

/// Gradient of max_value in symmetric quantization, whose scale is max_value / q_max:
/// inside / q_max + above + below * q_min / q_max.
[[nodiscard]] constexpr double max_value_gradient(const ClipGradient& sums, CodeRange range) noexcept {
  const auto most = static_cast<double>(range.max());
  return (sums.inside + sums.below * static_cast<double>(range.min())) / most + sums.above;
}

/// What gradients of max_value and min_value are divided by, so that they go with the size of the values: the root of
/// count * q_max, as LSQ has it.
[[nodiscard]] inline double damping(std::size_t count, CodeRange range) noexcept {
  return std::sqrt(static_cast<double>(count) * static_cast<double>(range.max()));
}

AMCT_EXACT_END

}  // namespace luq

/// LUQ, learned uniform quantization: the largest value that codes can express is learned, for activations, or for each
/// channel of a weight.
///
/// calibrate() lets observer O propose a scale and an offset. Offset 0: max_value = scale * q_max, one learned number,
/// and scale = max_value / q_max from then on. Another offset (activations only): max_value and min_value are learned,
/// as the clips of ULQ. Until O has seen all its batches the range of the last one counts. forward() raises max_value
/// to at least `max_value_eps`, lowers min_value to at most 0, stores them back, and fake-quantizes by DivideRoundAdd.
/// backward() gives upstream inside of the smallest and the largest code's value and 0 outside, and adds
/// luq::max_value_gradient, or ulq::clip_gradients, divided by luq::damping, to "max_value" and "min_value". A
/// max_value below its least value still gets its gradient, so that it can come back.
///
/// Degenerate data: empty data, NaN and Inf are refused, in calibrate() and forward(). Zeros, and a channel of zeros,
/// have the scale that O gives them, 1 by default; for constants, one sign and one huge outlier see O. A max_value
/// that training drove to NaN or beyond float32 makes forward() answer unusable_scale (index: the channel) and change
/// nothing; it answers not_ready before calibrate(). O(n) a step.
/// The defaults are those of hotwheels' LuqActivationFakeQuantize (8 to 16 bits) and LuqWeightFakeQuantize (8 bits);
/// the rest is a choice of this library, for no source describes it.
template <BitWidth B = Int8, Observer O = LuqMse>
class Luq {
 public:
  using Bits = B;
  using Options = LuqOptions<O>;

  explicit Luq(Options options = {}) : options_(std::move(options)), observer_(options_.observer) {}

  /// One batch of activations. Once the observer has seen all its batches, further ones are left out.
  /// \return unusable_scale if the range of all batches is beyond float32; the observer then begins anew
  Status calibrate(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (ready_) return {};
    if (const Status status = observer_.observe(batch); !status) return status;
    if (observer_.ready()) {
      const Affine found = observer_.compute(B::range);
      observer_.reset();  // its batches are not needed any more
      const Status status = start({found}, {});
      ready_ = status.ok();
      return status;
    }
    ValueRange seen;
    (void)seen.extend(batch);
    return start({affine_from_range(-seen.abs_max(), seen.abs_max(), B::range, Symmetry::symmetric)}, {});
  }

  /// A weight: an observer of its own for each channel. \return bad_option if O is not symmetric
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (const Status status = options_.check(); !status) return status;
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (const Status status = check_finite(weight); !status) return status;
    const ChannelValues channels(weight, layout);
    std::vector<Affine> found;
    for (std::size_t c = 0; c < layout.channels(); ++c) {
      O observer(options_.observer);
      if (const Status status = observer.observe(channels[c]); !status) return status;
      found.push_back(observer.compute(B::range));
      if (found.back().offset != 0) {
        return {StatusCode::bad_option, c, static_cast<double>(found.back().offset), "observer",
                "symmetric for weights"};
      }
    }
    return start(std::move(found), layout);
  }

  /// `y` may be `x`.
  Status forward(std::span<const float> x, std::span<float> y) {
    if (x.empty()) return {StatusCode::empty};
    if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
    if (layout_.size() != 0 && x.size() != layout_.size()) return {StatusCode::size_mismatch, x.size()};
    if (const Status status = check_finite(x); !status) return status;
    if (max_.empty()) return {StatusCode::not_ready};
    std::vector<Affine> channels = affines();
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (!is_usable(channels[c])) return {StatusCode::unusable_scale, c};
    }
    for (std::size_t c = 0; c < max_.size(); ++c) max_[c] = clips_of(c).max;
    if (is_affine()) min_[0] = clips_of(0).min;
    channels_ = std::move(channels);
    amct::fake_quantize<DivideRoundAdd>(x, y, layout_for(x), channels_, B::range);
    return {};
  }

  /// `gradient` may be `upstream`. \pre forward() was called
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) {
    if (channels_.empty() || (layout_.size() != 0 && x.size() != layout_.size())) {
      return {StatusCode::size_mismatch, x.size()};
    }
    if (upstream.size() != x.size()) return {StatusCode::size_mismatch, upstream.size()};
    if (gradient.size() != x.size()) return {StatusCode::size_mismatch, gradient.size()};
    const ChannelLayout layout = layout_for(x);
    const ChannelValues values(x, layout);
    const ChannelValues upstreams(upstream, layout);
    for (std::size_t c = 0; c < channels_.size(); ++c) add_gradient(c, values[c], upstreams[c]);
    for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      amct::mask_clipped(x.subspan(first, count), upstream.subspan(first, count),
                         clip_ends(channels_[channel], B::range), gradient.subspan(first, count));
    });
    return {};
  }
  /// Views into this quantizer, valid until it is moved, calibrated again or destroyed.
  [[nodiscard]] std::vector<Parameter> parameters() {
    std::vector<Parameter> result{{"max_value", max_, max_gradient_}};
    if (is_affine()) result.push_back({"min_value", min_, min_gradient_});
    return result;
  }

  [[nodiscard]] bool ready() const noexcept { return ready_; }
  /// Of max_value as it is now.
  [[nodiscard]] QuantParams params() const { return {affines(), B::range}; }
  /// The clips of activations; none for weights.
  [[nodiscard]] RecordExtras extras() const {
    RecordExtras result;
    if (max_.empty() || layout_.size() != 0) return result;
    const ClipRange ends = clip_ends(affines()[0], B::range);
    result.clip_max = ends.high;
    result.clip_min = ends.low;
    return result;
  }

 private:
  /// Takes what the observers found as the first max_value and min_value. An empty layout stands for activations.
  Status start(std::vector<Affine> found, const ChannelLayout& layout) {
    std::vector<float> max;
    std::vector<float> min;
    for (std::size_t c = 0; c < found.size(); ++c) {
      if (!is_usable(found[c])) return {StatusCode::unusable_scale, c};
      const ClipRange ends = clip_ends(found[c], B::range);
      max.push_back(ends.high);
      if (found[c].offset != 0) min.push_back(ends.low);
    }
    layout_ = layout;
    max_gradient_.assign(max.size(), 0.0F);
    min_gradient_.assign(min.size(), 0.0F);
    max_ = std::move(max);
    min_ = std::move(min);
    return {};
  }

  [[nodiscard]] bool is_affine() const noexcept { return !min_.empty(); }
  [[nodiscard]] ChannelLayout layout_for(std::span<const float> x) const noexcept {
    return layout_.size() != 0 ? layout_ : ChannelLayout::per_tensor(x.size());
  }
  /// The values that count. NaN stays NaN.
  [[nodiscard]] UlqClips clips_of(std::size_t channel) const noexcept {
    const float max = max_[channel] < options_.max_value_eps ? options_.max_value_eps : max_[channel];
    return {max, is_affine() ? (min_[channel] > 0.0F ? 0.0F : min_[channel]) : 0.0F};
  }
  [[nodiscard]] std::vector<Affine> affines() const {
    std::vector<Affine> result;
    for (std::size_t c = 0; c < max_.size(); ++c) {
      const UlqClips clips = clips_of(c);
      result.push_back(luq_mse::affine_of({clips.max, clips.min}, !is_affine(), B::range));
    }
    return result;
  }

  void add_gradient(std::size_t channel, std::span<const float> x, std::span<const float> upstream) noexcept {
    const Affine& affine = channels_[channel];
    const ClipGradient sums = amct::clip_gradient(x, upstream, clip_ends(affine, B::range));
    const double damping = luq::damping(x.size(), B::range);
    if (!is_affine()) {
      max_gradient_[channel] += static_cast<float>(luq::max_value_gradient(sums, B::range) / damping);
      return;
    }
    const auto [of_max, of_min] = ulq::clip_gradients(sums, clips_of(channel), affine.scale, B::range);
    max_gradient_[channel] += static_cast<float>(of_max / damping);
    min_gradient_[channel] += static_cast<float>(of_min / damping);
  }

  Options options_;
  O observer_;
  ChannelLayout layout_;  // of a weight; empty for activations
  std::vector<float> max_;
  std::vector<float> min_;  // empty if symmetric
  std::vector<float> max_gradient_;
  std::vector<float> min_gradient_;
  std::vector<Affine> channels_;  // of the last forward()
  bool ready_ = false;
};

static_assert(ActivationQuantizer<Luq<>> && WeightQuantizer<Luq<>> && TrainableQuantizer<Luq<>>);

}  // namespace amct
