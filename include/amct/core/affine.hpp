// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

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
  return {1.0F, symmetry == Symmetry::asymmetric ? range.min() : 0};
}

/// Scale and offset that cover [min, max], AMCT's `calculate_scale_offset` in float32.
///
/// Asymmetric: the range is widened to contain 0; scale = (max-min)/(2^n-1), offset = round(-2^(n-1) - min/scale).
/// Symmetric: scale = max|.| divided by 2^(n-1)-1, or by 2^(n-1) if the negative end is the larger one; offset 0.
/// Degenerate scales are replaced (see replace_degenerate). NaN or infinite ends give a scale that is_usable refuses.
[[nodiscard]] constexpr Affine affine_from_range(float min, float max, CodeRange range, Symmetry symmetry) noexcept {
  if (symmetry == Symmetry::symmetric) {
    const float low = min < 0.0F ? -min : min;
    const float high = max < 0.0F ? -max : max;
    const bool negative_dominates = high < low || low != low;
    const auto steps = static_cast<float>(negative_dominates ? -range.min() : range.max());
    return replace_degenerate({(negative_dominates ? low : high) / steps, 0}, range, symmetry);
  }
  const float high = max < 0.0F ? 0.0F : max;
  const float low = min > 0.0F ? 0.0F : min;
  Affine affine{(high - low) / static_cast<float>(range.steps()), range.min()};
  if (affine.scale < kScaleEpsilon) return replace_degenerate(affine, range, symmetry);
  if (is_usable(affine)) {
    affine.offset = static_cast<std::int32_t>(round_half_even(static_cast<float>(range.min()) - low / affine.scale));
  }
  return affine;
}

AMCT_EXACT_END

}  // namespace amct
