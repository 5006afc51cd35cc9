// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Global pools make one number of all spatial axes") {
  const Tensor x = floats({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40});
  check_tensor(run_op("GlobalAveragePool", {x}), {1, 2, 1, 1}, {2.5F, 25});
  check_tensor(run_op("GlobalAveragePool", {floats({2, 1, 2}, {1, 2, 3, 4})}), {2, 1, 1}, {1.5F, 3.5F});
  check_tensor(run_op("GlobalMaxPool", {x}), {1, 2, 1, 1}, {4, 40});
  check_tensor(run_op("GlobalLpPool", {floats({1, 1, 2}, {3, -4})}), {1, 1, 1}, {5});
  check_tensor(run_op("GlobalLpPool", {floats({1, 1, 2}, {3, -4})}, {{"p", 1}}), {1, 1, 1}, {7});
  CHECK(std::isnan(values(run_op("GlobalMaxPool", {floats({1, 1, 2}, {std::nanf(""), 1})}))[0]));
}

TEST_CASE("Codes are pooled as they are") {
  check_typed<std::int8_t>(run_op("GlobalMaxPool", {typed<std::int8_t>({1, 2, 2}, {-3, -128, 5, 127})}), {1, 2, 1},
                           {-3, 127});
  check_typed<std::int16_t>(run_op("GlobalMaxPool", {typed<std::int16_t>({1, 1, 2}, {-3000, -128})}), {1, 1, 1},
                            {-128});
  check_typed<std::int16_t>(run_op("MaxPool", {typed<std::int16_t>({1, 1, 3}, {-3000, -128, 9})},
                                   {{"kernel_shape", std::vector<std::int64_t>{2}}}),
                            {1, 1, 2}, {-128, 9});
}

TEST_CASE("What has no spatial axes is refused") {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    check_refused(kShape, "input [1,2] has no spatial axes", op, {whole_numbers({1, 2}, 1)});
  }
  check_refused(kCorrupt, "p is -1", "GlobalLpPool", {whole_numbers({1, 1, 2}, 1)}, {{"p", -1}});
}
