// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/kernel/column_arrays.hpp>
#include <amct/kernel/requantize_factors.hpp>
#include <amct/kernel/stages.hpp>
#include <amct/kernel/vector_contract.hpp>

/// \file
/// The stages in the form that vector bodies take: plain numbers and arrays over all columns. Each form is made of its
/// stage, and says whether vector bodies can compute it with these parameters, given the most that an offset may be.
/// Stages without a form, as those of users, take the scalar path.

namespace amct::kernel {

template <class S>
struct VectorStage;

/// A stage that vector bodies know.
template <class S>
concept HasVectorStage = requires(const S& stage, ColumnArrays& arrays) {
  VectorStage<S>(stage, arrays);
};

/// How far a stage is on the way to a stored code: rounded, saturated, unsigned; 0 in front of that.
template <class S>
inline constexpr int kCodeStep = 0;
template <>
inline constexpr int kCodeStep<QuantizeTo> = 1;
template <RequantizeContract Contract>
inline constexpr int kCodeStep<Requantize<Contract>> = 1;
template <BitWidth B>
inline constexpr int kCodeStep<SaturateTo<B>> = 2;
template <>
inline constexpr int kCodeStep<AsUnsigned> = 3;

/// Whether vector bodies know all of these stages, and their order: each step of codes leaves work to the next and to
/// the store, so that only later steps may follow.
template <class... Stages>
[[nodiscard]] constexpr bool have_vector_stages() noexcept {
  [[maybe_unused]] int step = 0;
  bool in_order = true;
  ((in_order = in_order && (step == 0 || kCodeStep<Stages> > step), step = kCodeStep<Stages>), ...);
  return in_order && (HasVectorStage<Stages> && ...);
}

/// The least rounded value that gives a code, for offsets in reach.
[[nodiscard]] constexpr std::int32_t lowest(CodeRange range, std::int32_t offset) noexcept {
  return range.min() - std::clamp(offset, -kMostOffset, kMostOffset);
}

AMCT_EXACT_BEGIN

template <>
struct VectorStage<AddBias> {
  VectorStage(const AddBias& stage, ColumnArrays& arrays) {
    if (!stage.bias.empty()) bias = arrays.spread(stage.bias);
  }
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }

  const std::int32_t* bias = nullptr;  ///< null: none
};

template <>
struct VectorStage<ShiftBit> {
  VectorStage(const ShiftBit& stage, ColumnArrays& arrays) {
    if (stage.bits.empty()) return;
    auto* const to_bits = arrays.integers();
    auto* const to_least = arrays.integers();
    auto* const to_most = arrays.integers();
    for (std::size_t c = 0; c < arrays.columns(); ++c) {
      const int shift = amct::detail::of_column(stage.bits, c);
      to_bits[c] = std::clamp(shift, 0, 31);
      to_least[c] = shift < 1 ? std::numeric_limits<std::int32_t>::min() : Int16::min;
      to_most[c] = shift < 1 ? std::numeric_limits<std::int32_t>::max() : Int16::max;
    }
    bits = to_bits;
    least = to_least;
    most = to_most;
  }
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }

  const std::int32_t* bits = nullptr;  ///< null: no shifts
  const std::int32_t* least = nullptr;
  const std::int32_t* most = nullptr;
};

template <>
struct VectorStage<Dequantize> {
  VectorStage(const Dequantize& stage, ColumnArrays& arrays) : scales(arrays.spread(stage.scales)) {}
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }

  const float* scales;
};

template <>
struct VectorStage<AddResidual> : AddResidual {
  VectorStage(const AddResidual& stage, ColumnArrays&) : AddResidual(stage) {}
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }
};

template <>
struct VectorStage<ClipReal> : ClipReal {
  VectorStage(const ClipReal& stage, ColumnArrays&) : ClipReal(stage) {}
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }
};

template <>
struct VectorStage<KeepReal> : KeepReal {
  VectorStage(const KeepReal& stage, ColumnArrays&) : KeepReal(stage) {}
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }
};

