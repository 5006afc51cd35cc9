// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

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

TEST_CASE("Identity gives its input") {
  check_tensor(run_op("Identity", {kSix}), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_typed<std::int64_t>(run_op("Identity", {int64s({7})}), {1}, {7});
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
  CHECK(reshaped({0, 3}, {-1, 4}) == Shape{0, 4});
}

TEST_CASE("With allowzero a 0 is a size of zero") {
  CHECK(reshaped({0, 3}, {3, 0}, {{"allowzero", 1}}) == Shape{3, 0});
}

TEST_CASE("Before opset 5 the shape is an attribute") {
  CHECK(run_op("Reshape", {kSix}, {{"shape", Ints{3, -1}}}, 1).shape() == Shape{3, 2});
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
  refused({1 << 30, 1 << 30, 1 << 30}, "input [2,3] cannot take the shape");
  refused({INT64_MIN}, "input 1 has the value -9223372036854775808");
  check_refused(kShape, "cannot take the shape", "Reshape", {floats({0}, {}), int64s({0, 1 << 30, 1 << 30})});
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

TEST_CASE("Shape gives the sizes of a range of axes") {
  const Tensor x(ElementType::uint8, {2, 3, 4});
  check_typed<std::int64_t>(run_op("Shape", {x}), {3}, {2, 3, 4});
  check_typed<std::int64_t>(run_op("Shape", {x}, {{"start", 1}}, 15), {2}, {3, 4});
  check_typed<std::int64_t>(run_op("Shape", {x}, {{"start", -2}, {"end", -1}}, 15), {1}, {3});
  check_typed<std::int64_t>(run_op("Shape", {x}, {{"start", -9}, {"end", 9}}, 15), {3}, {2, 3, 4});
  check_typed<std::int64_t>(run_op("Shape", {x}, {{"start", 2}, {"end", 1}}, 15), {0}, {});
  check_typed<std::int64_t>(run_op("Shape", {Tensor::scalar(1.0F)}), {0}, {});
}

TEST_CASE("Size is the number of elements") {
  check_typed<std::int64_t>(run_op("Size", {kSix}), {}, {6});
  check_typed<std::int64_t>(run_op("Size", {floats({0, 3}, {})}), {}, {0});
}
