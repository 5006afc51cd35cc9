// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/bias_aware.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <amct/quantize/bias.hpp>

using namespace amct;

namespace {

ChannelLoad load(float weight, std::size_t count, float bias) {
  return {.min = weight < 0.0F ? weight : 0.0F,
          .max = weight > 0.0F ? weight : 0.0F,
          .sum = std::fabs(static_cast<double>(weight)) * static_cast<double>(count),
          .count = count,
          .bias = bias};
}

WeightScale choose(float scale_w, const std::vector<ChannelLoad>& channels, float scale_d) {
  return bias_aware_scale(scale_w, channels, {.scale = scale_d, .largest = 255}, Int8::range);
}

std::int64_t bias_code(float bias, float scale_d, float scale_w) {
  std::int32_t code = 0;
  REQUIRE(quantize_bias({&bias, 1}, scale_d, {&scale_w, 1}, {&code, 1}).ok());
  return code;
}

}  // namespace

TEST_CASE("bias_aware: a dead channel's bias keeps the digits of float32, whatever its size") {
  for (const float bias : {0.9F, -0.9F, 1e-4F, 3e5F}) {
    for (const float scale_d : {2.0F, 1e-3F}) {
      CAPTURE(bias);
      CAPTURE(scale_d);
      const auto choice = choose(1.0F, {load(0.0F, 9, bias)}, scale_d);
      CHECK(choice.reason == ScaleReason::dead_channel);
      const std::int64_t code = std::abs(bias_code(bias, scale_d, choice.scale));
      CHECK(code > (1 << 23) - 4);
      CHECK(code <= 1 << 23);
    }
  }
}

TEST_CASE("bias_aware: without a bias, and with an ordinary one, scales stay") {
  CHECK(choose(1.0F, {load(0.0F, 9, 0.0F)}, 2.0F) == WeightScale{1.0F});
  CHECK(choose(0.01F, {load(1.27F, 9, 0.5F)}, 0.1F) == WeightScale{0.01F});
}

TEST_CASE("bias_aware: small weights get the scale of their range") {
  const auto choice = choose(1.0F, {load(1e-6F, 4, 1e-3F)}, 0.5F);
  CHECK(choice.reason == ScaleReason::small_weights);
  CHECK(choice.scale == 1e-6F / 127.0F);
}

TEST_CASE("bias_aware: a scale leaves room in int32 for bias and products, and no more than that") {
  for (const std::size_t count : {1U, 64U, 4096U}) {
    for (const float weight : {1e-7F, -1e-7F, 1e-4F, 0.01F}) {
      for (const float bias : {5.0F, -3e4F, 2e8F}) {
        CAPTURE(count);
        CAPTURE(weight);
        CAPTURE(bias);
        const float own = std::fabs(weight) / (weight < 0.0F ? 128.0F : 127.0F);
        const auto choice = choose(own, {load(weight, count, bias)}, 0.5F);
        const double most = std::abs(static_cast<double>(bias_code(bias, 0.5F, choice.scale))) +
                            255.0 * static_cast<double>(count) * std::nearbyint(std::fabs(weight) / choice.scale);
        CHECK(most <= 2147483647.0);
        if (choice.reason == ScaleReason::kept) continue;
        CHECK(choice.reason == ScaleReason::large_bias);
        CHECK(choice.scale > own);
        CHECK(most > 0.45 * 2147483647.0);
      }
    }
  }
}

TEST_CASE("bias_aware: products that could overflow on their own do not raise a scale") {
  const auto choice = bias_aware_scale(0.01F, std::vector{load(1.27F, 5000, 1.0F)}, {0.001F, 65535}, Int8::range);
  CHECK(choice == WeightScale{0.01F});
}

TEST_CASE("bias_aware: channels with one scale follow the one that needs most") {
  const std::vector channels{load(1e-7F, 2, 1.0F), load(-1e-7F, 2, 5.0F), load(0.0F, 2, 0.0F)};
  const auto together = choose(1.0F, channels, 0.5F);
  CHECK(together.reason == ScaleReason::large_bias);
  CHECK(together.scale == choose(1.0F, {channels[1]}, 0.5F).scale);
  CHECK(choose(1.0F, {load(0.0F, 2, 0.1F), load(0.0F, 2, -7.0F)}, 2.0F).scale ==
        choose(1.0F, {load(0.0F, 2, 7.0F)}, 2.0F).scale);
}

TEST_CASE("bias_aware: applied twice it changes nothing more, and unusable scales are never chosen") {
  for (const auto& channel : {load(0.0F, 2, 0.9F), load(1e-7F, 2, 5.0F), load(1e-6F, 2, 0.0F), load(1.0F, 2, 1e9F)}) {
    const auto once = choose(1.0F, {channel}, 0.01F);
    CHECK(choose(once.scale, {channel}, 0.01F) == WeightScale{once.scale});
  }
  CHECK(choose(1.0F, {load(0.0F, 1, 3e38F)}, 1e-30F) == WeightScale{1.0F});
}
