// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/quantize.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "kernel/streamed.hpp"
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

/// One that the vector bodies do not compute.
using HalfAwayContract = amct::Contract<amct::Divide, amct::RoundThenAdd, amct::HalfAway>;

std::vector<amct::Half> all_halves() {
  std::vector<amct::Half> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  return halves;
}

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
        amct::kernel::reference::quantize<Contract>(x, std::span(want), amct::CodeRange{bits}, always(affine));
        on_every_path([&] {
          std::vector<std::int8_t> got(length);
          amct::quantize<Contract>(x, std::span(got), affine, amct::CodeRange{bits});
          CHECK(same_bits(got, want));
        });
      }
      for (const int bits : {9, 12, 16}) {
        std::vector<std::int16_t> want(length);
        amct::kernel::reference::quantize<Contract>(x, std::span(want), amct::CodeRange{bits}, always(affine));
        on_every_path([&] {
          std::vector<std::int16_t> got(length);
          amct::quantize<Contract>(x, std::span(got), affine, amct::CodeRange{bits});
          CHECK(same_bits(got, want));
        });
      }
    });
  }
}

TEST_CASE_TEMPLATE("codes that bypass the caches are those of the reference, and no more", Contract,
                   amct::ReciprocalRoundAdd, amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound) {
  const auto check = [&]<class T>(T, Affine affine, CodeRange range) {
    const auto x = support::awkward_floats(kMostStreamed + 64, affine.scale);
    std::vector<T> want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = static_cast<T>(Contract::code(x[i], affine, range));
    check_streamed(x, want, [&](std::span<const float> in, std::span<T> out) {
      amct::kernel::quantize<Contract>(in, out, affine, range, amct::simd::Traffic::streamed);
    });
  };
  check(std::int8_t{}, {0.03F, -7}, {8});
  check(std::int16_t{}, {0.01F, 1000}, {16});
  check(std::int8_t{}, {0.5F, 90000}, {8});
}

TEST_CASE("halves that bypass the caches as codes give those of the reference, and no more") {
  const auto floats = support::awkward_floats(kMostStreamed + 64, 0.03F);
  std::vector<amct::Half> x;
  std::vector<std::int8_t> want;
  for (const float value : floats) {
    x.push_back(amct::to_half(value));
    want.push_back(static_cast<std::int8_t>(ReciprocalRoundAdd::code(to_float(x.back()), {0.03F, -7}, {8})));
  }
  check_streamed(x, want, [&](std::span<const amct::Half> in, std::span<std::int8_t> out) {
    amct::kernel::quantize<ReciprocalRoundAdd>(in, out, {0.03F, -7}, {8}, amct::simd::Traffic::streamed);
  });
}

TEST_CASE_TEMPLATE("every half is quantized as the float of its value", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound, HalfAwayContract) {
  const auto check = [&]<class T>(T, CodeRange range) {
    const auto x = all_halves();
    for (const Affine affine : kAwkwardAffines) {
      CAPTURE(affine.scale);
      CAPTURE(affine.offset);
      std::vector<T> want;
      for (const amct::Half h : x) want.push_back(static_cast<T>(Contract::code(to_float(h), affine, range)));
      on_every_path([&] {
        std::vector<T> got(x.size(), T{99});
        amct::quantize<Contract>(std::span<const amct::Half>(x), std::span(got), affine, range);
        CHECK(same_bits(got, want));
      });
    }
  };
  check(std::int8_t{}, {8});
  check(std::int16_t{}, {16});
}

TEST_CASE_TEMPLATE("every half of a channel is quantized as the float of its value", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound, HalfAwayContract) {
  const auto x = all_halves();
  const auto check = [&]<class T>(T, const auto& layout, const auto& channel_of, CodeRange range) {
    REQUIRE(layout.size() == x.size());
    std::vector<Affine> affines(layout.channels());
    for (std::size_t c = 0; c < affines.size(); ++c) affines[c] = kAwkwardAffines[c % 4];
    std::vector<T> want;
    for (std::size_t i = 0; i < x.size(); ++i) {
      want.push_back(static_cast<T>(Contract::code(to_float(x[i]), affines[channel_of(i)], range)));
    }
    on_every_path([&] {
      std::vector<T> got(x.size(), T{99});
      amct::quantize<Contract>(std::span<const amct::Half>(x), std::span(got), layout, std::span<const Affine>(affines),
                               range);
      CHECK(same_bits(got, want));
    });
  };
  check(std::int8_t{}, amct::ChannelLayout{1, 256, 256, 1}, [](std::size_t i) { return i % 256; }, {8});
  check(std::int16_t{}, amct::ChannelLayout{1, 1, 256, 256}, [](std::size_t i) { return i / 256; }, {16});
  check(std::int16_t{}, amct::GroupLayout{1024, 64, 32}, [](std::size_t i) { return i / 32; }, {12});
}

TEST_CASE("values next to every tie round as their float32 quotients do, whatever the scale") {
  for (unsigned i = 0; i < 1500; ++i) {
    // Significands of every kind: the last bits decide which way quotients are computed.
    const float scale =
        std::bit_cast<float>(0x3C000000U + (i * 2654435761U & 0x7FFFFFU) - (i % 2) * (i * 40503U & 511U));
    CAPTURE(scale);
    std::vector<float> x;
    for (int k = -130; k <= 130; ++k) {
      float near = (static_cast<float>(k) + 0.5F) * scale;
      for (int step = 0; step < 3; ++step) near = std::nextafter(near, -1e30F);
      for (int step = 0; step < 7; ++step) {
        x.push_back(near);
        near = std::nextafter(near, 1e30F);
      }
    }
    const amct::Affine affine{scale, i % 3 == 0 ? 0 : 5};
    std::vector<std::int8_t> want(x.size());
    const std::span<const float> values(x);
    amct::kernel::reference::quantize<amct::DivideRoundAdd>(values, std::span(want), amct::CodeRange{8},
                                                            always(affine));
    on_every_path([&] {
      std::vector<std::int8_t> codes(x.size());
      amct::quantize<amct::DivideRoundAdd>(values, std::span(codes), affine, amct::CodeRange{8});
      CHECK(same_bits(codes, want));
    });
  }
}
