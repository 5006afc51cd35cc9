// SPDX-License-Identifier: Apache-2.0
#include <amct/core/bits.hpp>

#include <concepts>
#include <cstdint>

#include <doctest/doctest.h>

namespace {

struct TooWide {
  static constexpr int width = 17;
  static constexpr amct::CodeRange range{17};
  using storage = std::int32_t;
};

}  // namespace

TEST_CASE("a code range has 2^n codes around zero") {
  static_assert(amct::CodeRange{2}.min() == -2 && amct::CodeRange{2}.max() == 1 && amct::CodeRange{2}.steps() == 3);
  static_assert(amct::CodeRange{4}.min() == -8 && amct::CodeRange{4}.max() == 7 && amct::CodeRange{4}.steps() == 15);
  static_assert(amct::CodeRange{16}.min() == -32768 && amct::CodeRange{16}.max() == 32767);
  static_assert(amct::CodeRange{16}.steps() == 65535);
  CHECK(amct::CodeRange{} == amct::CodeRange{8});
  for (int bits = 2; bits <= 16; ++bits) {
    const amct::CodeRange range{bits};
    CAPTURE(bits);
    CHECK(range.max() - range.min() == range.steps());
    CHECK(range.min() + range.max() == -1);
  }
}

TEST_CASE("a bit width is a type with its range and storage") {
  static_assert(amct::Int8::min == -128 && amct::Int8::max == 127 && amct::Int8::width == 8);
  static_assert(amct::Int4::range == amct::CodeRange{4});
  static_assert(std::same_as<amct::Int<2>::storage, std::int8_t>);
  static_assert(std::same_as<amct::Int8::storage, std::int8_t>);
  static_assert(std::same_as<amct::Int<9>::storage, std::int16_t>);
  static_assert(std::same_as<amct::Int16::storage, std::int16_t>);
  CHECK(amct::Int16::max == 32767);
}

TEST_CASE("concepts tell bit widths and storage from other types") {
  static_assert(amct::BitWidth<amct::Int4> && amct::BitWidth<amct::Int<12>>);
  static_assert(!amct::BitWidth<int> && !amct::BitWidth<amct::CodeRange>);
  static_assert(amct::CodeStorage<std::int8_t> && amct::CodeStorage<std::int16_t>);
  static_assert(!amct::CodeStorage<std::uint8_t> && !amct::CodeStorage<std::int32_t> && !amct::CodeStorage<float>);
  CHECK_FALSE(amct::BitWidth<TooWide>);
}
