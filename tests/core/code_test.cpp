// SPDX-License-Identifier: Apache-2.0
#include <amct/core/code.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::Contract;
using amct::DivideAddRound;
using amct::DivideRoundAdd;
using amct::HalfAway;
using amct::HalfUp;
using amct::ReciprocalAddRound;
using amct::ReciprocalRoundAdd;

constexpr CodeRange kInt8{8};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

template <class Contract>
constexpr std::int32_t code(float x, Affine affine, CodeRange range = kInt8) {
  return Contract::code(x, affine, range);
}

static_assert(amct::CodeContract<ReciprocalRoundAdd> && amct::CodeContract<DivideAddRound>);
static_assert(amct::CodeContract<DivideRoundAdd> && amct::CodeContract<ReciprocalAddRound>);
static_assert(!amct::CodeContract<Affine>);
static_assert(amct::Scaling<amct::Divide> && amct::Scaling<amct::Reciprocal> && !amct::Scaling<HalfUp>);
static_assert(amct::OffsetOrder<amct::AddThenRound> && amct::OffsetOrder<amct::RoundThenAdd>);
static_assert(std::same_as<ReciprocalRoundAdd, Contract<amct::Reciprocal, amct::RoundThenAdd, amct::HalfEven>>);
static_assert(std::same_as<DivideAddRound::offset_order, amct::AddThenRound>);

/// The codes of -2.5, -1.5 ... 2.5 at scale 1.
template <class Contract>
std::array<std::int32_t, 6> codes_of_ties(std::int32_t offset) {
  std::array<std::int32_t, 6> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = code<Contract>(static_cast<float>(i) - 2.5F, {1.0F, offset});
  }
  return codes;
}
using Codes = std::array<std::int32_t, 6>;

/// The law of a contract step by step, each step stored in a float of its own.
template <class Round>
std::int32_t reference(float x, Affine a, bool divide, bool add_first, Round round) {
  const volatile float inverse = 1.0F / a.scale;
  const volatile float scaled = divide ? x / a.scale : x * inverse;
  const volatile float sum = scaled + static_cast<float>(a.offset);
  const float placed = add_first ? round(sum) : round(scaled) + static_cast<float>(a.offset);
  return static_cast<std::int32_t>(std::clamp(placed, -128.0F, 127.0F));
}

}  // namespace

TEST_CASE("C13 the deploy contract rounds ties to even and then adds the offset") {
  static_assert(code<ReciprocalRoundAdd>(-2.5F, {1.0F, 0}) == -2);
  static_assert(code<ReciprocalRoundAdd>(-1.5F, {1.0F, 0}) == -2);
  static_assert(code<ReciprocalRoundAdd>(-0.5F, {1.0F, 0}) == 0);
  static_assert(code<ReciprocalRoundAdd>(0.5F, {1.0F, 0}) == 0);
  static_assert(code<ReciprocalRoundAdd>(1.5F, {1.0F, 0}) == 2);
  static_assert(code<ReciprocalRoundAdd>(2.5F, {1.0F, 0}) == 2);
  static_assert(code<ReciprocalRoundAdd>(-2.5F, {1.0F, 1}) == -1);
  static_assert(code<ReciprocalRoundAdd>(-1.5F, {1.0F, 1}) == -1);
  static_assert(code<ReciprocalRoundAdd>(-0.5F, {1.0F, 1}) == 1);
  static_assert(code<ReciprocalRoundAdd>(0.5F, {1.0F, 1}) == 1);
  static_assert(code<ReciprocalRoundAdd>(1.5F, {1.0F, 1}) == 3);
  static_assert(code<ReciprocalRoundAdd>(2.5F, {1.0F, 1}) == 3);
  CHECK(code<ReciprocalRoundAdd>(2.5F, {1.0F, -1}) == 1);
}

TEST_CASE("C13 the training contract adds the offset before it rounds") {
  static_assert(code<DivideAddRound>(-2.5F, {1.0F, 1}) == -2);
  static_assert(code<DivideAddRound>(-1.5F, {1.0F, 1}) == 0);
  static_assert(code<DivideAddRound>(-0.5F, {1.0F, 1}) == 0);
  static_assert(code<DivideAddRound>(0.5F, {1.0F, 1}) == 2);
  static_assert(code<DivideAddRound>(1.5F, {1.0F, 1}) == 2);
  static_assert(code<DivideAddRound>(2.5F, {1.0F, 1}) == 4);
  CHECK(code<DivideAddRound>(2.5F, {1.0F, 0}) == 2);
}

