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

TEST_CASE("Constant gives its tensor, its number or its list") {
  check_tensor(run_op("Constant", {}, {{"value", floats({2, 1}, {1, 2})}}), {2, 1}, {1, 2});
  check_tensor(run_op("Constant", {}, {{"value_float", 1.5F}}), {}, {1.5F});
  check_tensor(run_op("Constant", {}, {{"value_floats", std::vector<float>{3, 4}}}), {2}, {3, 4});
  check_typed<std::int64_t>(run_op("Constant", {}, {{"value_int", 7}}), {}, {7});
  check_typed<std::int64_t>(run_op("Constant", {}, {{"value_ints", Ints{7, 8}}}), {2}, {7, 8});
  check_refused(kUnsupported, "has no value", "Constant", {}, {{"value_string", std::string("x")}});
}

TEST_CASE("ConstantOfShape fills a shape") {
  check_tensor(run_op("ConstantOfShape", {int64s({2, 2})}), {2, 2}, {0, 0, 0, 0});
  check_typed<std::int32_t>(run_op("ConstantOfShape", {int64s({3})}, {{"value", typed<std::int32_t>({1}, {9})}}), {3},
                            {9, 9, 9});
  check_typed<bool>(run_op("ConstantOfShape", {int64s({})}, {{"value", typed<bool>({1}, {true})}}), {}, {true});
  CHECK(run_op("ConstantOfShape", {int64s({0, 5})}).shape() == Shape{0, 5});
  check_refused(kShape, "value is [2], expected one element", "ConstantOfShape", {int64s({1})},
                {{"value", floats({2}, {1, 2})}});
  check_refused(kShape, "expected at most 2^29 elements", "ConstantOfShape", {int64s({1 << 30})});
  check_refused(kShape, "the output would be [-1]", "ConstantOfShape", {int64s({-1})});
}

TEST_CASE("Range ends before its limit") {
  const auto range = [](auto start, auto limit, auto delta) {
    return run_op("Range", {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)});
  };
  check_tensor(range(1.0F, 2.0F, 0.25F), {4}, {1, 1.25F, 1.5F, 1.75F});
  check_typed<double>(range(0.0, -1.0, -0.5), {2}, {0.0, -0.5});
  check_typed<std::int64_t>(range(std::int64_t{10}, std::int64_t{-3}, std::int64_t{-4}), {4}, {10, 6, 2, -2});
  check_typed<std::int32_t>(range(std::int32_t{3}, std::int32_t{3}, std::int32_t{1}), {0}, {});
  check_typed<std::int16_t>(range(std::int16_t{-30000}, std::int16_t{30000}, std::int16_t{20000}), {3},
                            {-30000, -10000, 10000});
  check_typed<std::int64_t>(range(INT64_MIN, INT64_MAX, INT64_MAX), {3}, {INT64_MIN, -1, INT64_MAX - 1});
}

TEST_CASE("A range without end is refused") {
  const auto refused = [](const std::string& part, float start, float limit, float delta) {
    check_refused(kShape, part, "Range", {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)});
  };
  refused("the step is 0.000000", 0, 1, 0);
  refused("the step is nan", 0, 1, std::numeric_limits<float>::quiet_NaN());
  refused("expected at most 2^29 elements", 0, std::numeric_limits<float>::infinity(), 1);
  refused("expected at most 2^29 elements", 0, 1, 1e-30F);
  check_refused(kShape, "expected at most 2^29 elements", "Range",
                {Tensor::scalar(INT64_MIN), Tensor::scalar(INT64_MAX), Tensor::scalar(std::int64_t{1})});
  check_refused(kUnsupported, "a range of uint8", "Range", {typed<std::uint8_t>({}, {1}), {}, {}});
  check_refused(kUnsupported, "input 2 is int64, expected float32", "Range",
                {Tensor::scalar(0.0F), Tensor::scalar(1.0F), Tensor::scalar(std::int64_t{1})});
  check_refused(kShape, "expected one value", "Range",
                {Tensor::scalar(0.0F), floats({2}, {1, 2}), Tensor::scalar(1.0F)});
}

TEST_CASE("EyeLike puts ones on a diagonal") {
  const Tensor x = whole_numbers({2, 3}, 1);
  check_tensor(run_op("EyeLike", {x}), {2, 3}, {1, 0, 0, 0, 1, 0});
  check_tensor(run_op("EyeLike", {x}, {{"k", 1}}), {2, 3}, {0, 1, 0, 0, 0, 1});
  check_tensor(run_op("EyeLike", {x}, {{"k", -1}}), {2, 3}, {0, 0, 0, 1, 0, 0});
  check_tensor(run_op("EyeLike", {x}, {{"k", INT64_MAX}}), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_typed<std::int8_t>(run_op("EyeLike", {x}, {{"dtype", 3}}), {2, 3}, {1, 0, 0, 0, 1, 0});
  check_refused(kShape, "input [6] is no matrix", "EyeLike", {whole_numbers({6}, 1)});
  check_refused(kUnsupported, "dtype names the element type 8", "EyeLike", {x}, {{"dtype", 8}});
}

TEST_CASE("OneHot marks each index along a new axis") {
  const Tensor indices = typed<std::int64_t>({3}, {1, -1, 5});  // the last one is outside
  const Tensor depth = Tensor::scalar(std::int64_t{3});
  const Tensor off_on = floats({2}, {2, 9});
  check_tensor(run_op("OneHot", {indices, depth, off_on}), {3, 3}, {2, 9, 2, 2, 2, 9, 2, 2, 2});
  check_tensor(run_op("OneHot", {indices, depth, off_on}, {{"axis", 0}}), {3, 3}, {2, 2, 2, 9, 2, 2, 2, 9, 2});
  check_typed<std::int8_t>(
      run_op("OneHot", {floats({2, 1}, {0, 1}), floats({1}, {2}), typed<std::int8_t>({2}, {0, 1})}, {{"axis", 1}}),
      {2, 2, 1}, {1, 0, 0, 1});
  check_refused(kShape, "depth has 2 elements, expected one", "OneHot", {indices, int64s({1, 2}), off_on});
  check_refused(kShape, "values is [1], expected [2]", "OneHot", {indices, depth, floats({1}, {1})});
  check_refused(kShape, "axis 2 is outside a tensor of 2 axes", "OneHot", {indices, depth, off_on}, {{"axis", 2}});
  check_refused(kShape, "the output would be [3,-1]", "OneHot", {indices, int64s({-1}), off_on});
}
