// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// torch.quantization's observers that TorchFakeQuantize knows.
enum class TorchObserver : std::uint8_t { min_max, moving_average_min_max };

/// Arguments of torch.quantization.FakeQuantize, with torch's defaults but for signed codes.
struct TorchFakeQuantizeOptions {
  TorchObserver observer = TorchObserver::moving_average_min_max;
  Symmetry symmetry = Symmetry::asymmetric;  ///< qscheme: affine or symmetric
  bool reduce_range = false;                 ///< one bit less, for engines that would overflow
  float averaging_constant = 0.01F;          ///< (0, 1]: weight of the newest batch
};

namespace torch_rule {

AMCT_EXACT_BEGIN

/// Scale and zero point as torch's observers compute them: a symmetric scale is max|.| over half of all steps (127.5 at
/// 8 bits, unlike AMCT's 127 or 128), no scale is below 2^-23, and the zero point is kept within the codes.
[[nodiscard]] constexpr Affine affine(const ValueRange& seen, CodeRange range, Symmetry symmetry) noexcept {
  const float low = seen.min < 0.0F ? seen.min : 0.0F;
  const float high = seen.max > 0.0F ? seen.max : 0.0F;
  const bool symmetric = symmetry == Symmetry::symmetric;
  const auto steps = static_cast<float>(range.steps());
  const float span = symmetric ? (-low > high ? -low : high) : high - low;
  const float scale = ClampToEpsilon{}(span / (symmetric ? steps / 2.0F : steps));
  if (symmetric || !is_usable(Affine{scale, 0})) return {scale, 0};
  const float zero = static_cast<float>(range.min()) - round_half_even(low / scale);
  return {scale, detail::saturate(zero, range, 0)};
}

/// Upstream where the code of x, before saturation, is one of the range, and 0 elsewhere; by code and not by value, for
/// half a step beyond the end codes rounds to them or not, as reciprocal and parity have it.
inline void mask_clipped(std::span<const float> x, std::span<const float> upstream, const Affine& affine,
                         CodeRange range, std::span<float> gradient) noexcept {
  const float reciprocal = 1.0F / affine.scale;
  const auto low = static_cast<float>(range.min() - affine.offset);
  const auto high = static_cast<float>(range.max() - affine.offset);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float steps = round_half_even(x[i] * reciprocal);
    gradient[i] = steps < low || steps > high ? 0.0F : upstream[i];
  }
}

AMCT_EXACT_END

}  // namespace torch_rule

/// torch.quantization.FakeQuantize over a MinMax, MovingAverageMinMax or PerChannelMinMax observer, with torch's
/// numbers: an activation takes one scale for all, a weight one for each channel of its layout. backward() is straight
/// through within the codes and 0 outside.
///
/// A constant of 0 gives the scale 2^-23, as in torch. Empty data, NaN and Inf are refused. The moving average starts
/// with the first batch. O(n). Source: torch 1.13.
template <BitWidth B = Int8>
class TorchFakeQuantize {
 public:
  using Bits = B;
  using Options = TorchFakeQuantizeOptions;

  explicit TorchFakeQuantize(Options options = {}) : options_(options) {}

  Status calibrate(std::span<const float> batch) { return calibrate(batch, ChannelLayout::per_tensor(batch.size())); }

  /// \return size_mismatch if the layout has another number of channels than before
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    const float newest = options_.averaging_constant;
    if (const Status status =
            check_option(newest > 0.0F && newest <= 1.0F, "averaging_constant", static_cast<double>(newest), "(0, 1]");
        !status) {
      return status;
    }
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (!seen_.empty() && seen_.size() != layout.channels()) return {StatusCode::size_mismatch, layout.channels()};
    if (const Status status = check_finite(weight); !status) return status;
    std::vector<ValueRange> ranges(layout.channels());
    for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      (void)ranges[channel].extend(weight.subspan(first, count)).ok();  // finite
    });
    take(ranges);
    layout_ = layout;
    return {};
  }

  /// Later data of an activation may have any size; those of a weight that of its layout. `y` may be `x`.
  Status forward(std::span<const float> x, std::span<float> y) const {
    if (x.size() != y.size()) return {StatusCode::size_mismatch, y.size()};
    if (affines_.empty()) return {StatusCode::not_ready};
    if (affines_.size() > 1 && x.size() != layout_.size()) return {StatusCode::size_mismatch, x.size()};
    for (std::size_t c = 0; c < affines_.size(); ++c) {
      if (!is_usable(affines_[c])) return {StatusCode::unusable_scale, c, static_cast<double>(affines_[c].scale)};
    }
    fake_quantize<ReciprocalRoundAdd>(x, y, layout_of(x.size()), affines_, range());
    return {};
  }

  /// \pre forward() accepted x
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) const {
    if (x.size() != upstream.size() || x.size() != gradient.size()) return {StatusCode::size_mismatch, x.size()};
    for_each_run(layout_of(x.size()), [&](std::size_t channel, std::size_t first, std::size_t count) {
      torch_rule::mask_clipped(x.subspan(first, count), upstream.subspan(first, count), affines_[channel], range(),
                               gradient.subspan(first, count));
    });
    return {};
  }

  [[nodiscard]] std::vector<Parameter> parameters() const { return {}; }
  [[nodiscard]] QuantParams params() const { return {affines_, range()}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }

 private:
  [[nodiscard]] CodeRange range() const noexcept { return {options_.reduce_range ? B::width - 1 : B::width}; }

  [[nodiscard]] ChannelLayout layout_of(std::size_t size) const noexcept {
    return affines_.size() > 1 ? layout_ : ChannelLayout::per_tensor(size);
  }

  void take(const std::vector<ValueRange>& ranges) {
    const bool first = seen_.empty();
    if (first) seen_ = ranges;
    affines_.clear();
    for (std::size_t c = 0; c < ranges.size(); ++c) {
      if (!first && options_.observer == TorchObserver::min_max) {
        seen_[c].min = ranges[c].min < seen_[c].min ? ranges[c].min : seen_[c].min;
        seen_[c].max = ranges[c].max > seen_[c].max ? ranges[c].max : seen_[c].max;
      } else if (!first) {
        seen_[c].min += options_.averaging_constant * (ranges[c].min - seen_[c].min);
        seen_[c].max += options_.averaging_constant * (ranges[c].max - seen_[c].max);
      }
      affines_.push_back(torch_rule::affine(seen_[c], range(), options_.symmetry));
    }
  }

  Options options_;
  ChannelLayout layout_;
  std::vector<ValueRange> seen_;
  std::vector<Affine> affines_;
};

static_assert(ActivationQuantizer<TorchFakeQuantize<>> && WeightQuantizer<TorchFakeQuantize<>> &&
              TrainableQuantizer<TorchFakeQuantize<>>);

}  // namespace amct
