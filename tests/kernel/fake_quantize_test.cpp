// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/fake_quantize.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/quantize.hpp>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "kernel/streamed.hpp"
#include "support/awkward_floats.hpp"

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::DivideAddRound;
using amct::ReciprocalRoundAdd;

template <class Contract = ReciprocalRoundAdd>
std::vector<float> faked(const std::vector<float>& x, Affine affine, CodeRange range = {8}) {
  std::vector<float> y(x.size(), 99.0F);
  amct::fake_quantize<Contract>(x, y, affine, range);
  return y;
}

using Values = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// One that the vector bodies do not compute.
using HalfAwayContract = amct::Contract<amct::Divide, amct::RoundThenAdd, amct::HalfAway>;

/// What one value becomes: NaN quiet with its sign and payload, others the value of their code.
template <class Contract>
float faked_one(float x, Affine affine, CodeRange range) {
  if (std::isnan(x)) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) | 0x00400000U);
  return static_cast<float>(Contract::code(x, affine, range) - affine.offset) * affine.scale;
}

std::vector<amct::Half> all_halves() {
  std::vector<amct::Half> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  return halves;
}

/// 64 MiB of traffic and a last part of a few elements: floats that are a tie, just below it, NaN, huge, -0 in turn.
Values large_input() {
  constexpr float kTurns[] = {0.75F, 0x1.7ffffep-1F, kNan, 3e38F, -0.0F, -1.0F, 0.3F};
  Values x(33 * amct::kernel::kParallelGrain + 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = kTurns[i % 7];
  return x;
}

/// Whether `y` holds what large_input becomes under {0.5, 0} with 8 bits.
bool is_large_input_faked(const Values& y) {
  constexpr float kWant[] = {1.0F, 0.5F, kNan, 63.5F, 0.0F, -1.0F, 0.5F};
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    wrong += std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(kWant[i % 7]) ? 0 : 1;
  }
  return wrong == 0;
}

}  // namespace

TEST_CASE("values move to the nearest code, ties to the even one") {
  CHECK(faked({-1.25F, -0.75F, -0.25F, 0.25F, 0.75F, 1.25F, 0.3F}, {0.5F, 0}) ==
        Values{-1.0F, -1.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.5F});
}

TEST_CASE("C13 the two orders of rounding and offset differ at ties") {
  const Values ties = {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F};
  CHECK(faked(ties, {1.0F, 1}) == Values{-2, -2, 0, 0, 2, 2});
  CHECK(faked<DivideAddRound>(ties, {1.0F, 1}) == Values{-3, -1, -1, 1, 1, 3});
}

TEST_CASE("C14 the two ways to divide differ near ties") {
  CHECK(faked({-0x1.84ccccp+3F}, {0.1F, 0}) == Values{-122.0F * 0.1F});
  CHECK(faked<DivideAddRound>({-0x1.84ccccp+3F}, {0.1F, 0}) == Values{-121.0F * 0.1F});
}

TEST_CASE("values outside the range saturate, also infinite ones") {
  CHECK(faked({-500.0F, 500.0F, -kInf, kInf, 3e38F}, {1.0F, 0}) == Values{-128, 127, -128, 127, 127});
  CHECK(faked({-500.0F, 500.0F, kInf}, {0.5F, -128}) == Values{0.0F, 127.5F, 127.5F});
  CHECK(faked({-500.0F, 500.0F}, {0.5F, 127}) == Values{-127.5F, 0.0F});
  CHECK(faked({-9.0F, 9.0F}, {1.0F, 0}, {4}) == Values{-8, 7});
  CHECK(faked({-40000.0F, 300.4F, 40000.0F}, {1.0F, 0}, {16}) == Values{-32768, 300, 32767});
}

TEST_CASE("NaN stays NaN and its neighbours are not disturbed") {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t bad = 0; bad < size; ++bad) {
      Values x(size, 1.5F);
      x[bad] = kNan;
      const Values y = faked(x, {1.0F, 0});
      CAPTURE(size);
      CAPTURE(bad);
      for (std::size_t i = 0; i < size; ++i) CHECK((i == bad ? std::isnan(y[i]) : y[i] == 2.0F));
    }
  }
}

TEST_CASE("zero stays exactly zero whatever the offset") {
  for (int offset = -128; offset <= 127; ++offset) {
    CAPTURE(offset);
    CHECK(faked({0.0F, -0.0F}, {0.1F, offset}) == Values{0.0F, 0.0F});
    CHECK(faked<DivideAddRound>({0.0F, -0.0F}, {0.1F, offset}) == Values{0.0F, 0.0F});
  }
}

TEST_CASE("input and output may be the same memory") {
  Values x = {-1.3F, 0.2F, 0.8F};
  amct::fake_quantize(x, x, {0.5F, 0}, {8});
  CHECK(x == Values{-1.5F, 0.0F, 1.0F});
}

