// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

namespace amct {

/// The two numbers of uniform quantization: real value = (code - offset) * scale.
/// AMCT calls them scale_d / offset_d for activations and scale_w / offset_w for weights.
struct Affine {
  float scale = 1.0F;
  std::int32_t offset = 0;

  friend constexpr bool operator==(const Affine&, const Affine&) = default;
};

/// Whether zero sits at code 0 (symmetric) or at a code chosen to use the whole range (asymmetric).
enum class Symmetry : std::uint8_t { symmetric, asymmetric };

/// AMCT's limit of a scale: 2^-23, the float32 next to 1.192092896e-7. A smaller scale is replaced by 1.
inline constexpr float kScaleEpsilon = 1.1920928955078125e-7F;

AMCT_EXACT_BEGIN

/// True if the scale can be divided by and multiplied with: finite, positive, with a finite reciprocal.
/// A range that overflows float32 gives an infinite scale, which this refuses.
[[nodiscard]] constexpr bool is_usable(const Affine& affine) noexcept {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return affine.scale > 0.0F && affine.scale <= kLargest && 1.0F / affine.scale <= kLargest;
}

/// Applies the degenerate-range policy of AMCT: a scale below 2^-23 (zero range, denormals) becomes 1, and the
/// offset of an asymmetric quantizer becomes the smallest code.
[[nodiscard]] constexpr Affine replace_degenerate(Affine affine, CodeRange range, Symmetry symmetry) noexcept {
  if (!(affine.scale < kScaleEpsilon)) return affine;
  return {1.0F, symmetry == Symmetry::asymmetric ? range.min() : affine.offset};
}

/// Degenerate policy of AMCT, the default: a scale below 2^-23 becomes 1.
struct ReplaceByOne {
  [[nodiscard]] constexpr float operator()(float scale) const noexcept { return scale < kScaleEpsilon ? 1.0F : scale; }
};

/// Degenerate policy of the hotwheels line: scale = max(scale, eps). See also weight_epsilon.
struct ClampToEpsilon {
  float eps = kScaleEpsilon;

  [[nodiscard]] constexpr float operator()(float scale) const noexcept { return scale < eps ? eps : scale; }
};

/// Range policy of AMCT's symmetric quantizers: max|.| divided by 2^(n-1)-1, or by 2^(n-1) if the negative end is the
/// larger one.
struct AmctSymmetric {
  [[nodiscard]] static constexpr float scale(float min, float max, CodeRange range) noexcept {
    const float low = min < 0.0F ? -min : min;
    const float high = max < 0.0F ? -max : max;
    const bool negative_dominates = high < low || low != low;
    const auto steps = static_cast<float>(negative_dominates ? -range.min() : range.max());
    return (negative_dominates ? low : high) / steps;
  }
  [[nodiscard]] static constexpr std::int32_t offset(float, float, CodeRange) noexcept { return 0; }
};

/// Range policy of the NPU's WtsARQ: the larger one of -min / 2^(n-1) and max / (2^(n-1)-1), so that neither end is
/// clipped. Differs from AmctSymmetric where the negative end is the larger one by less than one code.
struct NpuSymmetric {
  [[nodiscard]] static constexpr float scale(float min, float max, CodeRange range) noexcept {
    const float low = (min > 0.0F ? 0.0F : -min) / static_cast<float>(-range.min());
    const float high = (max < 0.0F ? 0.0F : max) / static_cast<float>(range.max());
    return low < high || high != high ? high : low;
  }
  [[nodiscard]] static constexpr std::int32_t offset(float, float, CodeRange) noexcept { return 0; }
};

/// Range policy of all asymmetric quantizers: the range is widened to contain 0 and uses all codes.
struct Asymmetric {
  [[nodiscard]] static constexpr float scale(float min, float max, CodeRange range) noexcept {
    const float high = max < 0.0F ? 0.0F : max;
    const float low = min > 0.0F ? 0.0F : min;
    return (high - low) / static_cast<float>(range.steps());
  }
  /// \pre `scale` is usable
  [[nodiscard]] static constexpr std::int32_t offset(float min, float scale, CodeRange range) noexcept {
    const float low = min > 0.0F ? 0.0F : min;
    return static_cast<std::int32_t>(round_half_even(static_cast<float>(range.min()) - low / scale));
  }
};

/// A rule that turns the ends of a range into a scale, and the lower end and the scale into an offset.
template <class P>
concept RangePolicy = requires(float x, CodeRange range) {
  { P::scale(x, x, range) } -> std::same_as<float>;
  { P::offset(x, x, range) } -> std::same_as<std::int32_t>;
};

/// What becomes of a scale that is too small. NaN must stay NaN.
template <class D>
concept DegeneratePolicy = requires(const D& policy, float scale) {
  { policy(scale) } -> std::same_as<float>;
};

/// Scale and offset that cover [min, max] by the policies P and D, in float32. NaN or infinite ends give a scale that
/// is_usable refuses; the offset is then that of an empty range.
template <RangePolicy P, DegeneratePolicy D = ReplaceByOne>
[[nodiscard]] constexpr Affine affine_from_range(float min, float max, CodeRange range,
                                                 const D& degenerate = {}) noexcept {
  const float scale = degenerate(P::scale(min, max, range));
  const bool usable = is_usable(Affine{scale, 0});
  return {scale, usable ? P::offset(min, scale, range) : P::offset(0.0F, 1.0F, range)};
}

/// Scale and offset that cover [min, max], AMCT's `calculate_scale_offset` in float32.
///
/// Asymmetric: the range is widened to contain 0; scale = (max-min)/(2^n-1), offset = round(-2^(n-1) - min/scale).
/// Symmetric: scale = max|.| divided by 2^(n-1)-1, or by 2^(n-1) if the negative end is the larger one; offset 0.
/// Degenerate scales are replaced (see replace_degenerate). NaN or infinite ends give a scale that is_usable refuses.
[[nodiscard]] constexpr Affine affine_from_range(float min, float max, CodeRange range, Symmetry symmetry) noexcept {
  return symmetry == Symmetry::symmetric ? affine_from_range<AmctSymmetric>(min, max, range)
                                         : affine_from_range<Asymmetric>(min, max, range);
}

/// The `eps` of the hotwheels line for the weights of a layer with this bias: 1/(64*2047) if any |bias| exceeds
/// 6.4031265, so that the int32 bias does not overflow; 2^-23 otherwise. For ClampToEpsilon.
[[nodiscard]] constexpr float weight_epsilon(std::span<const float> bias) noexcept {
  constexpr float kLargeBias = 6.4031265F;
  constexpr float kRaisedEpsilon = 7.63312164e-6F;
  for (const float b : bias) {
    if (b > kLargeBias || b < -kLargeBias) return kRaisedEpsilon;
  }
  return kScaleEpsilon;
}

AMCT_EXACT_END

}  // namespace amct
