// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>

namespace amct {

AMCT_EXACT_BEGIN

/// Scale of an int32 accumulator: the float32 product of activation and weight scale. AMCT's dequant parameter.
[[nodiscard]] constexpr float accumulator_scale(float scale_d, float scale_w) noexcept { return scale_d * scale_w; }

/// Quantizes a bias to the scale of the accumulator: round(b / float32(scale_d * scale_w[channel])), in float32.
///
/// \param scale_w  one scale, or one a channel (as many as `bias`)
/// \return bias_overflow with the first index that does not fit int32 (never a silent wrap or clip); 2^31 itself
///         does not fit. A value that is not finite is refused the same way.
inline Status quantize_bias(std::span<const float> bias, float scale_d, std::span<const float> scale_w,
                            std::span<std::int32_t> result) noexcept {
  assert(result.size() == bias.size());
  if (scale_w.size() != 1 && scale_w.size() != bias.size()) return {StatusCode::size_mismatch, scale_w.size()};
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const float scale = accumulator_scale(scale_d, scale_w.size() == 1 ? scale_w[0] : scale_w[i]);
    const float code = round_half_even(bias[i] / scale);
    constexpr float kLimit = 2147483648.0F;
    if (!(code >= -kLimit && code < kLimit)) return {StatusCode::bias_overflow, i, static_cast<double>(bias[i])};
    result[i] = static_cast<std::int32_t>(code);
  }
  return {};
}

AMCT_EXACT_END

}  // namespace amct
