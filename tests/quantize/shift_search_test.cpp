// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/shift_search.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <amct/core/requantize.hpp>

#include <doctest/doctest.h>

namespace {

using amct::ChannelLayout;
using amct::ShiftSearch;
using amct::StatusCode;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Floats = std::vector<float>;
using Shifts = std::vector<int>;

ShiftSearch searched(const Floats& y, Floats scales, bool channel_wise, const ChannelLayout& layout) {
  ShiftSearch search({std::move(scales), channel_wise});
  REQUIRE(search.observe(y, layout).ok());
  return search;
}

int shift_of(const Floats& y, float scale) {
  const auto shifts = searched(y, {scale}, false, ChannelLayout::per_tensor(y.size())).shift_bits();
  REQUIRE(shifts.size() == 1);
  return shifts[0];
}

}  // namespace

TEST_CASE("the search finds the shifts of the table") {
  CHECK(shift_of({0.5F, 0.25F, -0.75F}, 5e-7F) == 6);
  CHECK(shift_of({100.0F, -3.0F, 7.5F}, 1e-6F) == 12);
  CHECK(shift_of({0.0F, 0.0F}, 1e-6F) == 16);
  CHECK(shift_of({0.01F, -0.02F}, 1e-6F) == 4);
  const auto search = searched({0.5F, 0.25F, -0.75F}, {5e-7F}, false, ChannelLayout::per_tensor(3));
  CHECK(search.error(0, 6) == doctest::Approx(45.2548340));
  CHECK(search.error(0, 5) > search.error(0, 6));
}

TEST_CASE("of equal errors the largest shift wins") {
  CHECK(shift_of({64.0F}, 1.0F) == 6);
  CHECK(shift_of({64.0F, 32.0F}, 1.0F) == 5);
  CHECK(shift_of({0.0F}, 1.0F) == 16);  // no element differs
  CHECK(shift_of({-1.0F}, 1.0F) == 1);  // floor: the error grows with the shift
}

TEST_CASE("large accumulators must fit int16 after the shift") {
  CHECK(shift_of({2147483520.0F}, 1.0F) == 16);
  CHECK(shift_of({-2147483648.0F}, 1.0F) == 16);
  CHECK(shift_of({65536.0F * 32767.0F}, 1.0F) == 16);
  CHECK(shift_of({32768.0F}, 1.0F) == 15);
  CHECK(shift_of({32769.0F}, 1.0F) == 15);  // 1 is lost by every shift from 1 to 15
  CHECK(shift_of({32770.0F}, 1.0F) == 1);
}

TEST_CASE("outputs become accumulators by rounding half to even and saturation") {
  using amct::shift_search::accumulator;
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  static_assert(accumulator(2.5F, 1.0F) == 2 && accumulator(3.5F, 1.0F) == 4 && accumulator(-0.5F, 1.0F) == 0);
  static_assert(accumulator(1e20F, 1.0F) == kMax && accumulator(-1e20F, 1.0F) == kMin);
  static_assert(accumulator(2147483648.0F, 1.0F) == kMax && accumulator(-2147483648.0F, 1.0F) == kMin);
  CHECK(accumulator(1e38F, 1e-30F) == kMax);  // the quotient is infinite
}

TEST_CASE("the chosen shift has the least error of all") {
  Floats y;
  for (int i = -40; i <= 40; ++i) y.push_back(static_cast<float>(i * i * i) * 1.7F);
  const auto search = searched(y, {0.03F}, false, ChannelLayout::per_tensor(y.size()));
  const int best = search.shift_bits()[0];
  for (int shift = 1; shift <= 16; ++shift) {
    double error = 0.0;
    for (const float value : y) {
      const std::int32_t acc = amct::shift_search::accumulator(value, 0.03F);
      const double lost = acc - amct::shift_accumulator(acc, shift) * static_cast<double>(1 << shift);
      error += lost * lost;
    }
    CHECK(search.error(0, shift) * search.error(0, shift) == doctest::Approx(error));
    CHECK(search.error(0, best) <= search.error(0, shift));
  }
}

