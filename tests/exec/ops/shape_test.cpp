// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/shape.hpp>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kSix = floats({2, 3}, {1, 2, 3, 4, 5, 6});

Shape reshaped(const Shape& from, const Ints& to, Attributes attributes = {}) {
  const Tensor x = whole_numbers(from, 1);
  const Tensor y = run_op("Reshape", {x, int64s(to)}, std::move(attributes), 14);
  CHECK(values(y) == values(x));
  return y.shape();
}

}  // namespace

TEST_CASE("Constant gives its tensor, Identity its input") {
  check_tensor(run_op("Constant", {}, {{"value", kSix}}), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_tensor(run_op("Identity", {kSix}), {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values<std::int64_t>(run_op("Identity", {int64s({7})})) == Ints{7});
  check_refused(kUnsupported, "only the attribute \"value\" is supported", "Constant", {}, {{"value_float", 1.0F}});
}

TEST_CASE("Flatten makes a matrix split at an axis") {
  const Tensor x = whole_numbers({2, 3, 4}, 1);
  const auto flat = [&](std::int64_t axis) { return run_op("Flatten", {x}, {{"axis", axis}}).shape(); };
  CHECK(run_op("Flatten", {x}).shape() == Shape{2, 12});
  CHECK(flat(0) == Shape{1, 24});
  CHECK(flat(2) == Shape{6, 4});
  CHECK(flat(3) == Shape{24, 1});
  CHECK(flat(-1) == Shape{6, 4});
  CHECK(values(run_op("Flatten", {x})) == values(x));
  check_refused(kShape, "axis 4 is outside a tensor of 3 axes", "Flatten", {x}, {{"axis", 4}});
}

TEST_CASE("Reshape copies a size for 0 and computes one for -1") {
  CHECK(reshaped({2, 3, 4}, {4, 6}) == Shape{4, 6});
  CHECK(reshaped({2, 3, 4}, {0, -1}) == Shape{2, 12});
  CHECK(reshaped({2, 3, 4}, {-1, 0, 2}) == Shape{4, 3, 2});
  CHECK(reshaped({2, 3, 4}, {-1}) == Shape{24});
  CHECK(reshaped({1}, {}) == Shape{});
}

TEST_CASE("With allowzero a 0 is a size of zero") {
  CHECK(reshaped({0, 3}, {3, 0}, {{"allowzero", 1}}) == Shape{3, 0});
}

TEST_CASE("A shape that does not hold the elements is refused") {
  const auto refused = [](const Ints& shape, const std::string& part) {
    check_refused(kShape, part, "Reshape", {kSix, int64s(shape)});
  };
  refused({4}, "input [2,3] cannot take the shape [4]");
  refused({-1, 4}, "input [2,3] cannot take the shape");
  refused({-1, -1}, "input [2,3] cannot take the shape");
  refused({-2, -3}, "input [2,3] cannot take the shape [-2,-3]");
  refused({2, 3, 0}, "input [2,3] cannot take the shape [2,3,0]");
  check_refused(kCorrupt, "input 1 is missing", "Reshape", {kSix});
}

TEST_CASE("Squeeze drops axes of size one, by attribute or by input") {
  const Tensor x = whole_numbers({1, 3, 1, 2}, 1);
  CHECK(run_op("Squeeze", {x}, {}, 11).shape() == Shape{3, 2});
  CHECK(run_op("Squeeze", {x}, {{"axes", Ints{2}}}, 11).shape() == Shape{1, 3, 2});
  CHECK(run_op("Squeeze", {x, int64s({0})}).shape() == Shape{3, 1, 2});
  CHECK(run_op("Squeeze", {x, int64s({-2, 0})}).shape() == Shape{3, 2});
  CHECK(values(run_op("Squeeze", {x})) == values(x));
  check_refused(kShape, "axis 1 of [1,3,1,2] is not 1", "Squeeze", {x, int64s({1})});
  check_refused(kShape, "axis 4 is outside a tensor of 4 axes", "Squeeze", {x, int64s({4})});
}

TEST_CASE("Unsqueeze puts in axes counted in the result, by attribute or by input") {
  CHECK(run_op("Unsqueeze", {kSix}, {{"axes", Ints{0, 3}}}, 11).shape() == Shape{1, 2, 3, 1});
  CHECK(run_op("Unsqueeze", {kSix, int64s({1})}).shape() == Shape{2, 1, 3});
  CHECK(run_op("Unsqueeze", {kSix, int64s({-1})}).shape() == Shape{2, 3, 1});
  CHECK(run_op("Unsqueeze", {kSix, int64s({2, 0})}).shape() == Shape{1, 2, 1, 3});
  CHECK(run_op("Unsqueeze", {Tensor::scalar(1.0F), int64s({0})}).shape() == Shape{1});
  CHECK(values(run_op("Unsqueeze", {kSix, int64s({1})})) == values(kSix));
  check_refused(kShape, "axis 3 is outside a tensor of 3 axes", "Unsqueeze", {kSix, int64s({3})});
  check_refused(kShape, "an axis is given twice", "Unsqueeze", {kSix, int64s({1, -3})});
}

TEST_CASE("Transpose reverses the axes or puts them in a given order") {
  check_tensor(run_op("Transpose", {kSix}), {3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor x = whole_numbers({2, 3, 4}, 1);
  const Tensor y = run_op("Transpose", {x}, {{"perm", Ints{1, 2, 0}}});
  REQUIRE(y.shape() == Shape{3, 4, 2});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 4; ++k) CHECK(values(y)[(j * 4 + k) * 2 + i] == values(x)[(i * 3 + j) * 4 + k]);
    }
  }
  check_tensor(run_op("Transpose", {Tensor::scalar(3.0F)}), {}, {3});
}

TEST_CASE("Transpose moves every element type") {
  const std::vector<std::int8_t> bytes{1, 2, 3, 4};
  CHECK(values<std::int8_t>(run_op("Transpose", {Tensor(Shape{2, 2}, std::span<const std::int8_t>(bytes))})) ==
        std::vector<std::int8_t>{1, 3, 2, 4});
  const Ints longs{1, 2, 3, 4};
  CHECK(values<std::int64_t>(run_op("Transpose", {Tensor(Shape{2, 2}, std::span<const std::int64_t>(longs))})) ==
        Ints{1, 3, 2, 4});
}

TEST_CASE("An order that is not one of the axes is refused") {
  check_refused(kShape, "perm is not an order of the 2 axes", "Transpose", {kSix}, {{"perm", Ints{0, 0}}});
  check_refused(kShape, "perm is not an order of the 2 axes", "Transpose", {kSix}, {{"perm", Ints{0, 1, 2}}});
  check_refused(kShape, "perm is not an order of the 2 axes", "Transpose", {kSix}, {{"perm", Ints{1, 2}}});
}

TEST_CASE("Concat joins along any axis, for every element type") {
  const Tensor a = floats({2, 1}, {1, 2});
  const Tensor b = floats({2, 2}, {3, 4, 5, 6});
  check_tensor(run_op("Concat", {a, b}, {{"axis", 1}}), {2, 3}, {1, 3, 4, 2, 5, 6});
  check_tensor(run_op("Concat", {b, b}, {{"axis", 0}}), {4, 2}, {3, 4, 5, 6, 3, 4, 5, 6});
  check_tensor(run_op("Concat", {a, b, a}, {{"axis", -1}}), {2, 4}, {1, 3, 4, 1, 2, 5, 6, 2});
  check_tensor(run_op("Concat", {Tensor(ElementType::float32, {2, 0}), a}, {{"axis", 1}}), {2, 1}, {1, 2});
  check_tensor(run_op("Concat", {a}, {{"axis", 0}}), {2, 1}, {1, 2});
  CHECK(values<std::int64_t>(run_op("Concat", {int64s({1, 2}), int64s({3})}, {{"axis", 0}})) == Ints{1, 2, 3});
}

TEST_CASE("Tensors that do not fit each other are not joined") {
  const Tensor a = whole_numbers({2, 1}, 1);
  check_refused(kShape, "inputs [2,1] and [3,1] do not fit", "Concat", {a, whole_numbers({3, 1}, 1)}, {{"axis", 1}});
  check_refused(kShape, "inputs [2,1] and [2] do not fit", "Concat", {a, whole_numbers({2}, 1)}, {{"axis", 1}});
  check_refused(kShape, "inputs [2,1] and [2,1] do not fit", "Concat", {a, Tensor(ElementType::int8, {2, 1})},
                {{"axis", 1}});
  check_refused(kShape, "axis 2 is outside a tensor of 2 axes", "Concat", {a, a}, {{"axis", 2}});
}

TEST_CASE("Pad puts a border around, with zeros or a given value") {
  check_tensor(run_op("Pad", {kSix, int64s({1, 0, 0, 1})}), {3, 4}, {0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0});
  check_tensor(run_op("Pad", {kSix, int64s({0, 1, 0, 0}), Tensor::scalar(9.0F)}), {2, 4}, {9, 1, 2, 3, 9, 4, 5, 6});
  check_tensor(run_op("Pad", {kSix, int64s({0, 0, 0, 0})}, {{"mode", std::string("constant")}}), {2, 3},
               {1, 2, 3, 4, 5, 6});
}

TEST_CASE("Negative pads remove elements, also together with positive ones") {
  check_tensor(run_op("Pad", {kSix, int64s({0, -1, 0, 0})}), {2, 2}, {2, 3, 5, 6});
  check_tensor(run_op("Pad", {kSix, int64s({-1, 0, 0, -2})}), {1, 1}, {4});
  check_tensor(run_op("Pad", {kSix, int64s({0, -2, 1, 1}), Tensor::scalar(7.0F)}), {3, 2}, {3, 7, 6, 7, 7, 7});
  check_tensor(run_op("Pad", {kSix, int64s({0, -3, 0, 0})}), {2, 0}, {});
}

TEST_CASE("What does not fit a pad is refused") {
  check_refused(kShape, "pads has 2 entries, expected 4", "Pad", {kSix, int64s({1, 1})});
  check_refused(kShape, "pads would remove more than there is", "Pad", {kSix, int64s({0, -2, 0, -2})});
  check_refused(kUnsupported, "only the mode \"constant\" is supported", "Pad", {kSix, int64s({0, 0, 0, 0})},
                {{"mode", std::string("edge")}});
  check_refused(kUnsupported, "input 0 is int64, expected float32", "Pad", {int64s({1}), int64s({0, 0})});
}
