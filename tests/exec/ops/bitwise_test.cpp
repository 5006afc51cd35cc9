// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("BitShift shifts unsigned integers, also by their width and more") {
  const Attributes left{{"direction", std::string("LEFT")}};
  const Attributes right{{"direction", std::string("RIGHT")}};
  const Tensor bytes = typed<std::uint8_t>({4}, {1, 130, 255, 255});
  const Tensor steps = typed<std::uint8_t>({4}, {3, 1, 8, 200});
  check_typed<std::uint8_t>(run_op("BitShift", {bytes, steps}, left), {4}, {8, 4, 0, 0});
  check_typed<std::uint8_t>(run_op("BitShift", {bytes, steps}, right), {4}, {0, 65, 0, 0});
  check_typed<std::uint64_t>(
      run_op("BitShift", {typed<std::uint64_t>({1}, {1}), typed<std::uint64_t>({1}, {63})}, left), {1},
      {std::uint64_t{1} << 63});
}

TEST_CASE("What BitShift cannot do is refused") {
  const Tensor bytes = typed<std::uint8_t>({1}, {1});
  check_refused(kCorrupt, "direction is \"\", expected LEFT or RIGHT", "BitShift", {bytes, bytes});
  check_refused(kUnsupported, "input 0 is int64, expected unsigned integers", "BitShift", {int64s({1}), int64s({1})},
                {{"direction", std::string("LEFT")}});
}
