// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

/// An image whose pixel at row y and column x is 10y + x.
Tensor ramp() {
  std::vector<float> pixels;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) pixels.push_back(static_cast<float>(10 * y + x));
  }
  return floats({1, 1, 4, 5}, pixels);
}

Attributes bins(std::int64_t height, std::int64_t width, std::int64_t samples) {
  return {{"output_height", height}, {"output_width", width}, {"sampling_ratio", samples}};
}

Tensor aligned(const std::vector<float>& roi, Attributes attributes, std::int64_t opset = 16) {
  return run_op("RoiAlign", {ramp(), floats({1, 4}, roi), int64s({0})}, std::move(attributes), opset);
}

}  // namespace

TEST_CASE("RoiAlign averages samples between the pixels") {
  // Bins of 1 x 2 pixels, each with one sample in the middle, whose pixel centres lie at halves.
  check_tensor(aligned({0, 1, 4, 3}, bins(2, 2, 1)), {1, 1, 2, 2}, {10.5F, 12.5F, 20.5F, 22.5F});
  check_tensor(aligned({0, 1, 4, 3}, bins(2, 2, 2)), {1, 1, 2, 2}, {10.5F, 12.5F, 20.5F, 22.5F});
  check_tensor(aligned({0, 1, 4, 3}, bins(1, 1, 0)), {1, 1, 1, 1}, {16.5F});
}

TEST_CASE("Before opset 16 pixel centres lie at whole numbers and regions are at least a pixel") {
  check_tensor(aligned({0, 1, 4, 3}, bins(2, 2, 1), 10), {1, 1, 2, 2}, {16, 18, 26, 28});
  check_tensor(aligned({1, 1, 1, 1}, bins(1, 1, 1), 10), {1, 1, 1, 1}, {16.5F});
  Attributes old = bins(1, 1, 1);
  old.emplace_back("coordinate_transformation_mode", std::string("output_half_pixel"));
  check_tensor(aligned({1, 1, 1, 1}, old), {1, 1, 1, 1}, {16.5F});
}

TEST_CASE("Regions are scaled, and read zeros outside the image") {
  Attributes half = bins(1, 1, 1);
  half.emplace_back("spatial_scale", 0.5F);
  check_tensor(aligned({0, 2, 8, 6}, half), {1, 1, 1, 1}, {16.5F});
  check_tensor(aligned({-20, -20, -10, -10}, bins(1, 1, 1)), {1, 1, 1, 1}, {0});
  check_tensor(aligned({3, 3, 2, 2}, bins(1, 1, 0)), {1, 1, 1, 1}, {0});
  check_tensor(aligned({0, 0, std::numeric_limits<float>::infinity(), 1}, bins(1, 1, 1)), {1, 1, 1, 1}, {0});
}

TEST_CASE("The mode max takes the largest weighted pixel") {
  Attributes max = bins(1, 1, 1);
  max.emplace_back("mode", std::string("max"));
  check_tensor(aligned({1, 1, 3, 3}, max), {1, 1, 1, 1}, {22.0F * 0.25F});
}

TEST_CASE("Each region names its image, and all channels are pooled") {
  const Tensor x = floats({2, 2, 1, 1}, {1, 2, 3, 4});
  const Tensor rois = floats({3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
  check_tensor(run_op("RoiAlign", {x, rois, int64s({1, 0, 1})}, {}, 16), {3, 2, 1, 1}, {3, 4, 1, 2, 3, 4});
}

TEST_CASE("Regions that make no sense are refused") {
  const auto refused = [](const std::string& part, const std::vector<float>& roi, const Ints& images,
                          Attributes attributes = {}) {
    check_refused(kShape, part, "RoiAlign", {ramp(), floats({1, 4}, roi), int64s(images)}, std::move(attributes), 16);
  };
  refused("index 1 is outside an axis of 1", {0, 0, 1, 1}, {1});
  refused("2 image indices for 1 regions", {0, 0, 1, 1}, {0, 0});
  refused("samples a bin, expected at most 1024", {0, 0, 1e9F, 1}, {0});
  refused("samples a bin, expected at most 1024", {0, 0, 1, std::numeric_limits<float>::quiet_NaN()}, {0});
  refused("output_height is 0, expected 1 to 1024", {0, 0, 1, 1}, {0}, bins(0, 1, 1));
  refused("a region takes more than 2^22 samples", {0, 0, 1, 1}, {0}, bins(1024, 1024, 1024));
  refused("mode is \"min\", expected avg or max", {0, 0, 1, 1}, {0}, {{"mode", std::string("min")}});
  refused("coordinate_transformation_mode is \"x\"", {0, 0, 1, 1}, {0},
          {{"coordinate_transformation_mode", std::string("x")}});
  check_refused(kShape, "regions [4], expected", "RoiAlign", {ramp(), floats({4}, {0, 0, 1, 1}), int64s({0})}, {}, 16);
}
