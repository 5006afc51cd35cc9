// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Transpose reverses the axes") {
  check_tensor(run_op("Transpose", {floats({2, 3}, {1, 2, 3, 4, 5, 6})}), {3, 2}, {1, 4, 2, 5, 3, 6});
  check_tensor(run_op("Transpose", {Tensor::scalar(3.0F)}), {}, {3});
  CHECK(run_op("Transpose", {floats({0, 3}, {})}).shape() == Shape{3, 0});
}

TEST_CASE("Transpose puts the axes in any order") {
  const Tensor x = whole_numbers({2, 3, 4, 5}, 1);
  Ints order{0, 1, 2, 3};
  do {
    const Tensor y = run_op("Transpose", {x}, {{"perm", order}});
    bool same = true;
    for (std::size_t i = 0; i < 2 * 3 * 4 * 5; ++i) {
      const std::size_t place[] = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
      std::size_t to = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const auto axis = static_cast<std::size_t>(order[k]);
        CHECK(y.shape()[k] == x.shape()[axis]);
        to = to * static_cast<std::size_t>(x.shape()[axis]) + place[axis];
      }
      same = same && values(y)[to] == values(x)[i];
    }
    CHECK(same);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("Transpose moves every element type") {
  check_typed<std::int8_t>(run_op("Transpose", {typed<std::int8_t>({2, 2}, {1, 2, 3, 4})}), {2, 2}, {1, 3, 2, 4});
  check_typed<std::int64_t>(run_op("Transpose", {typed<std::int64_t>({2, 2}, {1, 2, 3, 4})}), {2, 2}, {1, 3, 2, 4});
  check_typed<std::uint16_t>(run_op("Transpose", {typed<std::uint16_t>({2, 2}, {1, 2, 3, 4})}), {2, 2}, {1, 3, 2, 4});
}

TEST_CASE("An order that is not one of the axes is refused") {
  const Tensor x = whole_numbers({2, 3}, 1);
  check_refused(kShape, "perm is not an order of the 2 axes", "Transpose", {x}, {{"perm", Ints{0, 0}}});
  check_refused(kShape, "perm is not an order of the 2 axes", "Transpose", {x}, {{"perm", Ints{0, 1, 2}}});
  check_refused(kShape, "perm is not an order of the 2 axes", "Transpose", {x}, {{"perm", Ints{1, 2}}});
}
