// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/pool.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "exec/run_op.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kLine = floats({1, 1, 5}, {1, 2, 3, 4, 5});
const Tensor kSquare = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});

}  // namespace

TEST_CASE("MaxPool takes the largest real element of each window") {
  check_tensor(run_op("MaxPool", {kSquare}, {{"kernel_shape", Ints{2, 2}}}), {1, 1, 2, 2}, {5, 6, 8, 9});
  check_tensor(
      run_op("MaxPool", {kSquare}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}}),
      {1, 1, 2, 2}, {1, 3, 7, 9});
  check_tensor(
      run_op("MaxPool", {floats({1, 2, 2}, {-1, -2, -4, -3})}, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}}),
      {1, 2, 2}, {-1, -1, -4, -3});
  check_tensor(run_op("MaxPool", {kLine}, {{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}}), {1, 1, 2}, {4, 5});
  check_tensor(run_op("MaxPool", {floats({1, 1, 2, 1, 2}, {1, 2, 3, 0})}, {{"kernel_shape", Ints{2, 1, 2}}}),
               {1, 1, 1, 1, 1}, {3});
}

TEST_CASE("MaxPool with ceil_mode has a last window that is not full") {
  const Attributes floor{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  check_tensor(run_op("MaxPool", {kLine}, floor), {1, 1, 2}, {2, 4});
  Attributes ceil = floor;
  ceil.push_back({"ceil_mode", 1});
  check_tensor(run_op("MaxPool", {kLine}, ceil), {1, 1, 3}, {2, 4, 5});
}

TEST_CASE("MaxPool pads for auto_pad SAME") {
  check_tensor(run_op("MaxPool", {kLine},
                      {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}}),
               {1, 1, 3}, {2, 4, 5});
  check_tensor(run_op("MaxPool", {kLine},
                      {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"auto_pad", std::string("SAME_LOWER")}}),
               {1, 1, 3}, {1, 3, 5});
}

TEST_CASE("NaN goes through MaxPool, so that calibration sees it") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& line : {std::vector<float>{kNan, 1, 2}, {1, kNan, 2}, {1, 2, kNan}}) {
    CHECK(std::isnan(values(run_op("MaxPool", {floats({1, 1, 3}, line)}, {{"kernel_shape", Ints{3}}}))[0]));
  }
}

TEST_CASE("AveragePool divides by the number of real elements, or of padded ones too") {
  check_tensor(run_op("AveragePool", {kSquare}, {{"kernel_shape", Ints{2, 2}}}), {1, 1, 2, 2}, {3, 4, 6, 7});
  const Attributes padded{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}};
  check_tensor(run_op("AveragePool", {kSquare}, padded), {1, 1, 2, 2}, {1, 2.5F, 5.5F, 7});
  Attributes counted = padded;
  counted.push_back({"count_include_pad", 1});
  check_tensor(run_op("AveragePool", {kSquare}, counted), {1, 1, 2, 2}, {0.25F, 1.25F, 2.75F, 7});
}

TEST_CASE("Elements that ceil_mode adds behind the padding are never counted") {
  const Attributes ceil{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", 1}};
  check_tensor(run_op("AveragePool", {kLine}, ceil), {1, 1, 3}, {1.5F, 3.5F, 5});
  Attributes counted = ceil;
  counted.push_back({"count_include_pad", 1});
  check_tensor(run_op("AveragePool", {kLine}, counted), {1, 1, 3}, {1.5F, 3.5F, 5});
  // One padded element in front and behind: windows {0 1}, {2 3}, {4 5}, {0}: the last one starts in the padding.
  counted.push_back({"pads", Ints{1, 1}});
  check_tensor(run_op("AveragePool", {kLine}, counted), {1, 1, 3}, {0.5F, 2.5F, 4.5F});
  // Kernel 4 and stride 2: the last window holds 4, 5, one padded element, and one behind the padding.
  const Attributes wide{{"kernel_shape", Ints{4}},
                        {"strides", Ints{2}},
                        {"ceil_mode", 1},
                        {"pads", Ints{1, 1}},
                        {"count_include_pad", 1}};
  check_tensor(run_op("AveragePool", {kLine}, wide), {1, 1, 3}, {1.5F, 3.5F, 3});
}

TEST_CASE("AveragePool of several channels and axes agrees with the definition") {
  const Tensor x = whole_numbers({2, 3, 4, 5}, 1);
  const Tensor y =
      run_op("AveragePool", {x}, {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{1, 2}}, {"pads", Ints{1, 0, 1, 1}}});
  REQUIRE(y.shape() == Shape{2, 3, 4, 3});
  for (std::int64_t plane = 0; plane < 6; ++plane) {
    for (std::int64_t oy = 0; oy < 4; ++oy) {
      for (std::int64_t ox = 0; ox < 3; ++ox) {
        float sum = 0.0F;
        float count = 0.0F;
        for (std::int64_t iy = oy - 1; iy < oy + 2; ++iy) {
          for (std::int64_t ix = 2 * ox; ix < 2 * ox + 2; ++ix) {
            if (iy < 0 || iy >= 4 || ix >= 5) continue;
            sum += values(x)[static_cast<std::size_t>((plane * 4 + iy) * 5 + ix)];
            count += 1.0F;
          }
        }
        CHECK(values(y)[static_cast<std::size_t>((plane * 4 + oy) * 3 + ox)] == sum / count);
      }
    }
  }
}

TEST_CASE("GlobalAveragePool averages all spatial axes") {
  check_tensor(run_op("GlobalAveragePool", {floats({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40})}), {1, 2, 1, 1},
               {2.5F, 25});
  check_tensor(run_op("GlobalAveragePool", {floats({2, 1, 2}, {1, 2, 3, 4})}), {2, 1, 1}, {1.5F, 3.5F});
  check_refused(kShape, "input [1,2] has no spatial axes", "GlobalAveragePool", {whole_numbers({1, 2}, 1)});
}

TEST_CASE("What does not fit a pool is refused") {
  check_refused(kCorrupt, "kernel_shape is missing", "MaxPool", {kLine});
  check_refused(kCorrupt, "kernel_shape is missing", "AveragePool", {kLine});
  check_refused(kShape, "input [1,1,5] does not fit a window of 2 axes", "MaxPool", {kLine},
                {{"kernel_shape", Ints{2, 2}}});
  check_refused(kShape, "the kernel is larger than its padded input", "AveragePool", {kLine},
                {{"kernel_shape", Ints{6}}});
  check_refused(kShape, "kernel_shape has the entry 0, expected 1 to", "MaxPool", {kLine}, {{"kernel_shape", Ints{0}}});
  check_refused(kShape, "pads has 1 entries, expected 2", "MaxPool", {kLine},
                {{"kernel_shape", Ints{2}}, {"pads", Ints{1}}});
  check_refused(kUnsupported, "input 0 is uint8", "MaxPool", {Tensor(ElementType::uint8, {1, 1, 5})},
                {{"kernel_shape", Ints{2}}});

  const auto graph =
      GraphBuilder()
          .input("x")
          .node("MaxPool", "op", {"x"}, std::vector<std::string>{"y", "indices"}, {{"kernel_shape", Ints{2}}})
          .output("y")
          .build();
  const auto error = error_of([&] { (void)support::run_graph(graph, {kLine}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(contains(error->message(), "Indices"));
}
