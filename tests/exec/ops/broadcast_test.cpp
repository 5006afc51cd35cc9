// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/broadcast.hpp>

#include <doctest/doctest.h>

#include <array>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::exec;

namespace {

Shape together(const Shape& a, const Shape& b) {
  const graph::Node node{.op_type = "Add", .name = "op"};
  return broadcast_shape(OpContext{node, {}, {}}, a, b);
}
using Visits = std::vector<std::array<std::size_t, 3>>;

Visits visits(const Shape& a, const Shape& b) {
  Visits result;
  for_each_broadcast(together(a, b), a, b, [&](std::size_t i, std::size_t ia, std::size_t ib) {
    result.push_back({i, ia, ib});
  });
  return result;
}

}  // namespace

TEST_CASE("Shapes are broadcast by numpy's rules") {
  CHECK(together({}, {}) == Shape{});
  CHECK(together({2, 3}, {}) == Shape{2, 3});
  CHECK(together({3}, {2, 3}) == Shape{2, 3});
  CHECK(together({2, 1, 4}, {3, 1}) == Shape{2, 3, 4});
  CHECK(together({1}, {0}) == Shape{0});
  CHECK(together({0, 3}, {1, 3}) == Shape{0, 3});
}

TEST_CASE("Shapes that cannot be broadcast are refused") {
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{2}, {3}}, {{2, 3}, {2}}, {{0}, {2}}}) {
    const auto error = support::error_of([&, &a = a, &b = b] { (void)together(a, b); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_shape);
    CHECK(error->where().layer == "op");
    CHECK(error->message() == "shapes " + to_string(a) + " and " + to_string(b) + " cannot be broadcast");
  }
}

TEST_CASE("Every element of the result meets the elements it is made of") {
  CHECK(visits({3}, {3}) == Visits{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}});
  CHECK(visits({3}, {1}) == Visits{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}});
  CHECK(visits({}, {2}) == Visits{{0, 0, 0}, {1, 0, 1}});
  CHECK(visits({2, 1}, {3}) == Visits{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {3, 1, 0}, {4, 1, 1}, {5, 1, 2}});
  CHECK(visits({1, 2}, {2, 1, 1}) == Visits{{0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {3, 1, 1}});
  CHECK(visits({2, 1, 2}, {2, 1}) ==
        Visits{{0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {3, 1, 1}, {4, 2, 0}, {5, 3, 0}, {6, 2, 1}, {7, 3, 1}});
  CHECK(visits({0, 2}, {2}).empty());
}