TEST_CASE("C14 division and multiplication by the reciprocal differ by one code near ties") {
  static_assert(code<DivideAddRound>(-0x1.84ccccp+3F, {0.1F, 0}) == -121);
  static_assert(code<ReciprocalRoundAdd>(-0x1.84ccccp+3F, {0.1F, 0}) == -122);
  static_assert(code<DivideAddRound>(-0x1.d00002p+2F, {0.1F, 0}) == -72);
  CHECK(code<ReciprocalRoundAdd>(-0x1.d00002p+2F, {0.1F, 0}) == -73);
}

TEST_CASE("codes saturate at both ends") {
  static_assert(code<ReciprocalRoundAdd>(127.4F, {1.0F, 0}) == 127);
  static_assert(code<ReciprocalRoundAdd>(127.5F, {1.0F, 0}) == 127);
  static_assert(code<ReciprocalRoundAdd>(-128.4F, {1.0F, 0}) == -128);
  static_assert(code<ReciprocalRoundAdd>(-129.0F, {1.0F, 0}) == -128, "symmetric quantizers use -128 too");
  static_assert(code<ReciprocalRoundAdd>(-9.0F, {1.0F, 0}, CodeRange{4}) == -8);
  static_assert(code<DivideAddRound>(40000.0F, {1.0F, 0}, CodeRange{16}) == 32767);
  static_assert(code<DivideAddRound>(-40000.0F, {1.0F, 0}, CodeRange{16}) == -32768);
  CHECK(code<DivideAddRound>(kMax, {1.0F, 0}) == 127);
  CHECK(code<ReciprocalRoundAdd>(-kMax, {1.0F, 0}) == -128);
}

TEST_CASE("the offset may be at either end of the range") {
  static_assert(code<ReciprocalRoundAdd>(0.0F, {0.5F, -128}) == -128);
  static_assert(code<ReciprocalRoundAdd>(127.5F, {0.5F, -128}) == 127);
  static_assert(code<ReciprocalRoundAdd>(-1.0F, {0.5F, -128}) == -128);
  static_assert(code<DivideAddRound>(0.0F, {0.5F, 127}) == 127);
  static_assert(code<DivideAddRound>(-127.5F, {0.5F, 127}) == -128);
  CHECK(code<DivideAddRound>(1.0F, {0.5F, 127}) == 127);
}

TEST_CASE("zero of either sign gives the offset") {
  static_assert(code<ReciprocalRoundAdd>(-0.0F, {0.1F, -14}) == -14);
  static_assert(code<DivideAddRound>(-0.0F, {0.1F, -14}) == -14);
  CHECK(code<ReciprocalRoundAdd>(0.0F, {0.1F, 0}) == 0);
}

TEST_CASE("NaN gives the offset and infinities saturate") {
  CHECK(code<ReciprocalRoundAdd>(kNan, {0.1F, -14}) == -14);
  CHECK(code<DivideAddRound>(kNan, {0.1F, 127}) == 127);
  CHECK(code<ReciprocalRoundAdd>(-kNan, {0.1F, 3}) == 3);
  CHECK(code<ReciprocalRoundAdd>(kInf, {0.1F, -14}) == 127);
  CHECK(code<ReciprocalRoundAdd>(-kInf, {0.1F, -14}) == -128);
  CHECK(code<DivideAddRound>(kInf, {0.1F, -14}) == 127);
  CHECK(code<DivideAddRound>(-kInf, {0.1F, -14}) == -128);
}

TEST_CASE("NaN gives the code of zero even if the offset lies outside the range") {
  CHECK(code<ReciprocalRoundAdd>(0.0F, {1.0F, 200}) == 127);
  CHECK(code<ReciprocalRoundAdd>(kNan, {1.0F, 200}) == 127);
  CHECK(code<DivideAddRound>(kNan, {1.0F, -200}) == -128);
}

TEST_CASE("values whose quotient overflows float32 saturate") {
  CHECK(code<ReciprocalRoundAdd>(kMax, {0x1p-23F, 0}) == 127);
  CHECK(code<DivideAddRound>(-kMax, {0x1p-23F, 127}) == -128);
}

TEST_CASE("the range stays closed at 16 bits where floats are still exact integers") {
  static_assert(code<ReciprocalRoundAdd>(32766.5F, {1.0F, 0}, CodeRange{16}) == 32766);
  static_assert(code<ReciprocalRoundAdd>(32767.5F, {1.0F, 0}, CodeRange{16}) == 32767);
  CHECK(code<DivideAddRound>(-32768.5F, {1.0F, 0}, CodeRange{16}) == -32768);
}

