// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/compare.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Comparisons give bools, of any type and with broadcasting") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = floats({4}, {1, 2, 3, kNan});
  const Tensor two = floats({1}, {2});
  check_typed<bool>(run_op("Less", {a, two}), {4}, {true, false, false, false});
  check_typed<bool>(run_op("LessOrEqual", {a, two}), {4}, {true, true, false, false});
  check_typed<bool>(run_op("Greater", {a, two}), {4}, {false, false, true, false});
  check_typed<bool>(run_op("GreaterOrEqual", {a, two}), {4}, {false, true, true, false});
  check_typed<bool>(run_op("Equal", {a, two}), {4}, {false, true, false, false});
  check_typed<bool>(run_op("Equal", {int64s({1, 2}), int64s({1, 3})}), {2}, {true, false});
  check_typed<bool>(run_op("Equal", {typed<bool>({2}, {true, false}), typed<bool>({1}, {false})}), {2}, {false, true});
  check_typed<bool>(run_op("Less", {typed<std::uint64_t>({1}, {1}), typed<std::uint64_t>({1}, {~0ULL})}), {1}, {true});
  check_typed<bool>(run_op("Greater", {cast(two, ElementType::float16), cast(a, ElementType::float16)}), {4},
                    {true, false, false, false});
}

TEST_CASE("Logic of bools, and its form before opset 7") {
  const Tensor a = typed<bool>({2, 2}, {false, false, true, true});
  const Tensor b = typed<bool>({2}, {false, true});
  check_typed<bool>(run_op("And", {a, b}), {2, 2}, {false, false, false, true});
  check_typed<bool>(run_op("Or", {a, b}), {2, 2}, {false, true, true, true});
  check_typed<bool>(run_op("Xor", {a, b}), {2, 2}, {false, true, true, false});
  check_typed<bool>(run_op("Not", {b}), {2}, {true, false});
  check_typed<bool>(run_op("And", {a, b}, {{"broadcast", 1}, {"axis", 0}}, 1), {2, 2}, {false, false, true, true});
}

TEST_CASE("IsNaN and IsInf") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor x = typed<double>({4}, {1, -kInf, kInf, std::numeric_limits<double>::quiet_NaN()});
  for (const auto type : {ElementType::float64, ElementType::float32, ElementType::float16}) {
    const Tensor typed_x = cast(x, type);
    check_typed<bool>(run_op("IsNaN", {typed_x}), {4}, {false, false, false, true});
    check_typed<bool>(run_op("IsInf", {typed_x}), {4}, {false, true, true, false});
    check_typed<bool>(run_op("IsInf", {typed_x}, {{"detect_negative", 0}}), {4}, {false, false, true, false});
    check_typed<bool>(run_op("IsInf", {typed_x}, {{"detect_positive", 0}}), {4}, {false, true, false, false});
  }
}

TEST_CASE("Types that do not fit a comparison are refused") {
  check_refused(kUnsupported, "input 1 is float32, expected int64", "Less", {int64s({1}), floats({1}, {1})});
  check_refused(kUnsupported, "input 0 is bool, expected numbers", "Less",
                {typed<bool>({1}, {true}), typed<bool>({1}, {true})});
  check_refused(kUnsupported, "input 0 is int64, expected bool", "And", {int64s({1}), int64s({1})});
  check_refused(kUnsupported, "input 0 is int64, expected bool", "Not", {int64s({1})});
  check_refused(kUnsupported, "input 0 is int64, expected float32", "IsNaN", {int64s({1})});
}
