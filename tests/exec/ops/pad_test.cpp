// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kSix = floats({2, 3}, {1, 2, 3, 4, 5, 6});
const Attributes kEdge{{"mode", std::string("edge")}};
const Attributes kReflect{{"mode", std::string("reflect")}};

}  // namespace

TEST_CASE("Pad puts a border around, with zeros or a given value") {
  check_tensor(run_op("Pad", {kSix, int64s({1, 0, 0, 1})}), {3, 4}, {0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0});
  check_tensor(run_op("Pad", {kSix, int64s({0, 1, 0, 0}), Tensor::scalar(9.0F)}), {2, 4}, {9, 1, 2, 3, 9, 4, 5, 6});
  check_tensor(run_op("Pad", {kSix, int64s({0, 0, 0, 0})}, {{"mode", std::string("constant")}}), {2, 3},
               {1, 2, 3, 4, 5, 6});
  check_typed<std::int64_t>(run_op("Pad", {int64s({7}), int64s({1, 1}), Tensor::scalar(std::int64_t{-1})}), {3},
                            {-1, 7, -1});
  check_typed<bool>(run_op("Pad", {typed<bool>({1}, {true}), int64s({0, 1})}), {2}, {true, false});
}

TEST_CASE("Before opset 11 pads and value are attributes") {
  const Attributes attributes{{"pads", Ints{0, 1, 0, 0}}, {"value", 9.0F}};
  check_tensor(run_op("Pad", {kSix}, attributes, 2), {2, 4}, {9, 1, 2, 3, 9, 4, 5, 6});
  check_tensor(run_op("Pad", {kSix}, {{"paddings", Ints{0, 0, 1, 0}}}, 1), {3, 3}, {1, 2, 3, 4, 5, 6, 0, 0, 0});
}

TEST_CASE("Negative pads remove elements, also together with positive ones") {
  check_tensor(run_op("Pad", {kSix, int64s({0, -1, 0, 0})}), {2, 2}, {2, 3, 5, 6});
  check_tensor(run_op("Pad", {kSix, int64s({-1, 0, 0, -2})}), {1, 1}, {4});
  check_tensor(run_op("Pad", {kSix, int64s({0, -2, 1, 1}), Tensor::scalar(7.0F)}), {3, 2}, {3, 7, 6, 7, 7, 7});
  check_tensor(run_op("Pad", {kSix, int64s({0, -3, 0, 0})}), {2, 0}, {});
  check_tensor(run_op("Pad", {kSix, int64s({0, -1, 0, 2})}, kEdge), {2, 4}, {2, 3, 3, 3, 5, 6, 6, 6});
  check_tensor(run_op("Pad", {kSix, int64s({0, -1, 0, 1})}, kReflect), {2, 3}, {2, 3, 2, 5, 6, 5});
}

TEST_CASE("A border repeats the edge") {
  check_tensor(run_op("Pad", {kSix, int64s({1, 2, 1, 1})}, kEdge), {4, 6},
               {1, 1, 1, 2, 3, 3, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6, 4, 4, 4, 5, 6, 6});
  check_typed<std::uint8_t>(run_op("Pad", {typed<std::uint8_t>({1, 1, 2}, {3, 4}), int64s({0, 1, 1, 0, 0, 0})}, kEdge),
                            {1, 2, 3}, {3, 3, 4, 3, 3, 4});
}

TEST_CASE("A border reflects, as often as it takes") {
  check_tensor(run_op("Pad", {kSix, int64s({1, 1, 0, 2})}, kReflect), {3, 6},
               {5, 4, 5, 6, 5, 4, 2, 1, 2, 3, 2, 1, 5, 4, 5, 6, 5, 4});
  check_tensor(run_op("Pad", {floats({3}, {1, 2, 3}), int64s({5, 4})}, kReflect), {12},
               {2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3});
  check_tensor(run_op("Pad", {floats({1}, {4}), int64s({1, 2})}, kReflect), {4}, {4, 4, 4, 4});
  check_tensor(run_op("Pad", {Tensor::scalar(4.0F), int64s({})}, kReflect), {}, {4});
}

TEST_CASE("What does not fit a pad is refused") {
  check_refused(kShape, "pads has 2 entries, expected 4", "Pad", {kSix, int64s({1, 1})});
  check_refused(kShape, "pads would remove more than there is", "Pad", {kSix, int64s({0, -2, 0, -2})});
  check_refused(kShape, "mode is \"wrap\", expected constant, edge or reflect", "Pad", {kSix, int64s({0, 0, 0, 0})},
                {{"mode", std::string("wrap")}});
  check_refused(kUnsupported, "input 2 is int64, expected float32", "Pad", {kSix, int64s({0, 0, 0, 0}), int64s({1})});
  check_refused(kShape, "input 2 is [2], expected one value", "Pad", {kSix, int64s({0, 0, 0, 0}), floats({2}, {1, 2})});
  check_refused(kShape, "there is no element to repeat", "Pad", {floats({0}, {}), int64s({1, 0})}, kEdge);
  check_refused(kShape, "expected at most 2^29 elements", "Pad", {kSix, int64s({1 << 30, 0, 0, 0})}, kReflect);
}
