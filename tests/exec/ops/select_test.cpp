// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("NonZero gives a column of positions an element") {
  check_typed<std::int64_t>(run_op("NonZero", {floats({2, 2}, {1, 0, 1, 1})}), {2, 3}, {0, 1, 1, 0, 0, 1});
  check_typed<std::int64_t>(run_op("NonZero", {typed<bool>({3}, {false, true, true})}), {1, 2}, {1, 2});
  check_typed<std::int64_t>(run_op("NonZero", {int64s({0, 0})}), {1, 0}, {});
  check_typed<std::int64_t>(run_op("NonZero", {floats({2}, {-0.0F, std::numeric_limits<float>::quiet_NaN()})}), {1, 1},
                            {1});
  check_typed<std::int64_t>(run_op("NonZero", {typed<Half>({2}, {to_half(-0.0F), to_half(0.5F)})}), {1, 1}, {1});
}

TEST_CASE("Compress keeps what is flagged") {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  check_tensor(run_op("Compress", {x, typed<bool>({3}, {false, true, true})}, {{"axis", 0}}), {2, 2}, {3, 4, 5, 6});
  check_tensor(run_op("Compress", {x, typed<bool>({2}, {false, true})}, {{"axis", -1}}), {3, 1}, {2, 4, 6});
  check_tensor(run_op("Compress", {x, typed<bool>({5}, {false, true, false, false, true})}), {2}, {2, 5});
  check_tensor(run_op("Compress", {x, typed<bool>({1}, {false})}, {{"axis", 0}}), {0, 2}, {});
  check_refused(kShape, "4 flags for 3 positions", "Compress", {x, typed<bool>({4}, {true, true, true, true})},
                {{"axis", 0}});
  check_refused(kUnsupported, "input 1 is int64, expected bool", "Compress", {x, int64s({1})});
}
