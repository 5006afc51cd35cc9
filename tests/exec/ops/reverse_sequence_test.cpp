// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("ReverseSequence turns the first steps of each entry") {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  check_tensor(run_op("ReverseSequence", {x, int64s({3, 2})}), {3, 2}, {5, 4, 3, 2, 1, 6});
  check_tensor(run_op("ReverseSequence", {x, int64s({2, 1, 0})}, {{"batch_axis", 0}, {"time_axis", 1}}), {3, 2},
               {2, 1, 3, 4, 5, 6});
  check_typed<std::int8_t>(run_op("ReverseSequence", {typed<std::int8_t>({2, 1, 2}, {1, 2, 3, 4}), int64s({2})}),
                           {2, 1, 2}, {3, 4, 1, 2});
}

TEST_CASE("Lengths and axes are checked") {
  const Tensor x = whole_numbers({3, 2}, 1);
  const auto refused = [&](const std::string& part, const Ints& lengths, Attributes attributes = {}) {
    check_refused(kShape, part, "ReverseSequence", {x, int64s(lengths)}, std::move(attributes));
  };
  refused("sequence_lens has 3 entries, expected 2", {1, 1, 1});
  refused("a sequence has 4 steps, expected 0 to 3", {4, 1});
  refused("a sequence has -1 steps, expected 0 to 3", {-1, 1});
  refused("axes 0 and 0 of [3,2] must be 0 and 1", {1, 1}, {{"batch_axis", 0}});
  refused("axes 3 and -2 of [3,2] must be 0 and 1", {1, 1}, {{"batch_axis", 3}, {"time_axis", -2}});
}
