// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Numbers of ARQ.
struct ArqOptions {
  Symmetry symmetry = Symmetry::symmetric;  ///< AMCT's weights are always symmetric
  /// What scales are raised to: hotwheels' `eps`, at least 2^-23 there. 0: none; a channel of zeros gets scale 1.
  float least_scale = 0.0F;

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool fine = least_scale == 0.0F || (least_scale >= kScaleEpsilon && least_scale <= 1.0F);
    return check_option(fine, "eps", static_cast<double>(least_scale), "1.1920929e-07 to 1");
  }
};

/// ARQ, adaptive range quantization: the range of each channel of a weight decides its scale (core/affine.hpp).
///
/// A channel of zeros gets scale 1, or `least_scale`, and codes 0. Codes are saturate(round(w/scale + offset)).
/// Source: spec of AMCT's `arq_quantize`.
template <BitWidth B = Int8>
class Arq {
 public:
  using Bits = B;
  using Options = ArqOptions;

  constexpr explicit Arq(Options options = {}) noexcept : options_(options) {}

  /// Computes one Affine a channel of `weight`, whose elements lie as `layout` says. Refuses NaN and Inf, empty data,
  /// a channel whose range overflows float32 (unusable_scale, index = channel), and bad options. O(n).
  constexpr Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (const Status status = options_.check(); !status) return status;
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    std::vector<ValueRange> ranges(layout.channels());
    Status finite;
    for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      Status status = ranges[channel].extend(weight.subspan(first, count));
      status.index += first;
      if (finite.ok() && !status.ok()) finite = status;
    });
    if (!finite.ok()) return finite;
    std::vector<Affine> channels;
    std::vector<std::size_t> degenerate;
    for (const ValueRange& range : ranges) {
      channels.push_back(affine_of(range));
      if (!is_usable(channels.back())) return {StatusCode::unusable_scale, channels.size() - 1};
      if (is_replaced(channels.back().scale, range)) degenerate.push_back(channels.size() - 1);
    }
    layout_ = layout;
    channels_ = std::move(channels);
    degenerate_ = std::move(degenerate);
    return {};
  }

  /// One Affine a channel, or a single one.
  [[nodiscard]] constexpr const std::vector<Affine>& channels() const noexcept { return channels_; }

  /// Channels whose weights are zero or too small for a scale of their own: theirs was replaced.
  [[nodiscard]] const std::vector<std::size_t>& degenerate_channels() const noexcept { return degenerate_; }

  /// Weights as integer execution sees them; `result` may be `weight`. Refuses sizes other than the calibrated one, NaN
  /// and Inf. The scales stay those of calibrate().
  Status forward(std::span<const float> weight, std::span<float> result) const noexcept {
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout_.size()) return {StatusCode::size_mismatch, weight.size()};
    if (result.size() != weight.size()) return {StatusCode::size_mismatch, result.size()};
    if (const Status status = check_finite(weight); !status) return status;
    fake_quantize(weight, result);
    return {};
  }
  [[nodiscard]] QuantParams params() const { return {channels_, B::range}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }

  /// The same as forward() without its checks. \pre calibrated with the same size
  void fake_quantize(std::span<const float> weight, std::span<float> result) const noexcept {
    assert(weight.size() == layout_.size() && result.size() == weight.size());
    amct::fake_quantize<DivideAddRound>(weight, result, layout_, channels_, B::range);
  }

  /// Integer weights. \pre calibrated with the same size
  void quantize(std::span<const float> weight, std::span<typename B::storage> codes) const noexcept {
    assert(weight.size() == layout_.size() && codes.size() == weight.size());
    amct::quantize<DivideAddRound>(weight, codes, layout_, channels_, B::range);
  }

 private:
  [[nodiscard]] constexpr Affine affine_of(const ValueRange& range) const noexcept {
    if (options_.least_scale == 0.0F) return affine_from_range(range.min, range.max, B::range, options_.symmetry);
    const ClampToEpsilon clamp{options_.least_scale};
    return options_.symmetry == Symmetry::symmetric
               ? affine_from_range<AmctSymmetric>(range.min, range.max, B::range, clamp)
               : affine_from_range<Asymmetric>(range.min, range.max, B::range, clamp);
  }
  [[nodiscard]] constexpr bool is_replaced(float scale, const ValueRange& range) const noexcept {
    if (options_.least_scale > 0.0F) return scale == options_.least_scale;
    return scale == 1.0F && range.max < 1.0F && range.min > -1.0F;
  }

  Options options_;
  ChannelLayout layout_;
  std::vector<Affine> channels_;
  std::vector<std::size_t> degenerate_;
};

static_assert(WeightQuantizer<Arq<>>);

}  // namespace amct
