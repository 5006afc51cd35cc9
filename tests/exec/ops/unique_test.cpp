// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

Tensor unique(std::size_t output, const Tensor& x, Attributes attributes = {}) {
  return run_output(output, 4, "Unique", {x}, std::move(attributes));
}

}  // namespace

TEST_CASE("Unique finds the different elements") {
  const Tensor x = floats({2, 3}, {2, 1, 1, 3, 4, 3});
  check_tensor(unique(0, x), {4}, {1, 2, 3, 4});
  check_typed<std::int64_t>(unique(1, x), {4}, {1, 0, 3, 4});
  check_typed<std::int64_t>(unique(2, x), {6}, {1, 0, 0, 2, 3, 2});
  check_typed<std::int64_t>(unique(3, x), {4}, {2, 1, 2, 1});
}

TEST_CASE("Unsorted, they stay in the order in which they come") {
  const Attributes unsorted{{"sorted", 0}};
  const Tensor x = typed<std::int8_t>({5}, {2, -1, -1, 3, 2});
  check_typed<std::int8_t>(unique(0, x, unsorted), {3}, {2, -1, 3});
  check_typed<std::int64_t>(unique(1, x, unsorted), {3}, {0, 1, 3});
  check_typed<std::int64_t>(unique(2, x, unsorted), {5}, {0, 1, 1, 2, 0});
  check_typed<std::int64_t>(unique(3, x, unsorted), {3}, {2, 2, 1});
}

TEST_CASE("Along an axis, slices are compared") {
  const Tensor x = floats({3, 2}, {1, 0, 0, 5, 1, 0});
  check_tensor(unique(0, x, {{"axis", 0}}), {2, 2}, {0, 5, 1, 0});
  check_typed<std::int64_t>(unique(1, x, {{"axis", 0}}), {2}, {1, 0});
  check_typed<std::int64_t>(unique(2, x, {{"axis", 0}}), {3}, {1, 0, 1});
  check_tensor(unique(0, floats({2, 3}, {2, 1, 2, 7, 3, 7}), {{"axis", -1}}), {2, 2}, {1, 2, 3, 7});
  check_tensor(unique(0, floats({0}, {})), {0}, {});
  check_refused(kShape, "axis 2 is outside a tensor of 2 axes", "Unique", {x}, {{"axis", 2}});
}
