// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/window.hpp>

#include <doctest/doctest.h>

#include <array>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::exec;
using support::Ints;
using Box = std::array<std::int64_t, 3>;

namespace {

Window placed(const support::Attributes& attributes, const Shape& input, const Ints& kernel) {
  const graph::Node node{.op_type = "MaxPool", .name = "op", .attributes = attributes};
  const OpContext context{node, {}, {}};
  Window window = read_window(context, input, kernel);
  place_window(context, window);
  return window;
}

}  // namespace

TEST_CASE("Attributes of fewer than three axes are put at the end, with ones in front") {
  const Window w =
      placed({{"strides", Ints{2, 3}}, {"dilations", Ints{1, 2}}, {"pads", Ints{1, 0, 2, 5}}}, {9, 8, 7, 6}, {2, 3});
  CHECK(w.input == Box{1, 7, 6});
  CHECK(w.kernel == Box{1, 2, 3});
  CHECK(w.stride == Box{1, 2, 3});
  CHECK(w.dilation == Box{1, 1, 2});
  CHECK(w.pad_begin == Box{0, 1, 0});
  CHECK(w.pad_end == Box{0, 2, 5});
  CHECK(w.output == Box{1, 5, 3});
  CHECK(w.input_size() == 42);
  CHECK(w.output_size() == 15);
  CHECK(w.kernel_size() == 6);
}

TEST_CASE("ceil_mode adds a last window unless it would start behind the input") {
  CHECK(placed({{"strides", Ints{2}}}, {1, 1, 6}, {3}).output[2] == 2);
  CHECK(placed({{"strides", Ints{2}}, {"ceil_mode", 1}}, {1, 1, 6}, {3}).output[2] == 3);
  // Kernel 1, stride 3: ceil((4-1)/3)+1 = 2 windows at 0 and 3 exist either way.
  CHECK(placed({{"strides", Ints{3}}, {"ceil_mode", 1}}, {1, 1, 4}, {1}).output[2] == 2);
  // Size 2, pads 0 and 1, kernel 1, stride 2: the second window would start at 2, in the padding.
  CHECK(placed({{"strides", Ints{2}}, {"ceil_mode", 1}, {"pads", Ints{0, 1}}}, {1, 1, 2}, {1}).output[2] == 1);
}

TEST_CASE("SAME pads are split with the odd element behind or in front") {
  const Window upper = placed({{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2}}}, {1, 1, 6}, {5});
  CHECK(upper.output[2] == 3);
  CHECK(upper.pad_begin[2] == 1);
  CHECK(upper.pad_end[2] == 2);
  const Window lower = placed({{"auto_pad", std::string("SAME_LOWER")}, {"strides", Ints{2}}}, {1, 1, 6}, {5});
  CHECK(lower.pad_begin[2] == 2);
  CHECK(lower.pad_end[2] == 1);
  // A stride wider than the kernel needs no padding.
  const Window wide = placed({{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{4}}}, {1, 1, 6}, {1});
  CHECK(wide.output[2] == 2);
  CHECK(wide.pad_begin[2] == 0);
  CHECK(wide.pad_end[2] == 0);
}

TEST_CASE("auto_pad VALID and SAME do not look at pads, and an unknown auto_pad is refused") {
  const Window valid = placed({{"auto_pad", std::string("VALID")}, {"pads", Ints{2, 3}}}, {1, 1, 6}, {5});
  CHECK(valid.output[2] == 2);
  CHECK(valid.pad_begin[2] == 0);
  const Window same = placed({{"auto_pad", std::string("SAME_UPPER")}, {"pads", Ints{7, 7}}}, {1, 1, 6}, {3});
  CHECK(same.output[2] == 6);
  CHECK(same.pad_begin[2] == 1);
  const auto error = support::error_of([] { (void)placed({{"auto_pad", std::string("same")}}, {1, 1, 6}, {3}); });
  REQUIRE(error);
  CHECK(support::contains(error->message(), "auto_pad is same, expected NOTSET"));
}

TEST_CASE("A window is the identity only without stride and padding") {
  CHECK(placed({}, {1, 1, 4, 4}, {1, 1}).is_identity());
  CHECK_FALSE(placed({}, {1, 1, 4, 4}, {1, 2}).is_identity());
  CHECK_FALSE(placed({{"strides", Ints{2, 1}}}, {1, 1, 4, 4}, {1, 1}).is_identity());
  CHECK_FALSE(placed({{"pads", Ints{0, 1, 0, 0}}}, {1, 1, 4, 4}, {1, 1}).is_identity());
}

TEST_CASE("Taps are all pairs of output and kernel element that meet a real input element") {
  const Window w = placed({{"pads", Ints{1, 0}}, {"dilations", Ints{2}}}, {1, 1, 4}, {2});
  std::vector<std::array<std::int64_t, 3>> taps;
  for_each_tap(w, [&](std::int64_t k, std::int64_t o, std::int64_t i) { taps.push_back({k, o, i}); });
  CHECK(taps == std::vector<std::array<std::int64_t, 3>>{{0, 1, 0}, {0, 2, 1}, {1, 0, 1}, {1, 1, 2}, {1, 2, 3}});
}

TEST_CASE("Rows of taps are the taps of one row of outputs") {
  const Window w = placed({{"pads", Ints{1, 2, 0, 1}}, {"strides", Ints{1, 2}}}, {1, 1, 2, 5}, {2, 3});
  std::vector<std::array<std::int64_t, 3>> from_rows;
  std::vector<std::array<std::int64_t, 3>> taps;
  for_each_tap_row(w, [&](std::int64_t k, std::int64_t o, std::int64_t i, std::int64_t count) {
    CHECK(count > 0);
    for (std::int64_t j = 0; j < count; ++j) from_rows.push_back({k, o + j, i + 2 * j});
  });
  for_each_tap(w, [&](std::int64_t k, std::int64_t o, std::int64_t i) { taps.push_back({k, o, i}); });
  CHECK(from_rows == taps);
  // Every tap by its definition: 2 output rows of 3.
  std::size_t expected = 0;
  for (std::int64_t k = 0; k < 6; ++k) {
    for (std::int64_t o = 0; o < 6; ++o) {
      const std::int64_t y = o / 3 - 1 + k / 3;
      const std::int64_t x = o % 3 * 2 - 2 + k % 3;
      if (y < 0 || y >= 2 || x < 0 || x >= 5) continue;
      REQUIRE(expected < taps.size());
      CHECK(taps[expected++] == std::array<std::int64_t, 3>{k, o, y * 5 + x});
    }
  }
  CHECK(expected == taps.size());
}

TEST_CASE("The output shape has the spatial axes that are in use") {
  CHECK(windowed_shape(placed({}, {2, 3, 9}, {2}), 2, 5, 1) == Shape{2, 5, 8});
  CHECK(windowed_shape(placed({}, {2, 3, 9, 4}, {2, 2}), 2, 5, 2) == Shape{2, 5, 8, 3});
  CHECK(windowed_shape(placed({}, {2, 3, 9, 4, 3}, {2, 2, 2}), 2, 5, 3) == Shape{2, 5, 8, 3, 2});
}
