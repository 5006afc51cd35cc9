// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kTwo = int64s({2});

}  // namespace

TEST_CASE("TopK gives the largest along an axis and where they are") {
  const Tensor x = floats({2, 4}, {3, 1, 4, 1, 5, 9, 2, 6});
  check_tensor(run_output(0, 2, "TopK", {x, kTwo}), {2, 2}, {4, 3, 9, 6});
  check_typed<std::int64_t>(run_output(1, 2, "TopK", {x, kTwo}), {2, 2}, {2, 0, 1, 3});
  check_tensor(run_output(0, 2, "TopK", {x, int64s({1})}, {{"axis", 0}}), {1, 4}, {5, 9, 4, 6});
  check_typed<std::int64_t>(run_output(1, 2, "TopK", {x, int64s({1})}, {{"axis", 0}}), {1, 4}, {1, 1, 0, 1});
  check_tensor(run_output(0, 2, "TopK", {x, int64s({0})}), {2, 0}, {});
  check_tensor(run_output(0, 2, "TopK", {x}, {{"k", 1}}, 9), {2, 1}, {4, 9});
}

TEST_CASE("Of equal ones the first comes first, also among the smallest") {
  const Tensor x = floats({5}, {1, 0, 1, 0, 1});
  check_typed<std::int64_t>(run_output(1, 2, "TopK", {x, int64s({4})}), {4}, {0, 2, 4, 1});
  check_typed<std::int64_t>(run_output(1, 2, "TopK", {x, kTwo}, {{"largest", 0}}), {2}, {1, 3});
  check_tensor(run_output(0, 2, "TopK", {x, int64s({3})}, {{"largest", 0}, {"sorted", 0}}), {3}, {0, 0, 1});
}

TEST_CASE("TopK sorts every type, NaN as the largest number") {
  check_typed<std::int8_t>(run_output(0, 2, "TopK", {typed<std::int8_t>({3}, {-3, -1, -2}), kTwo}), {2}, {-1, -2});
  check_typed<std::uint64_t>(run_output(0, 2, "TopK", {typed<std::uint64_t>({2}, {1, UINT64_MAX}), kTwo}), {2},
                             {UINT64_MAX, 1});
  const Tensor x = floats({3}, {1, std::numeric_limits<float>::quiet_NaN(), 2});
  check_typed<std::int64_t>(run_output(1, 2, "TopK", {x, kTwo}), {2}, {1, 2});
  check_typed<std::int64_t>(run_output(1, 2, "TopK", {x, kTwo}, {{"largest", 0}}), {2}, {0, 2});
}

TEST_CASE("More than there is, is refused") {
  const Tensor x = floats({3}, {1, 2, 3});
  check_refused(kShape, "K is 4, expected 0 to 3", "TopK", {x, int64s({4})});
  check_refused(kShape, "K is -1, expected 0 to 3", "TopK", {x, int64s({-1})});
  check_refused(kShape, "K has 2 elements, expected one", "TopK", {x, int64s({1, 1})});
  check_refused(kShape, "axis 1 is outside a tensor of 1 axes", "TopK", {x, kTwo}, {{"axis", 1}});
}
