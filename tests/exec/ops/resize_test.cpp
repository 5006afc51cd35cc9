// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kFour = floats({1, 1, 2, 2}, {1, 2, 3, 4});

Attributes with(const char* name, const char* value) { return {{name, std::string(value)}}; }

Tensor by_scales(const Tensor& x, const std::vector<float>& scales, Attributes attributes = {}) {
  const auto size = static_cast<std::int64_t>(scales.size());
  return run_op("Resize", {x, std::nullopt, floats({size}, scales)}, std::move(attributes));
}

Tensor by_sizes(const Tensor& x, const Ints& sizes, Attributes attributes = {}) {
  return run_op("Resize", {x, floats({0}, {}), floats({0}, {}), int64s(sizes)}, std::move(attributes), 11);
}

}  // namespace

TEST_CASE("Resize goes by scales or by sizes") {
  check_tensor(by_scales(kFour, {1, 1, 1, 2}), {1, 1, 2, 4}, {1, 1, 2, 2, 3, 3, 4, 4});
  check_tensor(by_scales(kFour, {1, 1, 1, 1.7F}), {1, 1, 2, 3}, {1, 1, 2, 3, 3, 4});
  check_tensor(by_sizes(kFour, {1, 1, 1, 4}), {1, 1, 1, 4}, {1, 1, 2, 2});
  check_tensor(by_sizes(kFour, {1, 1, 2, 2}, with("mode", "linear")), {1, 1, 2, 2}, {1, 2, 3, 4});
}

TEST_CASE("Resize interpolates") {
  check_tensor(by_scales(floats({1, 1, 1, 2}, {0, 4}), {1, 1, 1, 2}, with("mode", "linear")), {1, 1, 1, 4},
               {0, 1, 3, 4});
  check_tensor(
      by_sizes(kFour, {1, 1, 3, 3},
               {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("align_corners")}}),
      {1, 1, 3, 3}, {1, 1.5F, 2, 2, 2.5F, 3, 3, 3.5F, 4});
  const Tensor x = floats({4}, {0, 16, 0, 0});
  check_tensor(by_scales(x, {0.5F}, with("mode", "cubic")), {2}, {9.5F, -1.5F});
  check_tensor(by_scales(x, {0.5F}, {{"mode", std::string("cubic")}, {"cubic_coeff_a", -0.5F}}), {2}, {9, -1});
}

TEST_CASE("Nearest moves every type, interpolation converts there and back") {
  const Tensor bytes = typed<std::uint8_t>({2}, {10, 21});
  check_typed<std::uint8_t>(by_scales(bytes, {2}), {4}, {10, 10, 21, 21});
  check_typed<std::uint8_t>(by_scales(bytes, {2}, with("mode", "linear")), {4}, {10, 12, 18, 21});
  check_typed<std::int64_t>(by_scales(int64s({INT64_MAX}), {2}), {2}, {INT64_MAX, INT64_MAX});
  check_typed<double>(by_scales(typed<double>({2}, {0.0, 1.0}), {2}, with("mode", "linear")), {4},
                      {0.0, 0.25, 0.75, 1.0});
}

TEST_CASE("tf_crop_and_resize reads a region, and a number outside") {
  const Tensor roi = floats({2}, {0.5F, 1.5F});
  const Attributes attributes{{"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                              {"extrapolation_value", 9.0F},
                              {"mode", std::string("linear")}};
  check_tensor(run_op("Resize", {floats({3}, {1, 2, 3}), roi, std::nullopt, int64s({3})}, attributes), {3}, {2, 3, 9});
  check_refused(kShape, "roi has 0 entries, expected 2", "Resize",
                {floats({3}, {1, 2, 3}), std::nullopt, std::nullopt, int64s({3})}, attributes);
}

TEST_CASE("Upsample and Resize before opset 11 round down when enlarging, up when not") {
  const Tensor scales = floats({4}, {1, 1, 1, 2});
  check_tensor(run_op("Upsample", {kFour, scales}, {}, 9), {1, 1, 2, 4}, {1, 1, 2, 2, 3, 3, 4, 4});
  check_tensor(run_op("Upsample", {kFour}, {{"scales", std::vector<float>{1, 1, 1, 2}}}, 7), {1, 1, 2, 4},
               {1, 1, 2, 2, 3, 3, 4, 4});
  const Attributes two{{"height_scale", 1.0F}, {"width_scale", 2.0F}, {"mode", std::string("bilinear")}};
  check_tensor(run_op("Upsample", {kFour}, two, 1), {1, 1, 2, 4}, {1, 1.5F, 2, 2, 3, 3.5F, 4, 4});
  check_tensor(run_op("Resize", {floats({5}, {0, 1, 2, 3, 4}), floats({1}, {0.6F})}, {}, 10), {3}, {0, 2, 4});
}

TEST_CASE("Sizes that make no sense are refused") {
  const auto refused = [](const std::string& part, const std::vector<float>& scales) {
    check_refused(kShape, part, "Resize",
                  {kFour, std::nullopt, floats({static_cast<std::int64_t>(scales.size())}, scales)});
  };
  refused("scales has 2 entries, expected 4", {1, 2});
  refused("scale 0.000000 of an axis of 2", {1, 1, 0, 1});
  refused("scale -1.000000 of an axis of 2", {1, 1, -1, 1});
  refused("scale nan of an axis of 2", {1, 1, std::numeric_limits<float>::quiet_NaN(), 1});
  refused("scale inf of an axis of 2", {1, 1, std::numeric_limits<float>::infinity(), 1});
  refused("expected at most 2^29 elements", {1e4F, 1e4F, 1e4F, 1e4F});
  check_refused(kShape, "sizes has the entry -1, expected 0 to 2^24", "Resize",
                {kFour, std::nullopt, std::nullopt, int64s({1, 1, -1, 2})});
  check_refused(kShape, "scales has 0 entries, expected 4", "Resize", {kFour});
  check_refused(kShape, "an empty input [0] cannot become [3]", "Resize",
                {floats({0}, {}), std::nullopt, std::nullopt, int64s({3})});
  CHECK(by_sizes(kFour, {1, 1, 0, 2}).shape() == Shape{1, 1, 0, 2});
  check_refused(kUnsupported, "mode is \"area\"", "Resize", {kFour}, with("mode", "area"));
  check_refused(kUnsupported, "nearest_mode is \"odd\"", "Resize", {kFour}, with("nearest_mode", "odd"));
  check_refused(kUnsupported, "coordinate_transformation_mode is \"x\"", "Resize", {kFour},
                with("coordinate_transformation_mode", "x"));
}
