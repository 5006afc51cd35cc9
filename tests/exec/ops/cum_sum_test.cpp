// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("CumSum along each axis, exclusive, from the end, and both") {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor last = typed<std::int32_t>({1}, {-1});
  check_tensor(run_op("CumSum", {x, int64s({0})}), {2, 3}, {1, 2, 3, 5, 7, 9});
  check_tensor(run_op("CumSum", {x, last}), {2, 3}, {1, 3, 6, 4, 9, 15});
  check_tensor(run_op("CumSum", {x, last}, {{"exclusive", 1}}), {2, 3}, {0, 1, 3, 0, 4, 9});
  check_tensor(run_op("CumSum", {x, last}, {{"reverse", 1}}), {2, 3}, {6, 5, 3, 15, 11, 6});
  check_tensor(run_op("CumSum", {x, last}, {{"exclusive", 1}, {"reverse", 1}}), {2, 3}, {5, 3, 0, 11, 6, 0});
}

TEST_CASE("CumSum of other types") {
  check_typed<double>(run_op("CumSum", {typed<double>({2}, {0.5, 0.25}), Tensor::scalar<std::int64_t>(0)}), {2},
                      {0.5, 0.75});
  check_typed<std::int32_t>(run_op("CumSum", {typed<std::int32_t>({2}, {2147483647, 1}), int64s({0})}), {2},
                            {2147483647, -2147483647 - 1});
  CHECK(run_op("CumSum", {floats({2, 0}, {}), int64s({1})}).shape() == Shape{2, 0});
}

TEST_CASE("An axis that is none is refused") {
  const Tensor x = floats({2}, {1, 2});
  check_refused(kShape, "axis 1 is outside a tensor of 1 axes", "CumSum", {x, int64s({1})});
  check_refused(kShape, "axis has 2 values, expected one", "CumSum", {x, int64s({0, 0})});
  check_refused(kCorrupt, "input 1 is missing", "CumSum", {x});
}
