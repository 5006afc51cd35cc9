// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Det of one matrix and of several") {
  check_tensor(run_op("Det", {floats({2, 2}, {0, 1, 2, 3})}), {}, {-2});
  check_tensor(run_op("Det", {floats({2, 1, 1}, {5, -6})}), {2}, {5, -6});
  check_tensor(run_op("Det", {floats({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})}), {}, {18});
  check_tensor(run_op("Det", {floats({2, 2}, {1, 2, 2, 4})}), {}, {0});
  check_typed<double>(run_op("Det", {typed<double>({2, 2}, {1, 2, 3, 4})}), {}, {-2});
  check_tensor(run_op("Det", {floats({1, 0, 0}, {})}), {1}, {1});
}

TEST_CASE("Matrices that are not square are refused") {
  check_refused(kShape, "input [2,3] has no square matrices", "Det", {whole_numbers({2, 3}, 1)});
  check_refused(kShape, "input [4] has no square matrices", "Det", {whole_numbers({4}, 1)});
}
