// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace amct {

/// The signed integer codes of one bit width: -2^(n-1) .. 2^(n-1)-1.
/// A value, so that one instantiation of an observer serves all widths.
struct CodeRange {
  int bits = 8;  ///< 2..16

  [[nodiscard]] constexpr std::int32_t min() const noexcept { return -(std::int32_t{1} << (bits - 1)); }
  [[nodiscard]] constexpr std::int32_t max() const noexcept { return (std::int32_t{1} << (bits - 1)) - 1; }
  /// Number of steps between the smallest and the largest code, 2^n - 1.
  [[nodiscard]] constexpr std::int32_t steps() const noexcept { return (std::int32_t{1} << bits) - 1; }

  friend constexpr bool operator==(CodeRange, CodeRange) = default;
};

/// A signed integer of N bits as a type. Codes of up to 8 bits are stored in int8, wider ones in int16.
template <int N>
requires(N >= 2 && N <= 16) struct Int {
  static constexpr int width = N;
  static constexpr CodeRange range{N};
  static constexpr std::int32_t min = range.min();
  static constexpr std::int32_t max = range.max();
  using storage = std::conditional_t<(N <= 8), std::int8_t, std::int16_t>;
};

using Int4 = Int<4>;
using Int8 = Int<8>;
using Int16 = Int<16>;

/// A bit width as a type: Int4, Int8, Int<12> ...
template <class B>
concept BitWidth = requires {
  typename B::storage;
  { B::range } -> std::convertible_to<CodeRange>;
  requires B::width >= 2 && B::width <= 16;
};

/// An integer type that codes are stored in.
template <class T>
concept CodeStorage = std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t>;

}  // namespace amct
