// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kFour = floats({4}, {1, 2, 3, 4});

Tensor scattered(const Tensor& data, const Ints& indices, const Tensor& updates, const std::string& reduction) {
  return run_op("ScatterElements", {data, int64s(indices), updates}, {{"reduction", reduction}}, 16);
}

}  // namespace

TEST_CASE("ScatterElements and Scatter write every element on its own") {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor indices = typed<std::int64_t>({2, 1}, {2, -3});
  for (const char* const op : {"Scatter", "ScatterElements"}) {
    check_tensor(run_op(op, {x, indices, floats({2, 1}, {8, 9})}, {{"axis", 1}}, 11), {2, 3}, {1, 2, 8, 9, 5, 6});
  }
  check_tensor(run_op("ScatterElements", {x, typed<std::int64_t>({1, 2}, {1, 0}), floats({1, 2}, {8, 9})}), {2, 3},
               {1, 9, 3, 8, 5, 6});
  check_typed<std::int8_t>(
      run_op("ScatterElements", {typed<std::int8_t>({2}, {1, 2}), int64s({1}), typed<std::int8_t>({1}, {7})}), {2},
      {1, 7});
}

TEST_CASE("Updates that meet are applied in their order") {
  const Tensor updates = floats({3}, {10, 20, 5});
  check_tensor(scattered(kFour, {1, 1, 0}, updates, "none"), {4}, {5, 20, 3, 4});
  check_tensor(scattered(kFour, {1, 1, 0}, updates, "add"), {4}, {6, 32, 3, 4});
  check_tensor(scattered(kFour, {1, 1, 0}, updates, "mul"), {4}, {5, 400, 3, 4});
  check_tensor(scattered(kFour, {3, 3, 0}, floats({3}, {2, 7, 5}), "min"), {4}, {1, 2, 3, 2});
  check_tensor(scattered(kFour, {3, 3, 0}, floats({3}, {2, 7, -5}), "max"), {4}, {1, 2, 3, 7});
}

TEST_CASE("Integers wrap around, halves round, flags combine, NaN stays") {
  check_typed<std::int8_t>(scattered(typed<std::int8_t>({1}, {100}), {0}, typed<std::int8_t>({1}, {100}), "add"), {1},
                           {-56});
  check_typed<std::int64_t>(scattered(int64s({INT64_MAX}), {0}, int64s({3}), "mul"), {1}, {INT64_MAX - 2});
  check_typed<Half>(scattered(typed<Half>({1}, {to_half(1.5F)}), {0}, typed<Half>({1}, {to_half(2.0F)}), "mul"), {1},
                    {to_half(3.0F)});
  check_typed<bool>(scattered(typed<bool>({2}, {true, false}), {0, 1}, typed<bool>({2}, {false, true}), "add"), {2},
                    {true, true});
  check_typed<bool>(scattered(typed<bool>({2}, {true, false}), {0, 1}, typed<bool>({2}, {false, true}), "min"), {2},
                    {false, false});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* const reduction : {"add", "mul", "min", "max"}) {
    const auto result = values(scattered(floats({2}, {nan, 1}), {0, 1}, floats({2}, {1, nan}), reduction));
    CHECK(result[0] != result[0]);
    CHECK(result[1] != result[1]);
  }
}

TEST_CASE("ScatterND writes slices at places") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  check_tensor(run_op("ScatterND", {x, typed<std::int64_t>({1, 1}, {-1}), floats({1, 2}, {8, 9})}), {2, 2},
               {1, 2, 8, 9});
  check_tensor(run_op("ScatterND", {x, typed<std::int64_t>({2, 2}, {0, 1, 1, 0}), floats({2}, {8, 9})}), {2, 2},
               {1, 8, 9, 4});
  check_tensor(run_op("ScatterND", {x, typed<std::int64_t>({2, 1}, {0, 0}), floats({2, 2}, {8, 9, 1, 1})},
                      {{"reduction", std::string("add")}}, 16),
               {2, 2}, {10, 12, 3, 4});
}

TEST_CASE("Updates that do not fit are refused") {
  check_refused(kShape, "updates are [1], expected [2]", "ScatterElements", {kFour, int64s({0, 1}), floats({1}, {1})});
  check_refused(kShape, "index 4 is outside an axis of 4", "ScatterElements", {kFour, int64s({4}), floats({1}, {1})});
  check_refused(kUnsupported, "input 2 is int64, expected float32", "ScatterElements",
                {kFour, int64s({0}), int64s({1})});
  check_refused(kShape, "updates are [1], expected []", "ScatterND", {kFour, int64s({0}), floats({1}, {1})});
  check_refused(kShape, "reduction is \"mean\"", "ScatterND", {kFour, int64s({0}), Tensor::scalar(1.0F)},
                {{"reduction", std::string("mean")}}, 16);
}
