// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kFive = floats({5}, {0, 1, 2, 3, 4});

std::vector<float> sliced(std::int64_t start, std::int64_t end, std::int64_t step) {
  return values(run_op("Slice", {kFive, int64s({start}), int64s({end}), int64s({0}), int64s({step})}));
}

}  // namespace

TEST_CASE("Slice counts from the end, clips, and goes backwards") {
  CHECK(sliced(1, 3, 1) == std::vector<float>{1, 2});
  CHECK(sliced(-3, -1, 1) == std::vector<float>{2, 3});
  CHECK(sliced(0, 5, 2) == std::vector<float>{0, 2, 4});
  CHECK(sliced(-99, 99, 3) == std::vector<float>{0, 3});
  CHECK(sliced(3, 3, 1).empty());
  CHECK(sliced(4, 1, 1).empty());
  CHECK(sliced(4, 0, -1) == std::vector<float>{4, 3, 2, 1});
  CHECK(sliced(-1, -99, -2) == std::vector<float>{4, 2, 0});
  CHECK(sliced(99, 2, -1) == std::vector<float>{4, 3});
  CHECK(sliced(0, 3, -1).empty());
  CHECK(sliced(1, INT64_MAX, 1) == std::vector<float>{1, 2, 3, 4});
  CHECK(sliced(INT64_MAX, INT64_MIN, -1) == std::vector<float>{4, 3, 2, 1, 0});
  CHECK(sliced(0, INT64_MAX, INT64_MAX) == std::vector<float>{0});
  CHECK(sliced(-1, INT64_MIN, INT64_MIN) == std::vector<float>{4});
}

TEST_CASE("Slice takes several axes, by attribute or by input") {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Attributes old{{"starts", Ints{1}}, {"ends", Ints{INT64_MAX}}, {"axes", Ints{-1}}};
  check_tensor(run_op("Slice", {x}, old, 9), {2, 2}, {2, 3, 5, 6});
  check_tensor(run_op("Slice", {x, int64s({1, 0}), int64s({2, 2})}), {1, 2}, {4, 5});
  check_tensor(run_op("Slice", {x, int64s({2, 1}), int64s({-9, -9}), int64s({1, 0}), int64s({-1, -1})}), {2, 3},
               {6, 5, 4, 3, 2, 1});
  check_tensor(run_op("Slice", {x, typed<std::int32_t>({1}, {1}), typed<std::int32_t>({1}, {2})}), {1, 3}, {4, 5, 6});
  check_typed<bool>(run_op("Slice", {typed<bool>({3}, {true, false, true}), int64s({1}), int64s({3})}), {2},
                    {false, true});
  check_tensor(run_op("Slice", {floats({0, 2}, {}), int64s({0}), int64s({-1}), int64s({0}), int64s({-1})}), {0, 2}, {});
}

TEST_CASE("A slice that makes no sense is refused") {
  const auto refused = [](const std::string& part, const Ints& starts, const Ints& ends, const Ints& axes,
                          const Ints& steps) {
    check_refused(kShape, part, "Slice", {kFive, int64s(starts), int64s(ends), int64s(axes), int64s(steps)});
  };
  refused("the step of axis 0 is 0", {0}, {1}, {0}, {0});
  refused("axis 1 is outside a tensor of 1 axes", {0}, {1}, {1}, {1});
  refused("axis 0 is given twice", {0, 0}, {1, 1}, {0, -1}, {1, 1});
  refused("starts, ends, axes and steps have 1, 2, 1 and 1 entries", {0}, {1, 1}, {0}, {1});
}
