// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>

/// \file
/// The contracts by which an int32 accumulator becomes a code of the next layer. Like the contracts of core/code.hpp
/// they differ by one code near ties, so each is a named type; each has its own parameters. All are total: every
/// accumulator, every parameter and every shift has a defined result, and no step overflows. Contracts in float32 take
/// int64 accumulators too, which long sums need.

namespace amct {

/// A real multiplier as multiplier * 2^-31 * 2^-shift. A negative shift is a left shift.
struct FixedMultiplier {
  std::int32_t multiplier = 0;
  int shift = 0;

  friend constexpr bool operator==(const FixedMultiplier&, const FixedMultiplier&) = default;
};

/// True if the multiplier is positive: what fixed_multiplier makes of a finite positive number.
[[nodiscard]] constexpr bool is_usable(const FixedMultiplier& m) noexcept { return m.multiplier > 0; }

/// An accumulator with its bias, modulo 2^32 as the adder of an integer engine.
[[nodiscard]] constexpr std::int32_t add_bias(std::int32_t acc, std::int32_t bias) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(acc) + static_cast<std::uint32_t>(bias));
}

AMCT_EXACT_BEGIN

/// The nearest FixedMultiplier to a real one, with a multiplier of 2^30 .. 2^31-1 in magnitude (halves away from zero,
/// as TFLite does). Exact for every float32. Zero, NaN and infinities give {0, 0}, which is_usable refuses.
[[nodiscard]] constexpr FixedMultiplier fixed_multiplier(double real) noexcept {
  constexpr double kSmallest = std::numeric_limits<double>::min();
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr std::uint64_t kExponentOfHalf = 1022;  // of numbers in [0.5, 1)
  if (!(real != 0.0 && real >= -kLargest && real <= kLargest)) return {};
  const bool subnormal = real < kSmallest && real > -kSmallest;
  const auto bits = std::bit_cast<std::uint64_t>(subnormal ? real * 0x1p54 : real);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - static_cast<int>(kExponentOfHalf) - (subnormal ? 54 : 0);
  const auto mantissa = std::bit_cast<double>((bits & 0x800FFFFFFFFFFFFFU) | kExponentOfHalf << 52);
  const double q31 = HalfAway::round(mantissa * 0x1p31);
  const bool carries = q31 == 0x1p31 || q31 == -0x1p31;
  return {static_cast<std::int32_t>(carries ? q31 / 2.0 : q31), carries ? -exponent - 1 : -exponent};
}

namespace detail {

/// Adds the offset to a rounded value and clamps the sum. \pre |value| <= 2^62
[[nodiscard]] constexpr std::int32_t saturate(std::int64_t value, std::int32_t offset, CodeRange range) noexcept {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value + offset, range.min(), range.max()));
}

/// value * 2^bits, kept within 2^62 in magnitude, where every code saturates. \pre |value| <= 2^62, bits >= 0
[[nodiscard]] constexpr std::int64_t shift_left(std::int64_t value, int bits) noexcept {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  if (value == 0 || bits == 0) return value;
  const std::int64_t fits = bits > 62 ? 0 : kLimit >> bits;
  if (value > fits) return kLimit;
  if (value < -fits) return -kLimit;
  return value * (std::int64_t{1} << bits);
}

/// 2^bits as a float, infinite from 2^128 on. \pre bits >= 0
[[nodiscard]] constexpr float power_of_two(int bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::min(bits, 128) + 127) << 23);
}

}  // namespace detail

/// code = saturate(round(fl(acc) * multiplier) + offset), all in float32: one merged float multiplier. fl(acc) is the
/// float32 next to the accumulator. A NaN gives the offset.
template <OffsetOrder O = RoundThenAdd, RoundingMode R = HalfEven>
struct RequantizeByMultiplier {
  struct Params {
    float multiplier = 1.0F;
  };

  template <std::signed_integral Acc>
  [[nodiscard]] static constexpr std::int32_t code(Acc acc, const Params& params, std::int32_t offset,
                                                   CodeRange range) noexcept {
    const float scaled = static_cast<float>(acc) * params.multiplier;
    return detail::saturate(O::template placed<R>(scaled, static_cast<float>(offset)), range, offset);
  }
};

/// ReQuant: the accumulator is dequantized and quantized again by the contract C, with two float32 multiplications:
/// saturate(round(fl(fl(acc) * dequant_scale) * fl(1/next_scale)) + offset). Bit-equal to the fake-quant model.
template <CodeContract C = ReciprocalRoundAdd>
struct RequantizeByScales {
  struct Params {
    float dequant_scale = 1.0F;  ///< scale_d * scale_w of this layer, see accumulator_scale
    float next_scale = 1.0F;     ///< scale_d of the layer that reads the result
  };

