// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/resize_axis.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

using namespace amct::exec;
using Positions = std::vector<std::int32_t>;

namespace {

ResizeAxis axis_of(CoordinateMode mode, std::int64_t input, std::int64_t output) {
  const auto length = static_cast<float>(output);
  return {
      .input = input, .output = output, .length = length, .scale = length / static_cast<float>(input), .mode = mode};
}

float coordinate(CoordinateMode mode, std::int64_t input, std::int64_t output, std::int64_t position) {
  return original_coordinate(axis_of(mode, input, output), position);
}

Positions nearest(CoordinateMode mode, std::int64_t input, std::int64_t output, NearestMode rounding) {
  return nearest_taps(axis_of(mode, input, output), rounding).positions;
}

}  // namespace

TEST_CASE("Coordinates by mode") {
  CHECK(coordinate(CoordinateMode::half_pixel, 2, 4, 0) == -0.25F);
  CHECK(coordinate(CoordinateMode::half_pixel, 2, 4, 3) == 1.25F);
  CHECK(coordinate(CoordinateMode::half_pixel, 4, 1, 0) == 1.5F);
  CHECK(coordinate(CoordinateMode::pytorch_half_pixel, 4, 1, 0) == 0.0F);
  CHECK(coordinate(CoordinateMode::pytorch_half_pixel, 2, 4, 3) == 1.25F);
  CHECK(coordinate(CoordinateMode::align_corners, 3, 5, 4) == 2.0F);
  CHECK(coordinate(CoordinateMode::align_corners, 3, 5, 1) == 0.5F);
  CHECK(coordinate(CoordinateMode::align_corners, 3, 1, 0) == 0.0F);
  CHECK(coordinate(CoordinateMode::asymmetric, 2, 4, 3) == 1.5F);
  CHECK(coordinate(CoordinateMode::tf_half_pixel_for_nn, 2, 4, 3) == 1.75F);
}

TEST_CASE("tf_crop_and_resize runs from one end of the region to the other") {
  ResizeAxis axis = axis_of(CoordinateMode::tf_crop_and_resize, 5, 3);
  axis.roi_start = 0.25F;
  axis.roi_end = 1.25F;
  CHECK(original_coordinate(axis, 0) == 1.0F);
  CHECK(original_coordinate(axis, 1) == 3.0F);
  CHECK(original_coordinate(axis, 2) == 5.0F);
  CHECK(linear_taps(axis).outside == std::vector<std::int64_t>{2});
  axis.output = 1;
  CHECK(original_coordinate(axis, 0) == 3.0F);
}

TEST_CASE("Halves are rounded as the mode says") {
  CHECK(nearest_coordinate(1.5F, NearestMode::round_prefer_floor, true) == 1.0F);
  CHECK(nearest_coordinate(1.75F, NearestMode::round_prefer_floor, true) == 2.0F);
  CHECK(nearest_coordinate(1.5F, NearestMode::round_prefer_ceil, true) == 2.0F);
  CHECK(nearest_coordinate(0.49999997F, NearestMode::round_prefer_ceil, true) == 0.0F);
  CHECK(nearest_coordinate(1.75F, NearestMode::floor, true) == 1.0F);
  CHECK(nearest_coordinate(1.25F, NearestMode::ceil, true) == 2.0F);
  CHECK(nearest_coordinate(1.75F, NearestMode::legacy, true) == 1.0F);
  CHECK(nearest_coordinate(1.25F, NearestMode::legacy, false) == 2.0F);
}

TEST_CASE("Nearest positions stay inside") {
  CHECK(nearest(CoordinateMode::asymmetric, 2, 4, NearestMode::floor) == Positions{0, 0, 1, 1});
  CHECK(nearest(CoordinateMode::half_pixel, 2, 4, NearestMode::ceil) == Positions{0, 1, 1, 1});
  CHECK(nearest(CoordinateMode::asymmetric, 4, 2, NearestMode::ceil) == Positions{0, 2});
  CHECK(nearest(CoordinateMode::tf_half_pixel_for_nn, 3, 3, NearestMode::ceil) == Positions{0, 1, 2});
  ResizeAxis odd = axis_of(CoordinateMode::asymmetric, 2, 3);
  odd.scale = 1e-38F;
  CHECK(nearest_taps(odd, NearestMode::floor).positions == Positions{0, 1, 1});
  odd.mode = CoordinateMode::tf_crop_and_resize;
  odd.roi_start = std::numeric_limits<float>::quiet_NaN();
  CHECK(nearest_taps(odd, NearestMode::floor).positions == Positions{0, 0, 0});
}

TEST_CASE("Linear taps are two neighbours") {
  const AxisTaps taps = linear_taps(axis_of(CoordinateMode::half_pixel, 2, 4));
  CHECK(taps.count == 2);
  CHECK(taps.positions == Positions{0, 1, 0, 1, 0, 1, 1, 1});
  CHECK(taps.weights == std::vector<float>{1, 0, 0.75F, 0.25F, 0.25F, 0.75F, 1, 0});
}

TEST_CASE("Cubic taps are four neighbours, of which those outside may be left out") {
  const AxisTaps taps = cubic_taps(axis_of(CoordinateMode::asymmetric, 2, 4), -0.75F, false);
  CHECK(taps.count == 4);
  CHECK(std::vector(taps.positions.begin() + 4, taps.positions.begin() + 8) == Positions{0, 0, 1, 1});
  CHECK(std::vector(taps.weights.begin() + 4, taps.weights.begin() + 8) ==
        std::vector<float>{-0.09375F, 0.59375F, 0.59375F, -0.09375F});
  const AxisTaps inside = cubic_taps(axis_of(CoordinateMode::asymmetric, 2, 4), -0.75F, true);
  CHECK(std::vector(inside.weights.begin() + 4, inside.weights.begin() + 8) == std::vector<float>{0, 0.5F, 0.5F, 0});
}

TEST_CASE("Taps that change nothing are known as such") {
  const ResizeAxis same = axis_of(CoordinateMode::half_pixel, 3, 3);
  CHECK(nearest_taps(same, NearestMode::floor).is_identity(3));
  CHECK(linear_taps(same).is_identity(3));
  CHECK(cubic_taps(same, -0.75F, false).is_identity(3));
  CHECK(linear_taps(axis_of(CoordinateMode::align_corners, 3, 3)).is_identity(3));
  CHECK_FALSE(linear_taps(axis_of(CoordinateMode::half_pixel, 3, 4)).is_identity(3));
  ResizeAxis moved = axis_of(CoordinateMode::tf_crop_and_resize, 3, 3);
  CHECK(linear_taps(moved).is_identity(3));
  moved.roi_start = 0.5F;
  CHECK_FALSE(linear_taps(moved).is_identity(3));
}
