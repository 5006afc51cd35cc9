// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <amct/core/affine.hpp>
#include <amct/core/code.hpp>
#include <amct/core/rounding.hpp>

namespace amct::kernel {

/// Contracts that the vector bodies compute: any scaling and order of the offset, halves to even. Others take the
/// reference.
template <class C>
concept VectorContract = std::same_as<typename C::rounding, HalfEven> &&
    (std::same_as<typename C::scaling, Divide> ||
     std::same_as<typename C::scaling, Reciprocal>)&&(std::same_as<typename C::offset_order, RoundThenAdd> ||
                                                      std::same_as<typename C::offset_order, AddThenRound>);

template <VectorContract C>
inline constexpr bool kDivides = std::same_as<typename C::scaling, Divide>;
template <VectorContract C>
inline constexpr bool kAddsAfterRounding = std::same_as<typename C::offset_order, RoundThenAdd>;

/// Elements a thread takes at once in array functions: 1 MiB of floats, far more work than handing it over.
inline constexpr std::size_t kParallelGrain = std::size_t{1} << 18;

/// Scales for which quotients can be had from the reciprocal with one fused correction: neither the reciprocal nor a
/// remainder that matters is subnormal. Others take the reference.
[[nodiscard]] constexpr bool has_exact_quotients(float scale) noexcept {
  return scale >= 0x1p-40F && scale <= 0x1p100F;
}

/// Offsets of real quantizers lie within their codes, but AMCT does not clamp them. Beyond these the vector bodies
/// could overflow what they compute in (int16; int32 and float32), so such data take the reference.
inline constexpr std::int32_t kMostOffset16 = 16384;
inline constexpr std::int32_t kMostOffset = 524288;

[[nodiscard]] constexpr bool has_offset_within(const Affine& affine, std::int32_t most) noexcept {
  return affine.offset >= -most && affine.offset <= most;
}

}  // namespace amct::kernel
