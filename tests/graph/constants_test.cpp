// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/constants.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;

TEST_CASE("Elements of any type become doubles") {
  CHECK(as_doubles(support::floats({2}, {1.5F, -2})) == std::vector<double>{1.5, -2});
  CHECK(as_doubles(support::int64s({3, -4})) == std::vector<double>{3, -4});
  CHECK(as_doubles(Tensor::scalar(true)) == std::vector<double>{1});
  CHECK(as_doubles(Tensor::scalar(to_half(0.5F))) == std::vector<double>{0.5});
}

TEST_CASE("A scalar is one element of whatever rank") {
  CHECK(scalar_value(nullptr) == std::nullopt);
  const Tensor one = support::floats({1, 1}, {7});
  CHECK(scalar_value(&one) == 7.0);
  const Tensor two = support::floats({2}, {7, 7});
  CHECK(scalar_value(&two) == std::nullopt);
}

TEST_CASE("All elements equal a value; of none this cannot be said") {
  CHECK(all_equal(support::floats({2}, {1, 1}), 1.0));
  CHECK_FALSE(all_equal(support::floats({2}, {1, 2}), 1.0));
  CHECK_FALSE(all_equal(Tensor(ElementType::float32, {0}), 1.0));
}

TEST_CASE("Integers are int64 or int32") {
  const Tensor wide = support::int64s({1, -2});
  CHECK(integer_values(&wide) == support::Ints{1, -2});
  const Tensor narrow = Tensor::scalar(std::int32_t{-3});
  CHECK(integer_values(&narrow) == support::Ints{-3});
  const Tensor real = support::floats({1}, {1});
  CHECK(integer_values(&real) == std::nullopt);
  CHECK(integer_values(nullptr) == std::nullopt);
  CHECK(support::values<std::int64_t>(int64_tensor({4, 5})) == support::Ints{4, 5});
}
