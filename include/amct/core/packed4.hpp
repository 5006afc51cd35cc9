// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// Two 4-bit codes a byte, the first of two neighbours in the low nibble, as deploy models hold INT4 weights.
/// Neighbours are taken along one axis of the tensor, the input channels; an odd row ends with a high nibble of 0.

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

/// Packs along the axis of the layout; the result is the dense tensor [outer, (length+1)/2, inner].
/// \pre codes.size() == layout.codes(), bytes.size() == layout.bytes(), all codes in -8..7
constexpr void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes,
                     const Packed4Layout& layout) noexcept {
  assert(codes.size() == layout.codes() && bytes.size() == layout.bytes());
  std::size_t byte = 0;
  for (std::size_t o = 0; o < layout.outer; ++o) {
    for (std::size_t k = 0; k < layout.length; k += 2) {
      for (std::size_t i = 0; i < layout.inner; ++i) {
        const std::size_t first = (o * layout.length + k) * layout.inner + i;
        const bool has_second = k + 1 < layout.length;
        bytes[byte++] = pair4(codes[first], has_second ? codes[first + layout.inner] : std::int8_t{0});
      }
    }
  }
}

/// The reverse of pack4; the nibble that completes an odd row is dropped.
constexpr void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes,
                       const Packed4Layout& layout) noexcept {
  assert(codes.size() == layout.codes() && bytes.size() == layout.bytes());
  std::size_t byte = 0;
  for (std::size_t o = 0; o < layout.outer; ++o) {
    for (std::size_t k = 0; k < layout.length; k += 2) {
      for (std::size_t i = 0; i < layout.inner; ++i) {
        const std::size_t first = (o * layout.length + k) * layout.inner + i;
        codes[first] = low4(bytes[byte]);
        if (k + 1 < layout.length) codes[first + layout.inner] = high4(bytes[byte]);
        ++byte;
      }
    }
  }
}

/// Packs neighbours in memory. \pre bytes.size() == packed4_size(codes.size()), all codes in -8..7
constexpr void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes) noexcept {
  pack4(codes, bytes, {1, codes.size(), 1});
}

/// The reverse. \pre bytes.size() == packed4_size(codes.size())
constexpr void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes) noexcept {
  unpack4(bytes, codes, {1, codes.size(), 1});
}

}  // namespace amct
