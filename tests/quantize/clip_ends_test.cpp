// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/clip_ends.hpp>

#include <limits>

#include <doctest/doctest.h>

TEST_CASE("the clip ends are the values of the smallest and the largest code") {
  const amct::ClipRange symmetric = amct::clip_ends({0.5F, 0}, amct::Int8::range);
  CHECK(symmetric.low == -64.0F);
  CHECK(symmetric.high == 63.5F);
  CHECK(symmetric.scale == 0.5F);
  const amct::ClipRange positive = amct::clip_ends({0.25F, -8}, amct::Int4::range);
  CHECK(positive.low == 0.0F);
  CHECK(positive.high == 3.75F);
  const amct::ClipRange wide = amct::clip_ends({1.0F, -32768}, amct::Int16::range);
  CHECK(wide.low == 0.0F);
  CHECK(wide.high == 65535.0F);
}

TEST_CASE("an end beyond float32 is infinite") {
  const float scale = std::numeric_limits<float>::max() / 127.5F;
  CHECK(amct::clip_ends({scale, 0}, amct::Int8::range).low == -std::numeric_limits<float>::infinity());
  CHECK(amct::clip_ends({scale, 0}, amct::Int8::range).high < std::numeric_limits<float>::infinity());
}
