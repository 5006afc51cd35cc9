// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/arithmetic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("Arithmetic of two tensors, with broadcasting") {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  const Tensor b = floats({2}, {10, 20});
  check_tensor(run_op("Add", {a, b}), {2, 2}, {11, 22, 13, 24});
  check_tensor(run_op("Sub", {a, b}), {2, 2}, {-9, -18, -7, -16});
  check_tensor(run_op("Sub", {b, a}), {2, 2}, {9, 18, 7, 16});
  check_tensor(run_op("Mul", {a, Tensor::scalar(-2.0F)}), {2, 2}, {-2, -4, -6, -8});
  check_tensor(run_op("Div", {b, a}), {2, 2}, {10, 10, 10.0F / 3.0F, 5});
  check_tensor(run_op("Add", {floats({2, 1}, {1, 2}), floats({1, 3}, {10, 20, 30})}), {2, 3}, {11, 21, 31, 12, 22, 32});
}

TEST_CASE("Operands of every pattern of repeated axes meet as the definition says") {
  const Shape shapes[] = {{2, 3, 4}, {3, 1}, {4}, {}, {2, 1, 1}, {1, 3, 4}, {2, 1, 4}, {1, 1, 1}};
  for (const Shape& left : shapes) {
    for (const Shape& right : shapes) {
      CAPTURE(to_string(left));
      CAPTURE(to_string(right));
      const Tensor a = whole_numbers(left, 1);
      const Tensor b = whole_numbers(right, 2);
      const Tensor y = run_op("Sub", {a, b});
      const Tensor wide = run_op("Sub", {cast(a, ElementType::int32), cast(b, ElementType::int32)});
      CHECK(values(y) == values(cast(wide, ElementType::float32)));
      const auto at = [](const Tensor& t, const std::size_t(&position)[3]) {
        std::size_t index = 0;
        for (std::size_t axis = 0; axis < t.shape().rank(); ++axis) {
          const auto extent = static_cast<std::size_t>(t.shape()[axis]);
          index = index * extent + (extent == 1 ? 0 : position[axis + 3 - t.shape().rank()]);
        }
        return t.data<float>()[index];
      };
      for (std::size_t i = 0; i < 24; ++i) {
        const std::size_t position[] = {i / 12, i / 4 % 3, i % 4};
        REQUIRE(at(y, position) == at(a, position) - at(b, position));
      }
    }
  }
}