  template <std::signed_integral Acc>
  [[nodiscard]] static constexpr std::int32_t code(Acc acc, const Params& params, std::int32_t offset,
                                                   CodeRange range) noexcept {
    const float real = static_cast<float>(acc) * params.dequant_scale;
    return C::code(real, {params.next_scale, offset}, range);
  }
};

/// code = saturate(round(acc * multiplier / 2^(31 + shift)) + offset) in exact arithmetic, rounded once by R.
template <ShiftRoundingMode R = HalfUp>
struct RequantizeFixedPoint {
  using Params = FixedMultiplier;

  [[nodiscard]] static constexpr std::int32_t code(std::int32_t acc, const Params& params, std::int32_t offset,
                                                   CodeRange range) noexcept {
    const std::int64_t product = std::int64_t{acc} * params.multiplier;
    const int right = 31 + std::clamp(params.shift, -128, 128);  // beyond, every product saturates or gives 0
    const std::int64_t rounded = right > 0 ? R::shift_right(product, right) : detail::shift_left(product, -right);
    return detail::saturate(rounded, offset, range);
  }
};

/// "rndnu" of XNNPACK and TFLite's single rounding: halves up.
using RequantizeHalfUp = RequantizeFixedPoint<HalfUp>;

/// Halves away from zero, as XNNPACK's "rndna".
using RequantizeHalfAway = RequantizeFixedPoint<HalfAway>;

/// gemmlowp and TFLite's default, which round twice: SaturatingRoundingDoublingHighMul (halves up, to int32), then
/// RoundingDivideByPOT (halves away from zero). A left shift is applied to the accumulator first and saturates.
/// Off by one against the single rounding when the first rounding makes a tie.
struct RequantizeDoubleRounding {
  using Params = FixedMultiplier;

  [[nodiscard]] static constexpr std::int32_t code(std::int32_t acc, const Params& params, std::int32_t offset,
                                                   CodeRange range) noexcept {
    constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    const int left = params.shift < 0 ? -std::max(params.shift, -32) : 0;
    const std::int64_t shifted = std::clamp(detail::shift_left(acc, left), kMin, kMax);
    const std::int64_t high = std::min(HalfUp::shift_right(shifted * params.multiplier, 31), kMax);
    return detail::saturate(HalfAway::shift_right(high, params.shift), offset, range);
  }
};

/// AMCT's `shift_bit` (1..16): the accumulator is shifted right, which rounds down, and clamped to int16. A shift of 0
/// means, as in AMCT's records, that the layer is not shifted: the accumulator stays as it is. Negative ones too.
template <std::signed_integral Acc>
[[nodiscard]] constexpr Acc shift_accumulator(Acc acc, int shift_bit) noexcept {
  if (shift_bit < 1) return acc;
  return std::clamp<Acc>(acc >> std::min(shift_bit, 31), Int16::min, Int16::max);
}

/// The real value of an accumulator under `shift_bit`: clamp(floor(acc / 2^k), int16) * (dequant_scale * 2^k).
template <std::signed_integral Acc>
[[nodiscard]] constexpr float dequantize_shifted(Acc acc, float dequant_scale, int shift_bit) noexcept {
  const float scale = dequant_scale * detail::power_of_two(std::max(shift_bit, 0));
  return static_cast<float>(shift_accumulator(acc, shift_bit)) * scale;
}

/// The value of dequantize_shifted, quantized again by the contract C.
template <CodeContract C = ReciprocalRoundAdd>
struct RequantizeShifted {
  struct Params {
    float dequant_scale = 1.0F;
    float next_scale = 1.0F;
    int shift_bit = 0;
  };

  template <std::signed_integral Acc>
  [[nodiscard]] static constexpr std::int32_t code(Acc acc, const Params& params, std::int32_t offset,
                                                   CodeRange range) noexcept {
    return C::code(dequantize_shifted(acc, params.dequant_scale, params.shift_bit), {params.next_scale, offset}, range);
  }
};

AMCT_EXACT_END

/// A rule that turns an int32 accumulator into a code.
template <class R>
concept RequantizeContract = requires(std::int32_t acc, const typename R::Params& params, std::int32_t offset,
                                      CodeRange range) {
  { R::code(acc, params, offset, range) } -> std::same_as<std::int32_t>;
};

}  // namespace amct
