// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/quantize.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::DivideAddRound;
using amct::ReciprocalRoundAdd;

template <class Contract = ReciprocalRoundAdd, class T = std::int8_t>
std::vector<int> codes_of(const std::vector<float>& x, Affine affine, CodeRange range = {8}) {
  std::vector<T> codes(x.size(), T{99});
  amct::quantize<Contract>(x, std::span<T>(codes), affine, range);
  return {codes.begin(), codes.end()};
}

using Codes = std::vector<int>;

/// `pattern` repeated to `size` elements.
template <class T>
std::vector<T> repeated(const std::vector<T>& pattern, std::size_t size) {
  std::vector<T> result;
  for (std::size_t i = 0; i < size; ++i) result.push_back(pattern[i % pattern.size()]);
  return result;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("C13 ties round to even at all lengths from 1 to 67") {
  const std::vector<float> ties = {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F};
  for (std::size_t size = 1; size <= 67; ++size) {
    const auto x = repeated(ties, size);
    CAPTURE(size);
    CHECK(codes_of(x, {1.0F, 0}) == repeated(Codes{-2, -2, 0, 0, 2, 2}, size));
    CHECK(codes_of<DivideAddRound>(x, {1.0F, 0}) == repeated(Codes{-2, -2, 0, 0, 2, 2}, size));
  }
}

TEST_CASE("C13 the offset is added after rounding, or before it under the training contract, at all lengths") {
  const std::vector<float> ties = {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F};
  for (std::size_t size = 1; size <= 67; ++size) {
    const auto x = repeated(ties, size);
    CAPTURE(size);
    CHECK(codes_of(x, {1.0F, 1}) == repeated(Codes{-1, -1, 1, 1, 3, 3}, size));
    CHECK(codes_of<DivideAddRound>(x, {1.0F, 1}) == repeated(Codes{-2, 0, 0, 2, 2, 4}, size));
  }
}

TEST_CASE("C14 each contract keeps its way to divide at all lengths") {
  const std::vector<float> near_ties = {-0x1.84ccccp+3F, -0x1.d00002p+2F};
  for (std::size_t size = 1; size <= 67; ++size) {
    const auto x = repeated(near_ties, size);
    CAPTURE(size);
    CHECK(codes_of(x, {0.1F, 0}) == repeated(Codes{-122, -73}, size));
    CHECK(codes_of<DivideAddRound>(x, {0.1F, 0}) == repeated(Codes{-121, -72}, size));
  }
}

TEST_CASE("NaN gives the offset, infinities and large values saturate") {
  const std::vector<float> x = {kNan, kInf, -kInf, 3e38F, -3e38F, -0.0F};
  CHECK(codes_of(x, {0.5F, -14}) == Codes{-14, 127, -128, 127, -128, -14});
  CHECK(codes_of<DivideAddRound>(x, {0.5F, -14}) == Codes{-14, 127, -128, 127, -128, -14});
  CHECK(codes_of({-128.0F, -127.0F, -129.0F}, {1.0F, 0}) == Codes{-128, -127, -128});
}

TEST_CASE("offsets at both ends use the whole range") {
  CHECK(codes_of({0.0F, 127.5F, 64.0F}, {0.5F, -128}) == Codes{-128, 127, 0});
  CHECK(codes_of({0.0F, -127.5F, -63.5F}, {0.5F, 127}) == Codes{127, -128, 0});
}

TEST_CASE("4-bit codes live in int8 and 16-bit codes in int16") {
  CHECK(codes_of({-9.0F, -8.0F, 6.5F, 7.5F, 100.0F}, {1.0F, 0}, {4}) == Codes{-8, -8, 6, 7, 7});
  CHECK(codes_of<ReciprocalRoundAdd, std::int16_t>({-40000.0F, 300.5F, 301.5F, 40000.0F, kNan}, {1.0F, -7}, {16}) ==
        Codes{-32768, 293, 295, 32767, -7});
  CHECK(codes_of<ReciprocalRoundAdd, std::int16_t>({-3000.0F, 3000.0F}, {1.0F, 0}, {12}) == Codes{-2048, 2047});
}

TEST_CASE("no element is no work") { CHECK(codes_of({}, {1.0F, 0}).empty()); }

TEST_CASE("only as many codes as values are written") {
  std::vector<std::int8_t> codes(5, 99);
  const std::vector<float> x = {1.0F, 2.0F, 3.0F};
  amct::quantize(std::span<const float>(x), std::span<std::int8_t>(codes).subspan(1, 3), {1.0F, 0}, {8});
  CHECK(codes == std::vector<std::int8_t>{99, 1, 2, 3, 99});
}

TEST_CASE_TEMPLATE("every path quantizes to the bits of the reference", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound) {
  for (const amct::Affine affine : kAwkwardAffines) {
    for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
      const auto all = support::awkward_floats(length + offset, affine.scale);
      const auto x = std::span<const float>(all).subspan(offset);
      for (const int bits : {2, 4, 8}) {
        std::vector<std::int8_t> want(length);
        amct::kernel::reference::quantize<Contract>(x, std::span(want), affine, amct::CodeRange{bits});
        on_every_path([&] {
          std::vector<std::int8_t> got(length);
          amct::quantize<Contract>(x, std::span(got), affine, amct::CodeRange{bits});
          CHECK(same_bits(got, want));
        });
      }
      for (const int bits : {9, 12, 16}) {
        std::vector<std::int16_t> want(length);
        amct::kernel::reference::quantize<Contract>(x, std::span(want), affine, amct::CodeRange{bits});
        on_every_path([&] {
          std::vector<std::int16_t> got(length);
          amct::quantize<Contract>(x, std::span(got), affine, amct::CodeRange{bits});
          CHECK(same_bits(got, want));
        });
      }
    });
  }
}
