// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <amct/core/exact.hpp>
#include <amct/core/requantize.hpp>
#include <amct/kernel/channels.hpp>
#include <amct/kernel/vector_contract.hpp>

/// \file
/// The form in which vector bodies take the parameters of a requantization.

namespace amct::kernel {

/// What an accumulator goes through: shifted right and clamped to [least, most], then multiplied by one factor or by
/// two in turn.
struct RequantizeFactors {
  float first = 1.0F;
  float second = 1.0F;
  int shift = 0;
  std::int32_t least = std::numeric_limits<std::int32_t>::min();
  std::int32_t most = std::numeric_limits<std::int32_t>::max();
};

/// Finite factors cannot make a NaN of a finite accumulator: the first product is finite or infinite and not 0 * inf.
[[nodiscard]] constexpr bool are_usable(const RequantizeFactors& f) noexcept {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return f.first > 0.0F && f.first <= kLargest && f.second > 0.0F && f.second <= kLargest;
}

/// acc * multiplier / 2^(31 + shift).
struct FixedFactors {
  std::int32_t multiplier = 0;
  int shift = 0;
};

/// Shifts to the left take the reference.
[[nodiscard]] constexpr bool are_usable(const FixedFactors& f) noexcept {
  return f.multiplier > 0 && f.shift >= 0 && f.shift <= 31;
}

/// Biases and factors of consecutive elements, an array each, for channels too short for a vector loop of their own.
struct RequantizeRow {
  std::int32_t bias[kRowMemory];
  float first[kRowMemory];
  float second[kRowMemory];

  void set_one(std::size_t at, std::int32_t channel_bias, const RequantizeFactors& factors) noexcept {
    bias[at] = channel_bias;
    first[at] = factors.first;
    second[at] = factors.second;
  }
  void set(std::size_t at, std::size_t count, std::int32_t channel_bias, const RequantizeFactors& factors) noexcept {
    fill_row(bias + at, count, channel_bias);
    fill_row(first + at, count, factors.first);
    fill_row(second + at, count, factors.second);
  }
  void repeat(std::size_t period, std::size_t count) noexcept {
    repeat_row(bias, period, count);
    repeat_row(first, period, count);
    repeat_row(second, period, count);
  }
};

/// The same for fixed-point contracts.
struct FixedRow {
  std::int32_t bias[kRowMemory];
  std::int32_t multiplier[kRowMemory];
  std::int32_t shift[kRowMemory];

  void set_one(std::size_t at, std::int32_t channel_bias, const FixedFactors& factors) noexcept {
    bias[at] = channel_bias;
    multiplier[at] = factors.multiplier;
    shift[at] = factors.shift;
  }
  void set(std::size_t at, std::size_t count, std::int32_t channel_bias, const FixedFactors& factors) noexcept {
    fill_row(bias + at, count, channel_bias);
    fill_row(multiplier + at, count, factors.multiplier);
    fill_row(shift + at, count, std::int32_t{factors.shift});
  }
  void repeat(std::size_t period, std::size_t count) noexcept {
    repeat_row(bias, period, count);
    repeat_row(multiplier, period, count);
    repeat_row(shift, period, count);
  }
};

AMCT_EXACT_BEGIN

/// How the vector bodies compute a contract; contracts without a specialisation take the reference.
template <class Contract>
struct RequantizeTraits;

/// A contract in fixed-point arithmetic: rounded once, half up or half away, or twice as gemmlowp does.
template <bool kRoundsAway, bool kRoundsTwice>
struct FixedPointTraits {
  using Factors = FixedFactors;
  using Row = FixedRow;
  static constexpr bool kAway = kRoundsAway;
  static constexpr bool kTwice = kRoundsTwice;
  static constexpr bool kRows = true;
  [[nodiscard]] static constexpr Factors factors(const FixedMultiplier& params) noexcept {
    return {params.multiplier, params.shift};
  }
};

template <>
struct RequantizeTraits<RequantizeHalfUp> : FixedPointTraits<false, false> {};
template <>
struct RequantizeTraits<RequantizeHalfAway> : FixedPointTraits<true, false> {};
template <>
struct RequantizeTraits<RequantizeDoubleRounding> : FixedPointTraits<true, true> {};

template <OffsetOrder O>
struct RequantizeTraits<RequantizeByMultiplier<O, HalfEven>> {
  using Factors = RequantizeFactors;
  using Row = RequantizeRow;
  static constexpr bool kRows = true;
  static constexpr bool kShifts = false;
  static constexpr bool kTwoFactors = false;
  static constexpr bool kAddsAfter = std::same_as<O, RoundThenAdd>;
  [[nodiscard]] static constexpr RequantizeFactors factors(const auto& params) noexcept { return {params.multiplier}; }
};

template <VectorContract C>
requires(!kDivides<C>) struct RequantizeTraits<RequantizeByScales<C>> {
  using Factors = RequantizeFactors;
  using Row = RequantizeRow;
  static constexpr bool kRows = true;
  static constexpr bool kShifts = false;
  static constexpr bool kTwoFactors = true;
  static constexpr bool kAddsAfter = kAddsAfterRounding<C>;
  [[nodiscard]] static constexpr RequantizeFactors factors(const auto& params) noexcept {
    return {params.dequant_scale, 1.0F / params.next_scale};
  }
};

template <VectorContract C>
requires(!kDivides<C>) struct RequantizeTraits<RequantizeShifted<C>> {
  using Factors = RequantizeFactors;
  using Row = RequantizeRow;
  static constexpr bool kRows = false;
  static constexpr bool kShifts = true;
  static constexpr bool kTwoFactors = true;
  static constexpr bool kAddsAfter = kAddsAfterRounding<C>;
  [[nodiscard]] static constexpr RequantizeFactors factors(const auto& params) noexcept {
    const float first = params.dequant_scale * detail::power_of_two(std::max(params.shift_bit, 0));
    if (params.shift_bit < 1) return {first, 1.0F / params.next_scale};
    return {first, 1.0F / params.next_scale, std::min(params.shift_bit, 31), Int16::min, Int16::max};
  }
};

AMCT_EXACT_END

/// A contract that the vector bodies compute.
template <class C>
concept VectorRequantize = RequantizeContract<C> && requires {
  typename RequantizeTraits<C>::Factors;
};

/// One in fixed-point arithmetic.
template <class C>
concept FixedRequantize = VectorRequantize<C> && std::same_as<typename RequantizeTraits<C>::Factors, FixedFactors>;

/// One in float32 arithmetic.
template <class C>
concept FloatRequantize = VectorRequantize<C> && !FixedRequantize<C>;

/// One whose parameters can be given for each element.
template <class C>
concept RowRequantize = VectorRequantize<C> && RequantizeTraits<C>::kRows;

template <class C>
struct RowOf {
  using type = RequantizeRow;  // not used
};
template <RowRequantize C>
struct RowOf<C> {
  using type = typename RequantizeTraits<C>::Row;
};

}  // namespace amct::kernel