TEST_CASE("channels have shifts and scales of their own") {
  // [N = 2, C = 2, 1]: channel 0 holds 64 and 128, channel 1 holds 32 and 96.
  const Floats y{64.0F, 32.0F, 128.0F, 96.0F};
  const ChannelLayout layout{1, 2, 2, 1};
  CHECK(searched(y, {1.0F}, true, layout).shift_bits() == Shifts{6, 5});
  CHECK(searched(y, {1.0F, 0.5F}, true, layout).shift_bits() == Shifts{6, 6});
  CHECK(searched(y, {1.0F}, false, layout).shift_bits() == Shifts{5});
  CHECK(searched(y, {1.0F, 0.25F}, false, layout).shift_bits() == Shifts{6});
}

TEST_CASE("batches add up and merging is the same as observing both") {
  const Floats y{0.5F, 0.25F, -0.75F, 3.0F};
  const auto whole = searched(y, {5e-7F}, false, ChannelLayout::per_tensor(4));
  ShiftSearch parts({{5e-7F}, false});
  CHECK_FALSE(parts.ready());
  REQUIRE(parts.observe(std::span(y).first(1), ChannelLayout::per_tensor(1)).ok());
  CHECK(parts.ready());
  REQUIRE(parts.observe(std::span(y).subspan(1), ChannelLayout::per_tensor(3)).ok());
  CHECK(parts.shift_bits() == whole.shift_bits());
  CHECK(parts.error(0, 3) == whole.error(0, 3));
  ShiftSearch left({{5e-7F}, false});
  REQUIRE(left.merge(parts).ok());
  CHECK(left.error(0, 3) == whole.error(0, 3));
  REQUIRE(left.merge(ShiftSearch({{5e-7F}, false})).ok());
  CHECK(left.shift_bits() == whole.shift_bits());
}

TEST_CASE("searches of different channels do not merge") {
  auto two = searched({1.0F, 2.0F}, {1.0F}, true, {1, 1, 2, 1});
  const auto three = searched({1.0F, 2.0F, 3.0F}, {1.0F}, true, {1, 1, 3, 1});
  const amct::Status status = two.merge(three);
  CHECK(status.code == StatusCode::size_mismatch);
  CHECK(status.index == 3);
  CHECK(two.shift_bits().size() == 2);
}

TEST_CASE("bad data, scales and layouts are refused and change nothing") {
  ShiftSearch search({{1.0F, 2.0F}, true});
  const ChannelLayout layout{1, 1, 2, 2};
  CHECK(search.observe(Floats{}, layout).code == StatusCode::empty);
  CHECK(search.observe(Floats{1.0F}, layout).code == StatusCode::size_mismatch);
  CHECK(search.observe(Floats{1.0F, 2.0F, 3.0F}, {1, 1, 3, 1}).code == StatusCode::size_mismatch);
  const amct::Status bad = search.observe(Floats{1.0F, 2.0F, 3.0F, kNan}, layout);
  CHECK(bad.code == StatusCode::not_finite);
  CHECK(bad.index == 3);
  CHECK_FALSE(search.ready());
  CHECK(search.shift_bits().empty());
  for (const float scale : {0.0F, -1.0F, kNan, 1e-40F, std::numeric_limits<float>::infinity()}) {
    ShiftSearch unusable({{1.0F, scale}, true});
    const amct::Status status = unusable.observe(Floats{1.0F, 2.0F, 3.0F, 4.0F}, layout);
    CAPTURE(scale);
    CHECK(status.code == StatusCode::unusable_scale);
    CHECK(status.index == 1);
  }
}

TEST_CASE("later batches have the same channels until reset") {
  ShiftSearch search({{1.0F}, false});
  REQUIRE(search.observe(Floats{1.0F, 2.0F}, {1, 1, 2, 1}).ok());
  CHECK(search.observe(Floats{1.0F, 2.0F}, {1, 1, 1, 2}).code == StatusCode::size_mismatch);
  search.reset();
  CHECK_FALSE(search.ready());
  CHECK(search.observe(Floats{64.0F, 64.0F}, {1, 1, 1, 2}).ok());
  CHECK(search.shift_bits() == Shifts{6});
}
