// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kSix = floats({2, 3}, {1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("Gather picks slices of an axis") {
  check_tensor(run_op("Gather", {kSix, int64s({1, 0, -1})}), {3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6});
  check_tensor(run_op("Gather", {kSix, typed<std::int32_t>({1, 2}, {2, 0})}, {{"axis", 1}}), {2, 1, 2}, {3, 1, 6, 4});
  check_tensor(run_op("Gather", {kSix, Tensor::scalar(std::int64_t{1})}, {{"axis", -1}}), {2}, {2, 5});
  check_tensor(run_op("Gather", {kSix, int64s({})}), {0, 3}, {});
  check_typed<std::int8_t>(run_op("Gather", {typed<std::int8_t>({3}, {7, 8, 9}), int64s({2})}), {1}, {9});
  check_refused(kShape, "index 2 is outside an axis of 2", "Gather", {kSix, int64s({2})});
  check_refused(kShape, "axis 2 is outside a tensor of 2 axes", "Gather", {kSix, int64s({0})}, {{"axis", 2}});
}

TEST_CASE("GatherElements reads every element on its own") {
  check_tensor(run_op("GatherElements", {kSix, typed<std::int64_t>({2, 2}, {2, 0, 1, -1})}, {{"axis", 1}}), {2, 2},
               {3, 1, 5, 6});
  check_tensor(run_op("GatherElements", {kSix, typed<std::int64_t>({1, 3}, {1, 0, 1})}), {1, 3}, {4, 2, 6});
  check_refused(kShape, "index 3 is outside an axis of 3", "GatherElements", {kSix, typed<std::int64_t>({1, 1}, {3})},
                {{"axis", 1}});
  check_refused(kShape, "indices [1] do not fit [2,3]", "GatherElements", {kSix, int64s({0})});
}

TEST_CASE("GatherND reads slices at places") {
  check_tensor(run_op("GatherND", {kSix, typed<std::int64_t>({2, 2}, {0, 2, -1, 0})}), {2}, {3, 4});
  check_tensor(run_op("GatherND", {kSix, typed<std::int64_t>({2, 1, 1}, {1, 0})}), {2, 1, 3}, {4, 5, 6, 1, 2, 3});
  check_tensor(run_op("GatherND", {kSix, typed<std::int64_t>({2, 1}, {2, 0})}, {{"batch_dims", 1}}), {2}, {3, 4});
  check_refused(kShape, "index 3 is outside an axis of 3", "GatherND", {kSix, int64s({0, 3})});
  check_refused(kShape, "indices [3] and 0 batch axes do not fit [2,3]", "GatherND", {kSix, int64s({0, 0, 0})});
}
