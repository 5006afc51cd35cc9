// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

/// \file
/// Two 4-bit codes a byte, the first of two neighbours in the low nibble, as deploy models hold INT4 weights.
/// Neighbours are taken along one axis of the tensor, the input channels; an odd row ends with a high nibble of 0.
/// Arrays of codes are packed by kernel/packed4.hpp.

namespace amct {

/// One byte of two codes of -8..7.
[[nodiscard]] constexpr std::int8_t pair4(std::int8_t low, std::int8_t high) noexcept {
  assert(low >= -8 && low <= 7 && high >= -8 && high <= 7);
  const auto bits = (static_cast<unsigned>(low) & 0xFU) | (static_cast<unsigned>(high) & 0xFU) << 4;
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(bits));
}

/// The first code of a byte.
[[nodiscard]] constexpr std::int8_t low4(std::int8_t byte) noexcept {
  return static_cast<std::int8_t>(((static_cast<unsigned>(byte) & 0xFU) ^ 8U) - 8U);
}

/// The second code of a byte.
[[nodiscard]] constexpr std::int8_t high4(std::int8_t byte) noexcept { return static_cast<std::int8_t>(byte >> 4); }

/// Bytes that `codes` neighbouring codes need.
[[nodiscard]] constexpr std::size_t packed4_size(std::size_t codes) noexcept { return codes / 2 + codes % 2; }

/// Where the neighbours lie in a dense row-major tensor [outer, length, inner]: along the middle axis.
struct Packed4Layout {
  std::size_t outer = 1;
  std::size_t length = 0;
  std::size_t inner = 1;

  [[nodiscard]] constexpr std::size_t codes() const noexcept { return outer * length * inner; }
  [[nodiscard]] constexpr std::size_t bytes() const noexcept { return outer * packed4_size(length) * inner; }
};

}  // namespace amct
