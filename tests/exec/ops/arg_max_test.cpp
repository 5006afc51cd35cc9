// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include <amct/core/cast.hpp>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("ArgMax and ArgMin find positions along any axis") {
  const Tensor x = floats({2, 3}, {1, 5, 5, 4, 0, 0});
  check_typed<std::int64_t>(run_op("ArgMax", {x}), {1, 3}, {1, 0, 0});
  check_typed<std::int64_t>(run_op("ArgMax", {x}, {{"axis", -1}}), {2, 1}, {1, 0});
  check_typed<std::int64_t>(run_op("ArgMax", {x}, {{"axis", 1}, {"keepdims", 0}}), {2}, {1, 0});
  check_typed<std::int64_t>(run_op("ArgMax", {x}, {{"axis", 1}, {"select_last_index", 1}}), {2, 1}, {2, 0});
  check_typed<std::int64_t>(run_op("ArgMin", {x}, {{"axis", 1}}), {2, 1}, {0, 1});
  check_typed<std::int64_t>(run_op("ArgMin", {x}, {{"axis", 1}, {"select_last_index", 1}}), {2, 1}, {0, 2});
}

TEST_CASE("ArgMax takes integers, halves, and NaN as the first of all") {
  check_typed<std::int64_t>(run_op("ArgMax", {int64s({3, 9, 4})}), {1}, {1});
  check_typed<std::int64_t>(run_op("ArgMax", {cast(int64s({3, 9, 4}), ElementType::float16)}), {1}, {1});
  const Tensor bad = floats({4}, {1, std::nanf(""), 2, std::nanf("")});
  check_typed<std::int64_t>(run_op("ArgMax", {bad}), {1}, {1});
  check_typed<std::int64_t>(run_op("ArgMin", {bad}), {1}, {1});
}

TEST_CASE("What has no maximum is refused") {
  check_refused(kShape, "input [2,0] has no elements along the axis", "ArgMax", {floats({2, 0}, {})}, {{"axis", 1}});
  check_refused(kShape, "axis 1 is outside a tensor of 1 axes", "ArgMin", {floats({1}, {1})}, {{"axis", 1}});
  check_refused(kUnsupported, "input 0 is bool", "ArgMax", {typed<bool>({1}, {true})});
}
