// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/quantize/clip_ends.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// The scale and zero point that a Fixed quantizer is given.
struct FixedOptions {
  std::vector<float> scale;  ///< one, or for a weight one a channel; each above 0 with a finite reciprocal; required
  float zero_point = 0.0F;   ///< the code of 0.0, as offset_d: an integer within the codes; 0 for weights

  [[nodiscard]] Status check(CodeRange range) const noexcept {
    if (scale.empty()) return check_option(false, "scale", 0.0, "at least one");
    for (std::size_t i = 0; i < scale.size(); ++i) {
      Status status = check_option(is_usable(Affine{scale[i], 0}), "scale", static_cast<double>(scale[i]),
                                   "above 0, with a finite reciprocal");
      status.index = i;
      if (!status.ok()) return status;
    }
    const bool is_code = zero_point >= static_cast<float>(range.min()) &&
                         zero_point <= static_cast<float>(range.max()) && zero_point == round_half_even(zero_point);
    return check_option(is_code, "zero_point", static_cast<double>(zero_point), "an integer within the codes");
  }
};

/// Quantizes by a given scale and zero point; nothing is observed and nothing learned.
///
/// Activations are fake-quantized by ReciprocalRoundAdd and weights, after calibrate(weight, layout), by
/// DivideAddRound: the numbers of the deployed model in both cases. backward() gives upstream within the values of the
/// smallest and the largest code, and 0 outside.
///
/// Degenerate data: empty data, NaN and Inf are refused; all other values are quantized as given, however badly they
/// fit. O(n). Source: hotwheels' FixedFakeQuantize, with the straight-through gradient of a clipped value as our
/// choice.
template <BitWidth B = Int8>
class Fixed {
 public:
  using Bits = B;
  using Options = FixedOptions;

  explicit Fixed(Options options = {}) : options_(std::move(options)) {}

  /// Checks a batch of activations; nothing is kept of it.
  Status calibrate(std::span<const float> batch) const noexcept { return refuse(batch); }

  /// Takes the layout of a weight: one scale for all of it, or one a channel. \return bad_option for a zero point that
  /// is not 0, size_mismatch with the number of scales if it is neither 1 nor that of channels
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) noexcept {
    if (const Status status = refuse(weight); !status) return status;
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (options_.scale.size() != 1 && options_.scale.size() != layout.channels()) {
      return {StatusCode::size_mismatch, options_.scale.size()};
    }
    const double zero_point = static_cast<double>(options_.zero_point);
    if (const Status status = check_option(zero_point == 0.0, "zero_point", zero_point, "0 for weights"); !status) {
      return status;
    }
    layout_ = options_.scale.size() == 1 ? ChannelLayout::per_tensor(weight.size()) : layout;
    is_weight_ = true;
    return {};
  }

  /// `y` may be `x`. \return size_mismatch also for several scales without the layout of a weight
  Status forward(std::span<const float> x, std::span<float> y) const {
    if (const Status status = refuse(x); !status) return status;
    if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
    if (const Status status = refuse_layout(x); !status) return status;
    if (is_weight_) {
      amct::fake_quantize<DivideAddRound>(x, y, layout_, affines(), B::range);
    } else {
      amct::fake_quantize<ReciprocalRoundAdd>(x, y, affine(0), B::range);
    }
    return {};
  }

  /// `gradient` may be `upstream`.
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) const {
    if (upstream.size() != x.size()) return {StatusCode::size_mismatch, upstream.size()};
    if (gradient.size() != x.size()) return {StatusCode::size_mismatch, gradient.size()};
    if (const Status status = options_.check(B::range); !status) return status;
    if (const Status status = refuse_layout(x); !status) return status;
    const ChannelLayout layout = is_weight_ ? layout_ : ChannelLayout::per_tensor(x.size());
    for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      amct::mask_clipped(x.subspan(first, count), upstream.subspan(first, count), clip_ends(affine(channel), B::range),
                         gradient.subspan(first, count));
    });
    return {};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const { return {}; }
  [[nodiscard]] QuantParams params() const { return {affines(), B::range}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }

 private:
  [[nodiscard]] Status refuse(std::span<const float> x) const noexcept {
    if (const Status status = options_.check(B::range); !status) return status;
    if (x.empty()) return {StatusCode::empty};
    return check_finite(x);
  }
  [[nodiscard]] Status refuse_layout(std::span<const float> x) const noexcept {
    if (is_weight_ && x.size() != layout_.size()) return {StatusCode::size_mismatch, x.size()};
    if (!is_weight_ && options_.scale.size() != 1) return {StatusCode::size_mismatch, options_.scale.size()};
    return {};
  }
  [[nodiscard]] Affine affine(std::size_t channel) const noexcept {
    return {options_.scale[channel], static_cast<std::int32_t>(options_.zero_point)};
  }
  [[nodiscard]] std::vector<Affine> affines() const {
    std::vector<Affine> result;
    for (std::size_t c = 0; c < options_.scale.size(); ++c) result.push_back(affine(c));
    return result;
  }

  Options options_;
  ChannelLayout layout_;
  bool is_weight_ = false;
};

static_assert(ActivationQuantizer<Fixed<>> && WeightQuantizer<Fixed<>> && TrainableQuantizer<Fixed<>>);

}  // namespace amct
