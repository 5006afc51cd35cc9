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
///
/// A contract is composed of three decisions: how the value is scaled, whether the offset is added before or after
/// rounding, and where halves go. The four usual compositions have names; any other can be written as `Contract<...>`.

namespace amct {

AMCT_EXACT_BEGIN

namespace detail {

/// Clamps in the float domain, where values beyond int32 still compare; NaN counts as `if_nan`.
[[nodiscard]] constexpr std::int32_t saturate(float code, CodeRange range, std::int32_t if_nan) noexcept {
  const auto low = static_cast<float>(range.min());
  const auto high = static_cast<float>(range.max());
  const float number = code != code ? static_cast<float>(if_nan) : code;
  const float raised = number < low ? low : number;
  return static_cast<std::int32_t>(raised > high ? high : raised);
}

}  // namespace detail

/// Scaling by one float32 division.
struct Divide {
  [[nodiscard]] static constexpr float scaled(float x, float scale) noexcept { return x / scale; }
};

/// Scaling by a multiplication with the float32 reciprocal, which AscendQuant stores.
struct Reciprocal {
  [[nodiscard]] static constexpr float scaled(float x, float scale) noexcept {
    const float inverse = 1.0F / scale;
    return x * inverse;
  }
};

/// The scaled value is rounded, then the offset is added.
struct RoundThenAdd {
  template <class R>
  [[nodiscard]] static constexpr float placed(float scaled, float offset) noexcept {
    return R::round(scaled) + offset;
  }
};

/// The offset is added to the scaled value, then the sum is rounded. Differs on exact halves with an odd offset.
struct AddThenRound {
  template <class R>
  [[nodiscard]] static constexpr float placed(float scaled, float offset) noexcept {
    return R::round(scaled + offset);
  }
};

/// A way of dividing a value by the scale: Divide, Reciprocal.
template <class S>
concept Scaling = requires(float x) {
  { S::scaled(x, x) } -> std::same_as<float>;
};

/// A way of adding the offset and rounding: RoundThenAdd, AddThenRound.
template <class O>
concept OffsetOrder = requires(float x) {
  { O::template placed<HalfEven>(x, x) } -> std::same_as<float>;
};

/// From a value to a code: scaled by S, placed by O, rounded by R, saturated. NaN gives the code of 0.0 (the offset),
/// infinities saturate.
template <Scaling S, OffsetOrder O, RoundingMode R = HalfEven>
struct Contract {
  using scaling = S;
  using offset_order = O;
  using rounding = R;

  [[nodiscard]] static constexpr std::int32_t code(float x, const Affine& a, CodeRange range) noexcept {
    const float scaled = S::scaled(x, a.scale);
    return detail::saturate(O::template placed<R>(scaled, static_cast<float>(a.offset)), range, a.offset);
  }
};

AMCT_EXACT_END

/// code = saturate(round(x * (1/scale)) + offset): what AMCT's deploy and fake-quant models compute. The default.
using ReciprocalRoundAdd = Contract<Reciprocal, RoundThenAdd>;

/// code = saturate(round(x / scale) + offset): ONNX QuantizeLinear and torch.
using DivideRoundAdd = Contract<Divide, RoundThenAdd>;

/// code = saturate(round(x / scale + offset)): AMCT's ARQ and ULQ fake-quantizers.
using DivideAddRound = Contract<Divide, AddThenRound>;

/// code = saturate(round(x * (1/scale) + offset)): the AscendQuant operator of the NPU.
using ReciprocalAddRound = Contract<Reciprocal, AddThenRound>;

/// A rule that turns a real value into a code. NaN gives the code of 0.0 (the offset); infinities saturate.
template <class C>
concept CodeContract = requires(float x, const Affine& a, CodeRange r) {
  { C::code(x, a, r) } -> std::same_as<std::int32_t>;
};

}  // namespace amct
