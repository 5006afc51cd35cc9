// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

namespace amct {

/// The levels of a non-uniform quantizer: real values that are all multiples of one scale, so that integer arithmetic
/// can use them. level[i] = params[i] * scale, ascending; equal levels are allowed.
struct Codebook {
  float scale = 1.0F;
  std::vector<std::int32_t> params;  ///< INT8 images of the levels, -128 .. 127
  std::vector<float> levels;         ///< as many
};

AMCT_EXACT_BEGIN

/// Index of the level next to `value`; of two equally near ones, and of equal levels, the first.
/// \pre `levels` are ascending and at least one; `value` is not NaN
/// \note O(log levels), and the number of equal levels
[[nodiscard]] inline std::size_t nearest_level(std::span<const float> levels, float value) noexcept {
  assert(!levels.empty());
  std::size_t first = 0;
  // The answer is one of `count` levels from `first` on; without branches, since weights come in no order.
  for (std::size_t count = levels.size(); count > 1;) {
    const std::size_t half = count / 2;
    const double low = static_cast<double>(levels[first + half - 1]);
    // In double the sum of two floats neither overflows nor, but for very unequal ones, is rounded.
    const double bound = (low + static_cast<double>(levels[first + half])) * 0.5;
    first += static_cast<double>(value) <= bound ? 0 : half;
    count -= half;
  }
  while (first > 0 && levels[first - 1] == levels[first]) --first;
  return first;
}

/// Moves centroids to multiples of a common scale: the symmetric scale of their range at 8 bits (AMCT's rule: the
/// larger end divided by 127, or by 128 if it is the negative one), params = round(centroid / scale).
///
/// Centroids that are all zero or tiny give scale 1 and params 0, as a weight of zeros does.
/// \param centroids  ascending, at least one, finite
[[nodiscard]] inline Codebook codebook_from_centroids(std::span<const double> centroids) {
  assert(!centroids.empty() && std::is_sorted(centroids.begin(), centroids.end()));
  constexpr CodeRange kImages = Int8::range;
  Codebook book;
  book.scale = affine_from_range<AmctSymmetric>(static_cast<float>(centroids.front()),
                                                static_cast<float>(centroids.back()), kImages)
                   .scale;
  for (const double centroid : centroids) {
    const auto image = static_cast<std::int32_t>(round_half_even(static_cast<float>(centroid) / book.scale));
    book.params.push_back(std::clamp(image, kImages.min(), kImages.max()));
    book.levels.push_back(static_cast<float>(book.params.back()) * book.scale);
  }
  return book;
}

AMCT_EXACT_END

}  // namespace amct