TEST_CASE("fake quantization equals quantization followed by dequantization") {
  const Affine affine{0.0372F, -14};
  for (std::size_t size = 0; size <= 67; ++size) {
    Values x;
    for (std::size_t i = 0; i < size; ++i) x.push_back(static_cast<float>(i * i % 113) * 0.117F - 5.0F);
    std::vector<std::int8_t> codes(size);
    Values expected(size);
    amct::quantize(std::span<const float>(x), std::span<std::int8_t>(codes), affine, {8});
    amct::dequantize(std::span<const std::int8_t>(codes), std::span<float>(expected), affine);
    CAPTURE(size);
    CHECK(faked(x, affine) == expected);
  }
}

TEST_CASE_TEMPLATE("every path fake-quantizes to the bits of the reference", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound) {
  for (const amct::Affine affine : kAwkwardAffines) {
    for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
      const auto all = support::awkward_floats(length + offset, affine.scale);
      const auto x = std::span<const float>(all).subspan(offset);
      for (const int bits : {4, 8, 16}) {
        std::vector<float> want(length);
        amct::kernel::reference::fake_quantize<Contract>(x, std::span(want), amct::CodeRange{bits}, always(affine));
        on_every_path([&] {
          std::vector<float> got(length);
          amct::fake_quantize<Contract>(x, std::span(got), affine, amct::CodeRange{bits});
          CHECK(same_bits(got, want));
        });
      }
    });
  }
}

TEST_CASE_TEMPLATE("results that bypass the caches are those of the reference, and no more", Contract,
                   amct::ReciprocalRoundAdd, amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound) {
  for (const Affine affine : {Affine{0.03F, -7}, {1.0F, 127}, {0.5F, 600000}}) {
    CAPTURE(affine.offset);
    const Values x = support::awkward_floats(kMostStreamed + 64, affine.scale);
    Values want;
    for (const float value : x) want.push_back(faked_one<Contract>(value, affine, {8}));
    check_streamed(x, want, [&](std::span<const float> in, std::span<float> out) {
      amct::kernel::fake_quantize<Contract>(in, out, affine, {8}, amct::simd::Traffic::streamed);
    });
  }
}

TEST_CASE("halves whose results bypass the caches give those of the reference, and no more") {
  std::vector<amct::Half> x;
  for (const float value : support::awkward_floats(kMostStreamed + 64, 0.03F)) x.push_back(amct::to_half(value));
  Values want;
  for (const amct::Half h : x) want.push_back(faked_one<DivideAddRound>(to_float(h), {0.03F, -7}, {8}));
  check_streamed(x, want, [&](std::span<const amct::Half> in, std::span<float> out) {
    amct::kernel::fake_quantize<DivideAddRound>(in, out, {0.03F, -7}, {8}, amct::simd::Traffic::streamed);
  });
}

TEST_CASE("tensors of 64 MiB are fake-quantized like small ones, also in place") {
  Values x = large_input();
  REQUIRE(2 * x.size() * sizeof(float) >= amct::simd::kStreamedBytes);
  Values y(x.size(), 99.0F);
  amct::fake_quantize(std::span<const float>(x), std::span(y), {0.5F, 0}, {8});
  CHECK(is_large_input_faked(y));
  amct::fake_quantize(std::span<const float>(x), std::span(x), {0.5F, 0}, {8});
  CHECK(is_large_input_faked(x));
}

TEST_CASE_TEMPLATE("every half is fake-quantized as the float of its value", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound, HalfAwayContract) {
  const auto x = all_halves();
  for (const Affine affine : kAwkwardAffines) {
    CAPTURE(affine.scale);
    CAPTURE(affine.offset);
    for (const int bits : {8, 16}) {
      Values want;
      for (const amct::Half h : x) want.push_back(faked_one<Contract>(to_float(h), affine, {bits}));
      on_every_path([&] {
        Values got(x.size(), 99.0F);
        amct::fake_quantize<Contract>(std::span<const amct::Half>(x), std::span(got), affine, CodeRange{bits});
        CHECK(same_bits(got, want));
      });
    }
  }
}

TEST_CASE_TEMPLATE("every half of a channel is fake-quantized as the float of its value", Contract,
                   amct::ReciprocalRoundAdd, amct::DivideRoundAdd, amct::DivideAddRound, amct::ReciprocalAddRound,
                   HalfAwayContract) {
  const auto x = all_halves();
  const auto check = [&](const auto& layout, const auto& channel_of, CodeRange range) {
    REQUIRE(layout.size() == x.size());
    std::vector<Affine> affines(layout.channels());
    for (std::size_t c = 0; c < affines.size(); ++c) affines[c] = kAwkwardAffines[c % 4];
    Values want;
    for (std::size_t i = 0; i < x.size(); ++i) {
      want.push_back(faked_one<Contract>(to_float(x[i]), affines[channel_of(i)], range));
    }
    on_every_path([&] {
      Values got(x.size(), 99.0F);
      amct::fake_quantize<Contract>(std::span<const amct::Half>(x), std::span(got), layout,
                                    std::span<const Affine>(affines), range);
      CHECK(same_bits(got, want));
    });
  };
  check(amct::ChannelLayout{1, 256, 256, 1}, [](std::size_t i) { return i % 256; }, {8});
  check(amct::ChannelLayout{1, 1, 256, 256}, [](std::size_t i) { return i / 256; }, {16});
  check(amct::GroupLayout{1024, 64, 32}, [](std::size_t i) { return i / 32; }, {4});
}
