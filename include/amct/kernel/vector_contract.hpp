// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <amct/core/affine.hpp>
#include <amct/core/code.hpp>

namespace amct::kernel {

/// Contracts that the vector bodies compute; others take the reference.
template <class C>
concept VectorContract = std::same_as<C, ReciprocalRoundAdd> || std::same_as<C, DivideAddRound>;

/// Scales for which quotients can be had from the reciprocal with one fused correction: neither the reciprocal nor a
/// remainder that matters is subnormal. Others take the reference.
[[nodiscard]] constexpr bool has_exact_quotients(float scale) noexcept { return scale >= 0x1p-40F && scale <= 0x1p100F; }

/// Offsets of real quantizers lie within their codes, but AMCT does not clamp them. Beyond this the vector bodies could
/// overflow int16, so such data take the reference.
[[nodiscard]] constexpr bool has_vector_offset(const Affine& affine) noexcept {
  constexpr std::int32_t kMost = 16384;
  return affine.offset >= -kMost && affine.offset <= kMost;
}

}  // namespace amct::kernel