TEST_CASE("Results stand in the memory of an operand that is not read later, and others stay as they are") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .node("Neg", "n", {"x"}, "a")
                         .node("Add", "o", {"x", "a"}, "b")
                         .node("Sub", "p", {"one", "b"}, "c")
                         .node("Mul", "q", {"c", "x"}, "y")
                         .initializer("one", floats({1}, {1}))
                         .output("y")
                         .build();
  check_tensor(run_graph(graph, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}), {2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST_CASE("Before opset 7 the attribute axis says where the second operand stands") {
  const Tensor a = floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor b = floats({2}, {10, 20});
  const Attributes at_1{{"broadcast", 1}, {"axis", 1}};
  check_tensor(run_op("Add", {a, b}, at_1, 6), {2, 2, 2}, {11, 12, 23, 24, 15, 16, 27, 28});
  check_tensor(run_op("Add", {a, b}, {{"broadcast", 1}}, 6), {2, 2, 2}, {11, 22, 13, 24, 15, 26, 17, 28});
  check_tensor(run_op("Add", {a, b}, {{"broadcast", 1}, {"axis", -3}}, 6), {2, 2, 2}, {11, 12, 13, 14, 25, 26, 27, 28});
  check_tensor(run_op("Add", {a, Tensor::scalar(1.0F)}, at_1, 6), {2, 2, 2}, {2, 3, 4, 5, 6, 7, 8, 9});
  check_refused(kShape, "shape [2,2] at axis 2 does not fit [2,2,2]", "Add", {a, floats({2, 2}, {1, 2, 3, 4})},
                {{"broadcast", 1}, {"axis", 2}}, 6);
  check_refused(kShape, "axis 3 is outside", "Add", {a, b}, {{"broadcast", 1}, {"axis", 3}}, 6);
}

TEST_CASE("Division by zero gives infinities and NaN as IEEE 754 has it, and refuses integers") {
  const auto y = values(run_op("Div", {floats({3}, {1, -1, 0}), floats({3}, {0, 0, 0})}));
  CHECK(y[0] == kInf);
  CHECK(y[1] == -kInf);
  CHECK(std::isnan(y[2]));
  check_refused(kShape, "divides an integer by 0, element 1 of input 1", "Div", {int64s({1, 2}), int64s({1, 0})});
  check_refused(kShape, "divides an integer by 0, element 0 of input 1", "Mod", {int64s({1}), int64s({0})});
}

TEST_CASE("Integers wrap around and are divided towards zero") {
  const auto least = std::numeric_limits<std::int64_t>::min();
  check_typed<std::uint8_t>(run_op("Add", {typed<std::uint8_t>({2}, {250, 1}), typed<std::uint8_t>({2}, {10, 2})}), {2},
                            {4, 3});
  check_typed<std::int8_t>(run_op("Mul", {typed<std::int8_t>({1}, {100}), typed<std::int8_t>({1}, {3})}), {1}, {44});
  check_typed<std::int16_t>(run_op("Sub", {typed<std::int16_t>({1}, {-32768}), typed<std::int16_t>({1}, {1})}), {1},
                            {32767});
  check_typed<std::uint16_t>(run_op("Mul", {typed<std::uint16_t>({1}, {65535}), typed<std::uint16_t>({1}, {65535})}),
                             {1}, {1});
  check_typed<std::int64_t>(run_op("Div", {int64s({7, -7, least}), int64s({2, 2, -1})}), {3}, {3, -3, least});
  check_typed<double>(run_op("Div", {typed<double>({1}, {1}), typed<double>({1}, {3})}), {1}, {1.0 / 3.0});
}

TEST_CASE("Mod has the sign of the divisor, with fmod that of the dividend") {
  const Tensor a = typed<std::int32_t>({4}, {7, -7, 7, -7});
  const Tensor b = typed<std::int32_t>({4}, {3, 3, -3, -3});
  check_typed<std::int32_t>(run_op("Mod", {a, b}), {4}, {1, 2, -2, -1});
  check_typed<std::int32_t>(run_op("Mod", {a, b}, {{"fmod", 1}}), {4}, {1, -1, 1, -1});
  check_typed<std::uint8_t>(run_op("Mod", {typed<std::uint8_t>({1}, {200}), typed<std::uint8_t>({1}, {7})}), {1}, {4});
  const auto least = std::numeric_limits<std::int64_t>::min();
  check_typed<std::int64_t>(run_op("Mod", {int64s({least}), int64s({-1})}), {1}, {0});
  check_tensor(run_op("Mod", {floats({2}, {-4.5F, 4.5F}), floats({1}, {2})}, {{"fmod", 1}}), {2}, {-0.5F, 0.5F});
  check_refused(kCorrupt, "fmod is 0", "Mod", {floats({1}, {1}), floats({1}, {1})});
}

TEST_CASE("Pow has the type of its base") {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  check_tensor(run_op("Pow", {a, Tensor::scalar(2.0F)}), {2, 2}, {1, 4, 9, 16});
  check_tensor(run_op("Pow", {a, int64s({2})}), {2, 2}, {1, 4, 9, 16});
  check_tensor(run_op("Pow", {a, floats({2, 1}, {3, 0.5F})}), {2, 2}, {1, 8, std::sqrt(3.0F), 2});
  check_tensor(run_op("Pow", {floats({1}, {3}), floats({1, 1}, {2})}), {1, 1}, {9});
  check_typed<std::int64_t>(run_op("Pow", {int64s({2, -3, 5}), floats({1}, {3})}), {3}, {8, -27, 125});
  check_typed<std::int32_t>(run_op("Pow", {typed<std::int32_t>({2}, {3, 2}), int64s({2, 40})}), {2}, {9, 0});
  check_typed<std::int64_t>(run_op("Pow", {int64s({1, -1, -1, 2, 0}), int64s({-5, -5, -4, -1, 0})}), {5},
                            {1, -1, 1, 0, 1});
  check_typed<double>(run_op("Pow", {typed<double>({1}, {2}), typed<double>({1}, {0.5})}), {1}, {std::sqrt(2.0)});
  CHECK(run_op("Pow", {cast(a, ElementType::float16), a}).type() == ElementType::float16);
}

TEST_CASE("Max, Min, Sum and Mean take any number of operands") {
  const Tensor a = floats({3}, {1, 5, -3});
  const Tensor b = floats({3}, {2, 4, kNan});
  const Tensor c = floats({2, 1}, {3, 0});
  check_tensor(run_op("Sum", {a, floats({3}, {1, 1, 1}), c}), {2, 3}, {5, 9, 1, 2, 6, -2});
  check_tensor(run_op("Mean", {a, a, floats({1}, {4})}), {3}, {2, 14.0F / 3.0F, -2.0F / 3.0F});
  check_tensor(run_op("Max", {a}), {3}, {1, 5, -3});
  check_tensor(run_op("Sum", {floats({1}, {1}), floats({1}, {2}), a}), {3}, {4, 8, 0});
  const auto most = values(run_op("Max", {a, b, c}));
  CHECK(most[0] == 3.0F);
  CHECK(most[4] == 5.0F);
  CHECK(std::isnan(most[5]));
  const auto least = values(run_op("Min", {b, a}));
  CHECK(least[1] == 4.0F);
  CHECK(std::isnan(least[2]));
  check_typed<std::uint64_t>(run_op("Max", {typed<std::uint64_t>({2}, {1, ~0ULL}), typed<std::uint64_t>({1}, {5})}),
                             {2}, {5, ~0ULL});
  check_refused(kUnsupported, "is a mean of integers", "Mean", {int64s({1}), int64s({1})});
}

TEST_CASE("PRelu multiplies what is negative by a slope, which before opset 7 could belong to channels") {
  const Tensor x = floats({1, 2, 2}, {-1, 2, -3, 4});
  check_tensor(run_op("PRelu", {x, floats({2, 1}, {0.5F, 10})}), {1, 2, 2}, {-0.5F, 2, -30, 4});
  check_tensor(run_op("PRelu", {x, floats({2}, {0.5F, 10})}), {1, 2, 2}, {-0.5F, 2, -1.5F, 4});
  check_tensor(run_op("PRelu", {x, floats({2}, {0.5F, 10})}, {}, 6), {1, 2, 2}, {-0.5F, 2, -30, 4});
  check_tensor(run_op("PRelu", {x, floats({1}, {0.5F})}, {}, 6), {1, 2, 2}, {-0.5F, 2, -1.5F, 4});
  check_typed<std::int64_t>(run_op("PRelu", {int64s({-3, 3}), int64s({2})}), {2}, {-6, 3});
  check_refused(kShape, "slope [3,1,1,1] does not fit input [1,2,2]", "PRelu", {x, whole_numbers({3, 1, 1, 1}, 1)});
}

TEST_CASE("Operands of different types, missing ones and shapes that do not fit are refused") {
  check_refused(kUnsupported, "input 1 is int64, expected float32", "Add", {floats({2}, {1, 2}), int64s({1, 2})});
  check_refused(kUnsupported, "input 0 is bool, expected numbers", "Add", {typed<bool>({1}, {true}), int64s({1})});
  check_refused(kUnsupported, "input 1 is float32, expected int64", "Max", {int64s({1}), floats({1}, {1})});
  check_refused(kShape, "shapes [2] and [3] cannot be broadcast", "Mul", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})});
  check_refused(kShape, "shapes [2] and [3] cannot be broadcast", "Min", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})});
  check_refused(kCorrupt, "input 1 is missing", "Sub", {floats({2}, {1, 2})});
}
