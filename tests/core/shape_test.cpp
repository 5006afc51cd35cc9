// SPDX-License-Identifier: Apache-2.0
#include <amct/core/shape.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using amct::Shape;

TEST_CASE("a shape counts its elements") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 24);
  CHECK(shape.count(0, 2) == 6);
  CHECK(shape.count(1, 3) == 12);
  CHECK(shape.count(2, 2) == 1);
  CHECK(shape[1] == 3);
}

TEST_CASE("an empty shape is a scalar and a zero axis means no element") {
  CHECK(Shape{}.rank() == 0);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{3, 0, 5}.size() == 0);
}

TEST_CASE("sizes above 32 bits are counted exactly") { CHECK(Shape{65536, 65536, 3}.size() == 12884901888U); }

TEST_CASE("shapes are compared axis by axis and can be changed in place") {
  Shape shape(std::vector<std::int64_t>{2, 3});
  CHECK(shape == Shape{2, 3});
  CHECK(shape != Shape{3, 2});
  CHECK(shape != Shape{2, 3, 1});
  shape[0] = 7;
  CHECK(shape == Shape{7, 3});
  CHECK(std::vector<std::int64_t>(shape.begin(), shape.end()) == shape.dims());
}

TEST_CASE("a shape has a text form") {
  CHECK(amct::to_string(Shape{1, 28, 28}) == "[1,28,28]");
  CHECK(amct::to_string(Shape{5}) == "[5]");
  CHECK(amct::to_string(Shape{}) == "[]");
}
