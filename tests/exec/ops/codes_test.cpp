// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/codes.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace amct::exec;
using namespace support;

TEST_CASE("Unsigned codes are signed ones with the top bit flipped") {
  Tensor bytes = typed<std::uint8_t>({4}, {0, 127, 128, 255});
  flip_signs(bytes.raw(), 8);
  const auto small = signed_codes<std::int8_t>(bytes);
  CHECK(std::vector<int>(small.begin(), small.end()) == std::vector<int>{-128, -1, 0, 127});
  Tensor words = typed<std::uint16_t>({3}, {0, 32768, 65535});
  flip_signs(words.raw(), 16);
  const auto wide = signed_codes<std::int16_t>(words);
  CHECK(std::vector<int>(wide.begin(), wide.end()) == std::vector<int>{-32768, 0, 32767});
  flip_signs(words.raw(), 16);
  check_typed<std::uint16_t>(words, {3}, {0, 32768, 65535});
}

TEST_CASE("Zero points become offsets of the signed codes") {
  CHECK(CodeType{{8}, true}.offset_of(3) == 3);
  CHECK(CodeType{{8}, false}.offset_of(128) == 0);
  CHECK(CodeType{{16}, false}.offset_of(0) == -32768);
}

TEST_CASE("Channels of an axis") {
  const ChannelLayout layout = channels_on({2, 3, 4}, 1);
  CHECK(layout.outer == 2);
  CHECK(layout.channels() == 3);
  CHECK(layout.inner == 4);
}

TEST_CASE("Scales and zero points that do not fit are refused") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const Tensor zero = typed<std::uint8_t>({1}, {0});
  check_refused(kShape, "scales are [3], expected one or 2", "QuantizeLinear", {x, floats({3}, {1, 1, 1})});
  check_refused(kShape, "scales are [2,1], expected one or 2", "QuantizeLinear", {x, floats({2, 1}, {1, 1})});
  check_refused(kShape, "expected a positive number", "QuantizeLinear", {x, floats({}, {0})});
  check_refused(kShape, "a scale is not finite", "DequantizeLinear", {zero, floats({}, {INFINITY})});
  check_refused(kShape, "zero points are [2], expected one or 1", "QuantizeLinear",
                {x, floats({}, {1}), typed<std::uint8_t>({2}, {0, 0})});
  check_refused(kUnsupported, "codes are int64", "QuantizeLinear", {x, floats({}, {1}), int64s({0})});
  check_refused(kUnsupported, "input 2 is uint8, expected int8", "DequantizeLinear",
                {typed<std::int8_t>({1}, {0}), floats({}, {1}), zero});
}
