// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

/// \file
/// The contracts by which a real value becomes a code. They differ by one code near ties, so each is a named type:
/// the deploy model, the training-time fake-quantizer and ONNX QuantizeLinear do not compute the same thing.

namespace amct {

AMCT_EXACT_BEGIN

namespace detail {

/// Clamps in the float domain, where values beyond int32 still compare; NaN becomes `if_nan`.
[[nodiscard]] constexpr std::int32_t saturate(float code, CodeRange range, std::int32_t if_nan) noexcept {
  if (code != code) return if_nan < range.min() ? range.min() : (if_nan > range.max() ? range.max() : if_nan);
  if (code <= static_cast<float>(range.min())) return range.min();
  if (code >= static_cast<float>(range.max())) return range.max();
  return static_cast<std::int32_t>(code);
}

}  // namespace detail

/// code = saturate(round(x * (1/scale)) + offset): what AMCT's deploy and fake-quant models compute. The default.
struct ReciprocalRoundAdd {
  [[nodiscard]] static constexpr std::int32_t code(float x, const Affine& a, CodeRange range) noexcept {
    const float inverse = 1.0F / a.scale;
    return detail::saturate(round_half_even(x * inverse) + static_cast<float>(a.offset), range, a.offset);
  }
};

/// code = saturate(round(x / scale + offset)): AMCT's ARQ and ULQ fake-quantizers.
struct DivideAddRound {
  [[nodiscard]] static constexpr std::int32_t code(float x, const Affine& a, CodeRange range) noexcept {
    return detail::saturate(round_half_even(x / a.scale + static_cast<float>(a.offset)), range, a.offset);
  }
};

AMCT_EXACT_END

/// A rule that turns a real value into a code. NaN gives the code of 0.0 (the offset); infinities saturate.
template <class C>
concept CodeContract = requires(float x, const Affine& a, CodeRange r) {
  { C::code(x, a, r) } -> std::same_as<std::int32_t>;
};

}  // namespace amct
