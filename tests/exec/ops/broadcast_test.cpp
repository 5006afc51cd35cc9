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

TEST_CASE("Rows are as long as possible") {
  const auto rows = [](const Shape& result, const Shape& a, const Shape& b) {
    return BroadcastRows<2>(result, {a, b});
  };
  CHECK(rows({2, 3, 4}, {2, 3, 4}, {2, 3, 4}).length() == 24);
  CHECK(rows({2, 3, 4}, {2, 3, 4}, {}).length() == 24);
  CHECK(rows({2, 3, 4}, {2, 3, 4}, {3, 4}).length() == 12);
  CHECK(rows({2, 3, 4}, {2, 3, 4}, {3, 1}).length() == 4);
  CHECK(rows({2, 3, 4}, {2, 3, 4}, {2, 1, 1}).length() == 12);
  CHECK(rows({5, 1, 1}, {5, 1, 1}, {1}).length() == 5);
  CHECK(rows({1, 1}, {1}, {1, 1}).length() == 1);
  CHECK(rows({0, 3}, {0, 3}, {3}).rows() * rows({0, 3}, {0, 3}, {3}).length() == 0);
  CHECK(rows({2, 3, 4}, {2, 3, 4}, {3, 1}).is_repeated(1));
  CHECK_FALSE(rows({2, 3, 4}, {2, 3, 4}, {3, 1}).is_repeated(0));
}

TEST_CASE("Rows split over threads visit the same elements") {
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{50}, {50}}, {{7, 1, 9}, {5, 9}}, {{64}, {3, 1}}}) {
    const Shape result = together(a, b);
    std::vector<std::array<std::size_t, 3>> found(result.size());
    const BroadcastRows<2> rows(result, {a, b});
    rows.for_each(
        [&](std::size_t first, const auto& from, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) {
            found[first + i] = {first + i, from[0] + (rows.is_repeated(0) ? 0 : i),
                                from[1] + (rows.is_repeated(1) ? 0 : i)};
          }
        },
        10);
    CHECK(found == visits(a, b));
  }
}

TEST_CASE("Before opset 7 a second operand stood at an axis") {
  const graph::Node node{.op_type = "Add", .name = "op", .attributes = {{"axis", 1}}};
  CHECK(second_operand_shape(OpContext{node, 6, {}, {}}, {2, 3, 4, 5}, {3, 4}) == Shape{3, 4, 1});
  CHECK(second_operand_shape(OpContext{node, 7, {}, {}}, {2, 3, 4, 5}, {3, 4}) == Shape{3, 4});
}
