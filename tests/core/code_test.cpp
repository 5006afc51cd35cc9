// SPDX-License-Identifier: Apache-2.0
#include <amct/core/code.hpp>

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::DivideAddRound;
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
static_assert(!amct::CodeContract<Affine>);

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
