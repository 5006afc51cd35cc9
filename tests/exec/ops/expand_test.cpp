// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/expand.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Expand broadcasts in both directions") {
  const Tensor x = floats({2, 1}, {1, 2});
  check_tensor(run_op("Expand", {x, int64s({2, 3})}), {2, 3}, {1, 1, 1, 2, 2, 2});
  check_tensor(run_op("Expand", {x, int64s({3})}), {2, 3}, {1, 1, 1, 2, 2, 2});
  check_tensor(run_op("Expand", {x, int64s({2, 1, 1})}), {2, 2, 1}, {1, 2, 1, 2});
  check_tensor(run_op("Expand", {x, int64s({1})}), {2, 1}, {1, 2});
  check_tensor(run_op("Expand", {x, int64s({2, 0})}), {2, 0}, {});
  check_typed<bool>(run_op("Expand", {Tensor::scalar(true), int64s({2})}), {2}, {true, true});
  check_refused(kShape, "shapes [2,1] and [3,1] cannot be broadcast", "Expand", {x, int64s({3, 1})});
  check_refused(kShape, "the output would be [2,-1]", "Expand", {x, int64s({2, -1})});
  check_refused(kShape, "expected at most 2^29 elements", "Expand", {x, int64s({1 << 30, 1 << 30, 2, 1})});
}

TEST_CASE("Tile repeats along every axis") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  check_tensor(run_op("Tile", {x, int64s({1, 2})}), {2, 4}, {1, 2, 1, 2, 3, 4, 3, 4});
  check_tensor(run_op("Tile", {x, int64s({2, 1})}), {4, 2}, {1, 2, 3, 4, 1, 2, 3, 4});
  check_tensor(run_op("Tile", {x, int64s({0, 2})}), {0, 4}, {});
  check_typed<std::uint8_t>(run_op("Tile", {typed<std::uint8_t>({1}, {7}), int64s({3})}), {3}, {7, 7, 7});
  check_refused(kShape, "repeats has 1 entries, expected 2", "Tile", {x, int64s({2})});
  check_refused(kShape, "repeats has the negative entry -1", "Tile", {x, int64s({2, -1})});
  check_refused(kShape, "expected at most 2^29 elements", "Tile", {x, int64s({1 << 30, 1 << 30})});
}

TEST_CASE("Before opset 6 Tile repeats along one axis") {
  const Tensor x = floats({1, 2}, {1, 2});
  check_tensor(run_op("Tile", {x, floats({1}, {2}), floats({1}, {1})}, {}, 5), {1, 4}, {1, 2, 1, 2});
  check_refused(kShape, "tiles and axis must be one number each", "Tile", {x, int64s({1, 2}), int64s({0})}, {}, 5);
}
