// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

/// The samples of one row of four pixels at these x coordinates, in the middle of its height.
std::vector<float> sampled(const std::vector<float>& xs, const char* mode, const char* border,
                           std::int64_t align_corners = 0) {
  std::vector<float> grid;
  for (const float x : xs) grid.insert(grid.end(), {x, 0.0F});
  const auto places = static_cast<std::int64_t>(xs.size());
  return values(run_op(
      "GridSample", {floats({1, 1, 1, 4}, {1, 2, 3, 4}), floats({1, 1, places, 2}, grid)},
      {{"mode", std::string(mode)}, {"padding_mode", std::string(border)}, {"align_corners", align_corners}}, 16));
}

using Values = std::vector<float>;

}  // namespace

TEST_CASE("Coordinates span the pixels, or with align_corners their centres") {
  CHECK(sampled({-0.75F, 0.0F, 0.75F}, "bilinear", "zeros") == Values{1, 2.5F, 4});
  CHECK(sampled({-1.0F, 0.0F, 1.0F}, "bilinear", "zeros") == Values{0.5F, 2.5F, 2});
  CHECK(sampled({-1.0F, 0.0F, 1.0F}, "bilinear", "zeros", 1) == Values{1, 2.5F, 4});
  CHECK(sampled({-0.7F, 0.0F, 0.3F}, "nearest", "zeros") == Values{1, 3, 3});  // 1.5 is rounded to even
}

TEST_CASE("Outside the image there are zeros, its edge or its reflection") {
  CHECK(sampled({-1.5F, 3.0F}, "bilinear", "zeros") == Values{0, 0});
  CHECK(sampled({-1.5F, 3.0F}, "bilinear", "border") == Values{1, 4});
  CHECK(sampled({-1.5F, 1.5F, 2.25F, 4.25F}, "bilinear", "reflection") == Values{1.5F, 3.5F, 2, 3});
  CHECK(sampled({-1.5F, 1.25F}, "nearest", "reflection") == Values{2, 4});
  CHECK(sampled({-2.0F, 2.0F, 4.0F}, "bilinear", "reflection", 1) == Values{2.5F, 2.5F, 2.5F});
}

TEST_CASE("Bicubic samples weigh four pixels an axis") {
  // The weights are -0.09375, 0.59375, 0.59375 and -0.09375 between two pixels, 0, 1, 0 and 0 at one.
  CHECK(sampled({0.0F, -0.75F}, "bicubic", "border") == Values{2.5F, 1});
  CHECK(sampled({0.0F, -0.75F}, "bicubic", "zeros") == Values{2.5F, 1});
  CHECK(sampled({-1.0F}, "bicubic", "border") == Values{0.90625F});  // pixels 1, 1, 1 and 2
  CHECK(sampled({-1.0F}, "bicubic", "zeros") == Values{0.40625F});   // pixels 0, 0, 1 and 2
}

TEST_CASE("Numbers beyond all images are outside") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* const mode : {"nearest", "bilinear", "bicubic"}) {
    CHECK(sampled({inf, -inf, nan, 1e30F}, mode, "zeros") == Values{0, 0, 0, 0});
    CHECK(sampled({inf, -inf, nan, 1e30F}, mode, "border") == Values{4, 1, 1, 4});
    for (const float value : sampled({inf, -inf, nan, 1e30F}, mode, "reflection", 1)) {
      CHECK(value > 0.0F);
      CHECK(value < 5.0F);
    }
  }
}

TEST_CASE("Each image has its own grid, and all channels share it") {
  const Tensor x = whole_numbers({2, 40, 5, 6}, 4);
  Tensor grid(ElementType::float32, {2, 9, 10, 2});
  for (std::size_t i = 0; i < grid.size(); ++i) {
    // The centre of a pixel: column i, row 2i.
    const std::size_t at = i / 2;
    grid.data<float>()[i] = i % 2 == 0 ? (2.0F * static_cast<float>(at % 6) + 1.0F) / 6.0F - 1.0F
                                       : (2.0F * static_cast<float>(at * 2 % 5) + 1.0F) / 5.0F - 1.0F;
  }
  const Tensor y = run_op("GridSample", {x, grid}, {{"mode", std::string("nearest")}}, 16);
  REQUIRE(y.shape() == Shape{2, 40, 9, 10});
  bool same = true;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t image = i / (40 * 90);
    const std::size_t at = image * 90 + i % 90;
    const std::size_t channel = i / 90;  // over both images
    same = same && values(y)[i] == values(x)[(channel * 5 + at * 2 % 5) * 6 + at % 6];
  }
  CHECK(same);
}

TEST_CASE("Grids that do not fit are refused") {
  const Tensor x = whole_numbers({1, 1, 2, 2}, 1);
  const auto refused = [&](const Shape& grid, const std::string& part) {
    check_refused(kShape, part, "GridSample", {x, whole_numbers(grid, 1)}, {}, 16);
  };
  refused({2, 1, 1, 2}, "input [1,1,2,2] and grid [2,1,1,2], expected [N,C,H,W] and [N,h,w,2]");
  refused({1, 1, 1, 3}, "grid [1,1,1,3]");
  refused({1, 1, 2}, "grid [1,1,2]");
  check_refused(kShape, "an empty image [1,1,0,2] cannot be sampled", "GridSample",
                {floats({1, 1, 0, 2}, {}), whole_numbers({1, 1, 1, 2}, 1)}, {}, 16);
  check_refused(kUnsupported, "mode is \"area\"", "GridSample", {x, x}, {{"mode", std::string("area")}}, 16);
  check_refused(kUnsupported, "padding_mode is \"x\"", "GridSample", {x, x}, {{"padding_mode", std::string("x")}}, 16);
}
