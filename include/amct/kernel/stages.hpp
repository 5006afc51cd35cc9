// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/rounding.hpp>
#include <amct/kernel/epilogue.hpp>

/// \file
/// The stages of an epilogue that the library has. Their parameters are views: what they show must live as long. A
/// parameter "a column" is given once a column, or once for all columns.

namespace amct {

AMCT_EXACT_BEGIN

namespace detail {

template <class T>
[[nodiscard]] constexpr const T& of_column(std::span<const T> values, std::size_t column) noexcept {
  return values[values.size() == 1 ? 0 : column];
}

}  // namespace detail

/// Adds an int32 bias a column; none at all adds nothing. As the first stage it costs nothing.
struct AddBias {
  std::span<const std::int32_t> bias{};

  [[nodiscard]] constexpr std::int32_t operator()(std::int32_t sum, const Place& at) const noexcept {
    return bias.empty() ? sum : add_bias(sum, detail::of_column(bias, at.column));
  }
  [[nodiscard]] constexpr std::int64_t operator()(std::int64_t sum, const Place& at) const noexcept {
    return bias.empty() ? sum : sum + detail::of_column(bias, at.column);
  }
};

/// AMCT's shift_bit a column: shift_accumulator(sum, bits). None at all, and 0, shifts nothing. The scale that follows
/// must hold the factor 2^bits, as dequantize_shifted has it.
struct ShiftBit {
  std::span<const int> bits{};

  template <std::signed_integral Sum>
  [[nodiscard]] constexpr Sum operator()(Sum sum, const Place& at) const noexcept {
    return bits.empty() ? sum : shift_accumulator(sum, detail::of_column(bits, at.column));
  }
};

/// fl(fl(sum) * scale), a scale a column: AscendDequant.
struct Dequantize {
  std::span<const float> scales{};

  template <std::signed_integral Sum>
  [[nodiscard]] constexpr float operator()(Sum sum, const Place& at) const noexcept {
    return static_cast<float>(sum) * detail::of_column(scales, at.column);
  }
};

/// Adds the element of a float matrix, rows of which are `row` elements apart; a null pointer adds nothing.
struct AddResidual {
  const float* data = nullptr;
  std::size_t row = 0;

  [[nodiscard]] constexpr float operator()(float value, const Place& at) const noexcept {
    return data == nullptr ? value : value + data[at.row * row + at.column];
  }
};

/// Keeps values within bounds; the defaults change nothing, {0} is Relu. NaN stays.
struct ClipReal {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  [[nodiscard]] constexpr float operator()(float value, const Place&) const noexcept {
    const float capped = high < value ? high : value;
    return low > capped ? low : capped;
  }
};

/// Stores the value in a float matrix and passes it on, for readers of the real value (residual connections). A null
/// pointer keeps nothing. May be the matrix of AddResidual.
struct KeepReal {
  float* data = nullptr;
  std::size_t row = 0;

  [[nodiscard]] constexpr float operator()(float value, const Place& at) const noexcept {
    if (data != nullptr) data[at.row * row + at.column] = value;
    return value;
  }
};

/// saturate(round(fl(value * inverse)) + offset): a code of the next layer under the contract ReciprocalRoundAdd. NaN
/// gives the offset.
struct QuantizeTo {
  float inverse = 1.0F;  ///< float32 1 / scale, the number that AscendQuant holds
  std::int32_t offset = 0;
  CodeRange range = Int8::range;  ///< give it for wider codes

  [[nodiscard]] constexpr std::int32_t operator()(float value, const Place&) const noexcept {
    const float scaled = value * inverse;
    return detail::saturate(RoundThenAdd::placed<HalfEven>(scaled, static_cast<float>(offset)), range, offset);
  }
};

namespace detail {

/// Contracts in fixed-point arithmetic take int32 alone.
template <class Contract, class Sum>
concept TakesSum = std::same_as<Sum, std::int32_t> || requires(Sum sum, const typename Contract::Params& params) {
  Contract::template code<Sum>(sum, params, 0, CodeRange{});
};

}  // namespace detail

/// A code of the next layer under a named contract of core/requantize.hpp, with parameters a column.
template <RequantizeContract Contract = RequantizeByScales<>>
struct Requantize {
  using contract = Contract;

  std::span<const typename Contract::Params> params{};
  std::int32_t offset = 0;
  CodeRange range = Int16::range;  ///< SaturateTo makes it narrower, with the same result

  template <std::signed_integral Sum>
  requires detail::TakesSum<Contract, Sum>
  [[nodiscard]] constexpr std::int32_t operator()(Sum sum, const Place& at) const noexcept {
    return Contract::code(sum, detail::of_column(params, at.column), offset, range);
  }
};

Requantize(std::span<const RequantizeByScales<>::Params>, std::int32_t = 0, CodeRange = Int16::range)
    ->Requantize<RequantizeByScales<>>;

/// Stored as codes of B, the nearest where one is out of range.
template <BitWidth B>
struct SaturateTo {
  template <std::signed_integral Sum>
  [[nodiscard]] constexpr typename B::storage operator()(Sum code, const Place&) const noexcept {
    return static_cast<typename B::storage>(std::clamp<Sum>(code, B::min, B::max));
  }
};

/// The unsigned view of int8 codes, 128 more each: results of ONNX operators in uint8 are codes with an offset smaller
/// by 128.
struct AsUnsigned {
  [[nodiscard]] constexpr std::uint8_t operator()(std::int8_t code, const Place&) const noexcept {
    return static_cast<std::uint8_t>(static_cast<unsigned>(code) ^ 0x80U);
  }
};

AMCT_EXACT_END

/// The epilogue of a layer of a deployed network, whose parts are switched by their values: real results, or codes of
/// B.
using LayerToReal = Epilogue<AddBias, ShiftBit, Dequantize, AddResidual, ClipReal, KeepReal>;
template <BitWidth B>
using LayerToCodes =
    Epilogue<AddBias, ShiftBit, Dequantize, AddResidual, ClipReal, KeepReal, QuantizeTo, SaturateTo<B>>;

}  // namespace amct
