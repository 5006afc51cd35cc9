// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Trilu keeps one side of a diagonal") {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto upper = [&](std::int64_t k) { return run_op("Trilu", {x, Tensor::scalar(k)}, {}, 14); };
  const auto lower = [&](std::int64_t k) { return run_op("Trilu", {x, Tensor::scalar(k)}, {{"upper", 0}}, 14); };
  check_tensor(run_op("Trilu", {x}, {}, 14), {2, 3}, {1, 2, 3, 0, 5, 6});
  check_tensor(run_op("Trilu", {x}, {{"upper", 0}}, 14), {2, 3}, {1, 0, 0, 4, 5, 0});
  check_tensor(upper(1), {2, 3}, {0, 2, 3, 0, 0, 6});
  check_tensor(upper(-1), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_tensor(upper(INT64_MAX), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_tensor(lower(1), {2, 3}, {1, 2, 0, 4, 5, 6});
  check_tensor(lower(-1), {2, 3}, {0, 0, 0, 4, 0, 0});
  check_tensor(lower(INT64_MIN), {2, 3}, {0, 0, 0, 0, 0, 0});
}

TEST_CASE("Trilu takes stacks of matrices of any type") {
  check_typed<std::int8_t>(run_op("Trilu", {typed<std::int8_t>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, {}, 14),
                           {2, 2, 2}, {1, 2, 0, 4, 5, 6, 0, 8});
  CHECK(run_op("Trilu", {floats({0, 3}, {})}, {}, 14).shape() == Shape{0, 3});
  check_refused(kShape, "input [3] is no matrix", "Trilu", {whole_numbers({3}, 1)}, {}, 14);
}
