// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/scheme.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <amct/core/bits.hpp>
#include <amct/quantize/arq.hpp>

#include <doctest/doctest.h>

namespace {

using amct::accumulator_fits_int32;
using amct::Int;
using amct::Int16;
using amct::Int4;
using amct::Int8;
using amct::kMaxDepth;
using amct::LegalScheme;
using amct::Scheme;

static_assert(LegalScheme<Int8, Int8> && LegalScheme<Int8, Int<7>> && LegalScheme<Int8, Int<6>>);
static_assert(LegalScheme<Int8, Int4> && LegalScheme<Int4, Int4> && LegalScheme<Int<9>, Int8>);
static_assert(LegalScheme<Int16, Int8>);
static_assert(!LegalScheme<Int4, Int8> && !LegalScheme<Int16, Int4> && !LegalScheme<Int<9>, Int<7>>);
static_assert(!LegalScheme<Int<5>, Int8> && !LegalScheme<Int8, Int<5>> && !LegalScheme<Int8, Int16>);
static_assert(!LegalScheme<int, Int8> && !LegalScheme<Int8, float>);
static_assert(LegalScheme<Int8, amct::Arq<Int4>> && !LegalScheme<Int16, amct::Arq<Int4>>, "quantizers have a width");

static_assert(std::same_as<Scheme<Int16, Int8>::Activation, Int16>);
static_assert(std::same_as<Scheme<Int8, amct::Arq<Int4>>::Weights, Int4>);
static_assert(std::same_as<Scheme<Int8, Int8>::accumulator<131071>, std::int32_t>);

/// K products of the most negative codes, as an exact sum.
template <class Act, class Weight>
constexpr std::int64_t extreme_sum(std::size_t k) {
  return static_cast<std::int64_t>(k) * Act::min * Weight::min;
}

/// The limit is the largest K whose extreme sum fits.
template <class Act, class Weight>
bool is_largest_depth() {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::size_t depth = kMaxDepth<Act, Weight>;
  return extreme_sum<Act, Weight>(depth) <= kMax && extreme_sum<Act, Weight>(depth + 1) > kMax;
}

}  // namespace

TEST_CASE("C16 the sum of 131072 products of -128 by -128 does not fit int32") {
  static_assert(kMaxDepth<Int8, Int8> == 131071);
  static_assert(accumulator_fits_int32<Int8, Int8, 131071> && !accumulator_fits_int32<Int8, Int8, 131072>);
  static_assert(extreme_sum<Int8, Int8>(131072) == std::int64_t{1} << 31);
  static_assert(kMaxDepth<Int16, Int8> == 511);
  static_assert(kMaxDepth<Int8, Int4> == 2097151);
  static_assert(kMaxDepth<Int4, Int4> == 33554431);
  static_assert(Scheme<Int8, Int8>::max_depth == 131071);
  CHECK(accumulator_fits_int32<Int8, Int8, 0>);
}

TEST_CASE("the largest depth of every pair of widths is exact") {
  CHECK(is_largest_depth<Int8, Int8>());
  CHECK(is_largest_depth<Int8, Int<7>>());
  CHECK(is_largest_depth<Int8, Int<6>>());
  CHECK(is_largest_depth<Int8, Int4>());
  CHECK(is_largest_depth<Int4, Int4>());
  CHECK(is_largest_depth<Int<9>, Int8>());
  CHECK(is_largest_depth<Int<12>, Int8>());
  CHECK(is_largest_depth<Int16, Int8>());
}

TEST_CASE("exactly the pairs of AMCT are legal") {
  int legal = 0;
  for (int activation = 2; activation <= 16; ++activation) {
    for (int weight = 2; weight <= 16; ++weight) {
      const bool expected = (activation == 4 && weight == 4) || (activation >= 9 && weight == 8) ||
                            (activation == 8 && (weight == 4 || weight == 6 || weight == 7 || weight == 8));
      CAPTURE(activation);
      CAPTURE(weight);
      CHECK(amct::is_legal_pair(activation, weight) == expected);
      legal += expected ? 1 : 0;
    }
  }
  CHECK(legal == 13);
}
