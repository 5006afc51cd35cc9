// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/where.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Where chooses elements of any width, with all three inputs broadcast") {
  const Tensor condition = typed<bool>({2, 1}, {true, false});
  check_tensor(run_op("Where", {condition, floats({3}, {1, 2, 3}), floats({1}, {9})}), {2, 3}, {1, 2, 3, 9, 9, 9});
  check_typed<std::int64_t>(run_op("Where", {condition, int64s({1}), int64s({5, 6})}), {2, 2}, {1, 1, 5, 6});
  check_typed<std::int16_t>(run_op("Where", {condition, typed<std::int16_t>({1}, {7}), typed<std::int16_t>({1}, {-7})}),
                            {2, 1}, {7, -7});
  check_typed<bool>(run_op("Where", {condition, typed<bool>({1}, {false}), typed<bool>({2}, {true, false})}), {2, 2},
                    {false, false, true, false});
  CHECK(run_op("Where", {condition, floats({0}, {}), floats({1}, {1})}).shape() == Shape{2, 0});
}

TEST_CASE("What does not fit Where is refused") {
  const Tensor yes = typed<bool>({1}, {true});
  check_refused(kUnsupported, "input 0 is int64, expected bool", "Where", {int64s({1}), int64s({1}), int64s({1})});
  check_refused(kUnsupported, "input 2 is int64, expected float32", "Where", {yes, floats({1}, {1}), int64s({1})});
  check_refused(kShape, "shapes [2] and [3] cannot be broadcast", "Where", {yes, int64s({1, 2}), int64s({1, 2, 3})});
}
