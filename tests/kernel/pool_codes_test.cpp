// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/pool_codes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/random_conv.hpp"

namespace {

using amct::ConvShape;
using amct::StatusCode;

/// The largest codes, found from the side of the input.
template <class T>
std::vector<T> scattered_largest(const ConvShape& s, const std::vector<T>& x) {
  std::vector<T> largest(s.y_size(), std::numeric_limits<T>::lowest());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t pixel = i / s.channels_in;
    const amct::SpatialSizes at{pixel / (s.input[1] * s.input[2]) % s.input[0], pixel / s.input[2] % s.input[1],
                                pixel % s.input[2]};
    for (std::size_t tap = 0; tap < s.kernel_size(); ++tap) {
      const std::int64_t z = support::meeting(s, 0, at[0], tap / (s.kernel[1] * s.kernel[2]));
      const std::int64_t y = support::meeting(s, 1, at[1], tap / s.kernel[2] % s.kernel[1]);
      const std::int64_t o = support::meeting(s, 2, at[2], tap % s.kernel[2]);
      if (z < 0 || y < 0 || o < 0) continue;
      T& there = largest[support::place(s.output, s.channels_in, pixel / s.input_size(), static_cast<std::size_t>(z),
                                        static_cast<std::size_t>(y), static_cast<std::size_t>(o), i % s.channels_in)];
      there = std::max(there, x[i]);
    }
  }
  return largest;
}

template <class T>
void check_pool(ConvShape shape, support::Draws& draws) {
  shape.channels_out = shape.channels_in;
  CAPTURE(support::describe(shape));
  const auto x = draws.codes<T>(shape.x_size());
  const auto want = scattered_largest(shape, x);
  on_every_path([&] {
    std::vector<T> y(shape.y_size(), 1);
    REQUIRE(amct::max_pool_codes<T>(shape, x, y));
    CHECK(y == want);
  });
}

}  // namespace

TEST_CASE("a max pool by hand: windows without an element give the lowest code") {
  ConvShape shape;
  shape.input = {1, 1, 4};
  shape.kernel = {1, 1, 2};
  shape.stride = {1, 1, 2};
  shape.output = {1, 1, 3};
  const std::vector<std::int8_t> x = {3, -5, -7, -6};
  on_every_path([&] {
    std::vector<std::int8_t> y(3);
    REQUIRE(amct::max_pool_codes<std::int8_t>(shape, x, y));
    CHECK(y == std::vector<std::int8_t>{3, -6, -128});
  });
}

TEST_CASE("random max pools of all types have the largest codes on every path") {
  support::Draws draws(11);
  for (int i = 0; i < 400; ++i) {
    ConvShape shape = support::draw_conv(draws);
    shape.groups = 1;
    if (i % 4 == 0) shape.channels_in = draws.from(1, 150);
    check_pool<std::int8_t>(shape, draws);
    check_pool<std::uint8_t>(shape, draws);
    check_pool<std::int16_t>(shape, draws);
  }
}

TEST_CASE("a max pool that is split over threads has the largest codes") {
  support::Draws draws(12);
  ConvShape shape;
  shape.channels_in = 64;
  shape.input = {1, 56, 56};
  shape.kernel = {1, 3, 3};
  shape.stride = {1, 2, 2};
  shape.pad_begin = {0, 1, 1};
  REQUIRE(shape.fit_output({0, 1, 1}));
  check_pool<std::int8_t>(shape, draws);
}

TEST_CASE("a max pool whose sizes do not agree is refused") {
  ConvShape shape;
  shape.input = shape.output = {1, 1, 4};
  const std::vector<std::int8_t> x(4);
  std::vector<std::int8_t> y(4, 9);
  const auto code = [&] { return amct::max_pool_codes<std::int8_t>(shape, x, y).code; };
  shape.channels_out = 2;
  CHECK(code() == StatusCode::size_mismatch);
  shape.channels_out = 1;
  shape.output[2] = 3;
  CHECK(code() == StatusCode::size_mismatch);
  shape.output[2] = 4;
  shape.input[2] = 5;
  CHECK(code() == StatusCode::size_mismatch);
  shape.kernel[0] = 0;
  CHECK(code() == StatusCode::bad_option);
  CHECK(y == std::vector<std::int8_t>(4, 9));
}