TEST_CASE("C13 each contract takes each rounding mode") {
  using amct::AddThenRound;
  using amct::Divide;
  using amct::Reciprocal;
  using amct::RoundThenAdd;
  CHECK(codes_of_ties<DivideRoundAdd>(0) == Codes{-2, -2, 0, 0, 2, 2});
  CHECK(codes_of_ties<DivideRoundAdd>(1) == Codes{-1, -1, 1, 1, 3, 3});
  CHECK(codes_of_ties<ReciprocalAddRound>(1) == Codes{-2, 0, 0, 2, 2, 4});
  CHECK(codes_of_ties<DivideAddRound>(1) == Codes{-2, 0, 0, 2, 2, 4});
  CHECK(codes_of_ties<Contract<Divide, RoundThenAdd, HalfAway>>(0) == Codes{-3, -2, -1, 1, 2, 3});
  CHECK(codes_of_ties<Contract<Divide, RoundThenAdd, HalfAway>>(1) == Codes{-2, -1, 0, 2, 3, 4});
  CHECK(codes_of_ties<Contract<Divide, AddThenRound, HalfAway>>(1) == Codes{-2, -1, 1, 2, 3, 4});
  CHECK(codes_of_ties<Contract<Reciprocal, RoundThenAdd, HalfUp>>(0) == Codes{-2, -1, 0, 1, 2, 3});
  CHECK(codes_of_ties<Contract<Reciprocal, AddThenRound, HalfUp>>(1) == Codes{-1, 0, 1, 2, 3, 4});
}

TEST_CASE("C14 ONNX divides and the NPU multiplies") {
  static_assert(code<DivideRoundAdd>(-0x1.84ccccp+3F, {0.1F, 0}) == -121);
  static_assert(code<DivideRoundAdd>(-0x1.d00002p+2F, {0.1F, 0}) == -72);
  static_assert(code<ReciprocalAddRound>(-0x1.84ccccp+3F, {0.1F, 0}) == -122);
  CHECK(code<ReciprocalAddRound>(-0x1.d00002p+2F, {0.1F, 0}) == -73);
}

TEST_CASE("the rule for NaN, infinities and saturation is the same in every contract") {
  CHECK(code<DivideRoundAdd>(kNan, {0.1F, -14}) == -14);
  CHECK(code<ReciprocalAddRound>(kNan, {0.1F, 200}) == 127);
  CHECK(code<DivideRoundAdd>(kInf, {0.1F, -14}) == 127);
  CHECK(code<ReciprocalAddRound>(-kInf, {0.1F, -14}) == -128);
  CHECK(code<Contract<amct::Divide, amct::AddThenRound, HalfUp>>(kNan, {0.1F, 5}) == 5);
  CHECK(code<Contract<amct::Divide, amct::AddThenRound, HalfAway>>(kMax, {0x1p-23F, 5}, CodeRange{4}) == 7);
  CHECK(code<ReciprocalAddRound>(-129.0F, {1.0F, 0}) == -128);
}

TEST_CASE("contracts agree with their formula step by step on values around ties") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> scales(1e-3F, 2.0F);
  const auto even = [](float x) { return std::nearbyint(x); };
  const auto away = [](float x) { return std::round(x); };
  std::int64_t wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const Affine a{scales(random), static_cast<std::int32_t>(random() % 256) - 128};
    const float tie = (static_cast<float>(random() % 300) - 149.5F) * a.scale;
    const float x = std::nextafter(tie, i % 3 == 0 ? tie : (i % 3 == 1 ? kInf : -kInf));
    wrong += code<ReciprocalRoundAdd>(x, a) == reference(x, a, false, false, even) ? 0 : 1;
    wrong += code<DivideRoundAdd>(x, a) == reference(x, a, true, false, even) ? 0 : 1;
    wrong += code<DivideAddRound>(x, a) == reference(x, a, true, true, even) ? 0 : 1;
    wrong += code<ReciprocalAddRound>(x, a) == reference(x, a, false, true, even) ? 0 : 1;
    using NpuAway = Contract<amct::Reciprocal, amct::AddThenRound, HalfAway>;
    wrong += code<NpuAway>(x, a) == reference(x, a, false, true, away) ? 0 : 1;
  }
  CHECK(wrong == 0);
}