/// Rounded values are kept within [low, high] before the offset is added, so that no code leaves its range.
template <>
struct VectorStage<QuantizeTo> {
  VectorStage(const QuantizeTo& stage, ColumnArrays&)
      : inverse(stage.inverse),
        high(static_cast<float>(stage.range.max()) - static_cast<float>(stage.offset)),
        low(lowest(stage.range, stage.offset)),
        offset(stage.offset) {}
  /// 0 must not be above the codes: it stands for NaN.
  [[nodiscard]] bool is_in_reach(std::int32_t most) const noexcept { return is_within(offset, most) && high >= 0.0F; }

  float inverse, high;
  std::int32_t low, offset;
};

/// A contract in float32 arithmetic: one factor or two in turn. The offset is added before rounding or after it.
template <FloatRequantize Contract>
requires RowRequantize<Contract>
struct VectorStage<Requantize<Contract>> {
  using Traits = RequantizeTraits<Contract>;

  VectorStage(const Requantize<Contract>& stage, ColumnArrays& arrays) : offset(stage.offset) {
    float* const to_first = arrays.reals();
    float* const to_second = Traits::kTwoFactors ? arrays.reals() : nullptr;
    for (std::size_t c = 0; c < arrays.columns(); ++c) {
      const RequantizeFactors factors = Traits::factors(amct::detail::of_column(stage.params, c));
      to_first[c] = factors.first;
      if (Traits::kTwoFactors) to_second[c] = factors.second;
      all_usable = all_usable && are_usable(factors);
    }
    first = to_first;
    second = to_second;
    const float added = Traits::kAddsAfter ? static_cast<float>(offset) : 0.0F;
    low = lowest(stage.range, Traits::kAddsAfter ? offset : 0);
    high = static_cast<float>(stage.range.max()) - added;
  }
  [[nodiscard]] bool is_in_reach(std::int32_t most) const noexcept { return all_usable && is_within(offset, most); }

  const float* first = nullptr;
  const float* second = nullptr;
  float high = 0.0F;
  std::int32_t low = 0;
  std::int32_t offset;
  bool all_usable = true;
};

/// A contract in fixed-point arithmetic.
template <FixedRequantize Contract>
struct VectorStage<Requantize<Contract>> {
  using Traits = RequantizeTraits<Contract>;

  VectorStage(const Requantize<Contract>& stage, ColumnArrays& arrays) : offset(stage.offset) {
    std::int32_t* const to_multiplier = arrays.integers();
    std::int32_t* const to_shift = arrays.integers();
    for (std::size_t c = 0; c < arrays.columns(); ++c) {
      const FixedFactors factors = Traits::factors(amct::detail::of_column(stage.params, c));
      to_multiplier[c] = factors.multiplier;
      to_shift[c] = factors.shift;
      all_usable = all_usable && are_usable(factors);
    }
    multiplier = to_multiplier;
    shift = to_shift;
    low = lowest(stage.range, offset);
    high = stage.range.max() - std::clamp(offset, -kMostOffset, kMostOffset);
  }
  [[nodiscard]] bool is_in_reach(std::int32_t most) const noexcept { return all_usable && is_within(offset, most); }

  const std::int32_t* multiplier = nullptr;
  const std::int32_t* shift = nullptr;
  std::int32_t low = 0, high = 0;
  std::int32_t offset;
  bool all_usable = true;
};

template <BitWidth B>
struct VectorStage<SaturateTo<B>> {
  using Bits = B;

  VectorStage(const SaturateTo<B>&, ColumnArrays&) {}
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }
};

template <>
struct VectorStage<AsUnsigned> {
  VectorStage(const AsUnsigned&, ColumnArrays&) {}
  [[nodiscard]] static constexpr bool is_in_reach(std::int32_t) noexcept { return true; }
};

AMCT_EXACT_END

}  // namespace amct::kernel
