// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <amct/core/bits.hpp>

/// \file
/// Which widths of activations and weights go together, and how many products an int32 can hold, known at compile time.

namespace amct {

namespace detail {

template <class T>
struct BitsOf {};
template <BitWidth B>
struct BitsOf<B> {
  using type = B;
};
template <class Q>
requires(!BitWidth<Q> && BitWidth<typename Q::Bits>) struct BitsOf<Q> {
  using type = typename Q::Bits;
};

}  // namespace detail

/// The bit width of a width or of a quantizer: Int8 of Int8 and of Arq<Int8>.
template <class T>
using BitsOf = typename detail::BitsOf<T>::type;

/// A bit width, or a quantizer with one.
template <class T>
concept HasBits = requires {
  typename BitsOf<T>;
};

/// Activations have 4 or 8..16 bits.
[[nodiscard]] constexpr bool is_activation_width(int bits) noexcept { return bits == 4 || (bits >= 8 && bits <= 16); }

/// Weights have 4, 6, 7 or 8 bits.
[[nodiscard]] constexpr bool is_weight_width(int bits) noexcept { return bits == 4 || (bits >= 6 && bits <= 8); }

/// The pairs AMCT knows: wide activations go with 8-bit weights only, 4-bit activations with 4-bit weights only.
[[nodiscard]] constexpr bool is_legal_pair(int activation, int weight) noexcept {
  if (!is_activation_width(activation) || !is_weight_width(weight)) return false;
  return activation == 8 || weight == (activation == 4 ? 4 : 8);
}

/// A legal pair of widths, given as widths or as quantizers.
template <class Act, class Weight>
concept LegalScheme = HasBits<Act> && HasBits<Weight> && is_legal_pair(BitsOf<Act>::width, BitsOf<Weight>::width);

/// The most products of these codes whose sum fits int32 whatever the codes are: 131071 for 8 by 8 bits, 511 for 16 by
/// 8. All codes may be the most negative one. Codes are meant as stored: an offset is to be handled outside of the sum.
template <HasBits Act, HasBits Weight>
inline constexpr std::size_t kMaxDepth = std::size_t{std::numeric_limits<std::int32_t>::max()} >>
                                         (BitsOf<Act>::width - 1 + BitsOf<Weight>::width - 1);

/// True if the sum of K products, and each of its partial sums, fits int32.
template <HasBits Act, HasBits Weight, std::size_t K>
inline constexpr bool accumulator_fits_int32 = K <= kMaxDepth<Act, Weight>;

/// A pair of widths that may work together. An illegal one does not compile, and the message says which rule it breaks.
template <HasBits Act, HasBits Weight>
struct Scheme {
  using Activation = BitsOf<Act>;
  using Weights = BitsOf<Weight>;

  static_assert(is_activation_width(Activation::width), "amct: activations have 4 or 8 to 16 bits");
  static_assert(is_weight_width(Weights::width), "amct: weights have 4, 6, 7 or 8 bits");
  static_assert(Activation::width < 9 || Weights::width == 8 || !is_weight_width(Weights::width),
                "amct: activations of 9 to 16 bits go with 8-bit weights only");
  static_assert(Activation::width != 4 || Weights::width == 4 || !is_weight_width(Weights::width),
                "amct: 4-bit activations go with 4-bit weights only");

  /// Longest sum of products that surely fits int32.
  static constexpr std::size_t max_depth = kMaxDepth<Act, Weight>;

  /// int32, if the sum of K products surely fits; otherwise it does not compile.
  template <std::size_t K>
  struct Accumulator {
    static_assert(accumulator_fits_int32<Act, Weight, K>,
                  "amct: the sum of K products may exceed int32; K must not be above Scheme::max_depth");
    using type = std::int32_t;
  };
  template <std::size_t K>
  using accumulator = typename Accumulator<K>::type;
};

}  // namespace amct
