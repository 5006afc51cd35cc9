// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/bias.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Status;
using amct::StatusCode;

struct Outcome {
  Status status;
  std::vector<std::int32_t> codes;
};

Outcome quantized(const std::vector<float>& bias, float scale_d, const std::vector<float>& scale_w) {
  Outcome outcome{{}, std::vector<std::int32_t>(bias.size(), 77)};
  outcome.status = amct::quantize_bias(bias, scale_d, scale_w, outcome.codes);
  return outcome;
}

std::vector<std::int32_t> codes_of(const std::vector<float>& bias, float scale_d, const std::vector<float>& scale_w) {
  const Outcome outcome = quantized(bias, scale_d, scale_w);
  REQUIRE(outcome.status.ok());
  return outcome.codes;
}

using Codes = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("a bias is divided by the scale of the accumulator") {
  CHECK(codes_of({0.1F, -0.25F, 1.0F}, 0.02F, {0.005F}) == Codes{1000, -2500, 10000});
}

TEST_CASE("the scale of the accumulator is a float32 product") {
  static_assert(std::bit_cast<std::uint32_t>(amct::accumulator_scale(0.02F, 0.005F)) == 0x38d1b717U);
  static_assert(amct::accumulator_scale(0.0500000007F, 0.00999999978F) == 0.000500000024F);
  // 21 / (0.004 * 0.096) is 54687.5 with the float32 product and a little less with the exact one.
  CHECK(codes_of({21.0F}, 0.004F, {0.096F}) == Codes{54688});
}

TEST_CASE("there may be one weight scale or one a channel") {
  CHECK(codes_of({1.0F, 1.0F, 1.0F}, 0.5F, {0.5F}) == Codes{4, 4, 4});
  CHECK(codes_of({1.0F, 1.0F, -1.0F}, 0.5F, {0.5F, 0.25F, 1.0F}) == Codes{4, 8, -2});
  CHECK(codes_of({}, 0.5F, {0.5F}).empty());
  CHECK(codes_of({3.0F}, 1.0F, {1.0F}) == Codes{3});
}

TEST_CASE("ties round to even") {
  CHECK(codes_of({-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F, -0.0F}, 1.0F, {1.0F}) == Codes{-2, -2, 0, 0, 2, 2, 0});
}

TEST_CASE("the whole of int32 is used") {
  CHECK(codes_of({-2147483648.0F, 2147483520.0F}, 1.0F, {1.0F}) == Codes{-2147483647 - 1, 2147483520});
}

TEST_CASE("2^31 itself does not fit and neither do values beyond") {
  for (const float bad : {2147483648.0F, -2147483904.0F, 3e38F, -3e38F}) {
    const Outcome outcome = quantized({1.0F, bad, bad}, 1.0F, {1.0F});
    CAPTURE(bad);
    CHECK(outcome.status.code == StatusCode::bias_overflow);
    CHECK(outcome.status.index == 1);
    CHECK(outcome.status.value == static_cast<double>(bad));
  }
  CHECK(quantized({2147483648.0F}, 1.0F, {0.1F}).status.code == StatusCode::bias_overflow);
  CHECK(quantized({-2147483649.0F}, 1.0F, {0.1F}).status.code == StatusCode::bias_overflow);
}

TEST_CASE("the channel that overflows is named by its own scale") {
  const Outcome outcome = quantized({5.0F, -4.5F, 5.0F}, 0.5F, {1.0F, 1e-4F, 7.874e-10F});
  CHECK(outcome.status.code == StatusCode::bias_overflow);
  CHECK(outcome.status.index == 2);
}

TEST_CASE("values that are not finite and scales of zero are refused") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  CHECK(quantized({kNan}, 1.0F, {1.0F}).status.code == StatusCode::bias_overflow);
  CHECK(quantized({0.0F, -kInf}, 1.0F, {1.0F}).status.index == 1);
  CHECK(quantized({1.0F}, 0.0F, {1.0F}).status.code == StatusCode::bias_overflow);
  CHECK(quantized({0.0F}, 0.0F, {1.0F}).status.code == StatusCode::bias_overflow);
  CHECK(quantized({1.0F}, 1e-30F, {1e-30F}).status.code == StatusCode::bias_overflow);  // the product is 0
}

TEST_CASE("as many weight scales as channels are needed") {
  const Outcome outcome = quantized({1.0F, 2.0F, 3.0F}, 1.0F, {1.0F, 1.0F});
  CHECK(outcome.status.code == StatusCode::size_mismatch);
  CHECK(outcome.status.index == 2);
  CHECK(quantized({1.0F}, 1.0F, {}).status.code == StatusCode::size_mismatch);
  CHECK(outcome.codes == Codes{77, 77, 77});
}
