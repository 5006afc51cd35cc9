// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
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

/// The reciprocal of a scale as a sum of two floats, good to 2^-47.
struct SplitReciprocal {
  float high = 1.0F;
  float low = 0.0F;
};

[[nodiscard]] inline SplitReciprocal split_reciprocal(float scale) noexcept {
  const float high = 1.0F / scale;
  return {high, std::fma(-scale, high, 1.0F) * high};
}

/// Scales whose quotients x / scale, when computed as fl(x * high + fl(x * low)), round to the same integer as the
/// float32 quotient does, for integers within 2^15.
///
/// The sum is within 2^-46 of the true quotient e, so the integers can differ only if a midpoint t between k + 1/2 and
/// a neighbouring float lies that close to e. Written with integers, e = X / S and t = T with X and S of 24 bits and T
/// of 25, up to powers of two, the distance of X * 2^24 or 2^25 from T * S is then below 8. But k + 1/2 has 16 bits, so
/// T is +-1 modulo 512, which makes T * S as near to 0 modulo 512 as S is. (It is not 0: T is odd and S below 2^24.)
[[nodiscard]] constexpr bool has_split_quotients(float scale) noexcept {
  const std::uint32_t significand = std::bit_cast<std::uint32_t>(scale);
  const std::uint32_t shifted = (significand + 8) % 512;
  return shifted > 16 && scale >= 0x1p-40F && scale <= 0x1p60F;
}

/// Offsets of real quantizers lie within their codes, but AMCT does not clamp them. Beyond these the vector bodies
/// could overflow what they compute in (int16; int32 and float32), so such data take the reference.
inline constexpr std::int32_t kMostOffset16 = 16384;
inline constexpr std::int32_t kMostOffset = 524288;

/// Contracts and codes for which a split reciprocal suffices: with offsets within kMostOffset16, values of 2^15 steps
/// and more saturate; an offset that is added before rounding would ask for more than the integer.
template <class Contract, class T>
concept CanSplit = VectorContract<Contract> && kDivides<Contract> && kAddsAfterRounding<Contract> && sizeof(T) == 1;

[[nodiscard]] constexpr bool is_within(std::int32_t offset, std::int32_t most) noexcept {
  return offset >= -most && offset <= most;
}

}  // namespace amct::kernel
