// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <amct/core/cast.hpp>

#include "exec/naive_window.hpp"
#include "exec/run_op.hpp"
#include "exec/run_output.hpp"
#include "exec/typed.hpp"

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

TEST_CASE("MaxPool and AveragePool of every window agree with their definition") {
  struct Case {
    Shape shape;
    Ints kernel, strides, pads, dilations;
  };
  const Case cases[] = {
      {{2, 2, 40}, {3}, {2}, {1, 1}, {1}},
      {{1, 3, 9, 37}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}},
      {{1, 2, 8, 35}, {2, 2}, {1, 1}, {0, 1, 1, 0}, {1, 1}},
      {{1, 2, 7, 23}, {3, 4}, {3, 3}, {2, 1, 0, 3}, {1, 1}},
      {{1, 2, 9, 25}, {2, 3}, {1, 2}, {1, 2, 1, 2}, {2, 3}},
      {{1, 2, 4, 5, 19}, {2, 3, 2}, {1, 2, 2}, {1, 1, 0, 0, 1, 1}, {1, 1, 1}},
  };
  for (const Case& c : cases) {
    CAPTURE(to_string(c.shape));
    const Tensor x = whole_numbers(c.shape, 4);
    const Attributes attributes{
        {"kernel_shape", c.kernel}, {"strides", c.strides}, {"pads", c.pads}, {"dilations", c.dilations}};
    const Tensor top = run_op("MaxPool", {x}, attributes);
    const Tensor average = run_op("AveragePool", {x}, attributes);
    const Ints in = naive::spatial(x.shape());
    const auto outputs = naive::positions(naive::spatial(top.shape()));
    for (std::int64_t channel = 0; channel < x.shape()[1]; ++channel) {
      for (const Ints& at : outputs) {
        float most = -100.0F;
        float sum = 0.0F;
        float count = 0.0F;
        for (const Ints& k : naive::positions(c.kernel)) {
          Ints from = at;
          for (std::size_t i = 0; i < at.size(); ++i)
            from[i] = at[i] * c.strides[i] - c.pads[i] + k[i] * c.dilations[i];
          if (!naive::inside(from, in)) continue;
          const float value = x.data<float>()[naive::offset(x.shape(), 0, channel, from)];
          most = std::max(most, value);
          sum += value;
          count += 1.0F;
        }
        const std::size_t o = naive::offset(top.shape(), 0, channel, at);
        REQUIRE(top.data<float>()[o] == most);
        REQUIRE(average.data<float>()[o] == sum / count);
      }
    }
  }
}

TEST_CASE("MaxPool gives the positions of the maxima, by rows or by columns, the first of equal ones") {
  const Attributes pairs{{"kernel_shape", Ints{2, 2}}};
  check_typed<std::int64_t>(run_output(1, 2, "MaxPool", {kSquare}, pairs), {1, 1, 2, 2}, {4, 5, 7, 8});
  Attributes columns = pairs;
  columns.push_back({"storage_order", 1});
  check_typed<std::int64_t>(run_output(1, 2, "MaxPool", {kSquare}, columns), {1, 1, 2, 2}, {4, 7, 5, 8});
  check_tensor(run_output(0, 2, "MaxPool", {kSquare}, pairs), {1, 1, 2, 2}, {5, 6, 8, 9});
  check_typed<std::int64_t>(
      run_output(1, 2, "MaxPool", {floats({1, 2, 2}, {7, 7, -1, 0})}, {{"kernel_shape", Ints{2}}}), {1, 2, 1}, {0, 3});
}

TEST_CASE("MaxPool takes 8-bit integers, float64 and float16") {
  const Attributes pairs{{"kernel_shape", Ints{2}}};
  check_typed<std::uint8_t>(run_op("MaxPool", {typed<std::uint8_t>({1, 1, 3}, {1, 200, 3})}, pairs), {1, 1, 2},
                            {200, 200});
  check_typed<std::int8_t>(run_op("MaxPool", {typed<std::int8_t>({1, 1, 3}, {-100, -3, -5})}, pairs), {1, 1, 2},
                           {-3, -3});
  check_typed<double>(run_op("MaxPool", {typed<double>({1, 1, 2}, {-1, -2})}, pairs), {1, 1, 1}, {-1});
  CHECK(run_op("MaxPool", {cast(kLine, ElementType::float16)}, pairs).type() == ElementType::float16);
}

TEST_CASE("LpPool gives the norm of each window") {
  const Tensor x = floats({1, 1, 3}, {3, -4, 1});
  check_tensor(run_op("LpPool", {x}, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{0, 1}}}),
               {1, 1, 2}, {5, 1});
  check_tensor(run_op("LpPool", {x}, {{"kernel_shape", Ints{3}}, {"p", 1}}), {1, 1, 1}, {8});
  check_tensor(run_op("LpPool", {x}, {{"kernel_shape", Ints{2}}, {"p", 1.0F}}, 1), {1, 1, 2}, {7, 5});
  check_refused(kCorrupt, "p is -2", "LpPool", {x}, {{"kernel_shape", Ints{2}}, {"p", -2}});
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
  check_refused(kUnsupported, "input 0 is int64, expected float32, float64, int8, uint8 or int16", "MaxPool",
                {Tensor(ElementType::int64, {1, 1, 5})}, {{"kernel_shape", Ints{2}}});
  check_refused(kUnsupported, "input 0 is uint8, expected float32", "AveragePool",
                {Tensor(ElementType::uint8, {1, 1, 5})}, {{"kernel_shape", Ints{2}}});
}

TEST_CASE("A pool of nothing is nothing, however large the rest is") {
  const Tensor none(ElementType::float32, {0, 1, 16777216});
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    CHECK(run_op(op, {none}, {{"kernel_shape", Ints{1}}}).shape() == none.shape());
  }
}
