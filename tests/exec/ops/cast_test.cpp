// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <amct/core/cast.hpp>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Cast converts to each type by its ONNX number") {
  const std::pair<std::int64_t, ElementType> types[] = {
      {1, ElementType::float32},  {2, ElementType::uint8},    {3, ElementType::int8},    {4, ElementType::uint16},
      {5, ElementType::int16},    {6, ElementType::int32},    {7, ElementType::int64},   {9, ElementType::boolean},
      {10, ElementType::float16}, {11, ElementType::float64}, {12, ElementType::uint32}, {13, ElementType::uint64}};
  for (const auto& [number, type] : types) {
    const Tensor y = run_op("Cast", {floats({2}, {0, 1})}, {{"to", number}});
    CHECK(y.type() == type);
    CHECK(values(cast(y, ElementType::float32)) == std::vector<float>{0, 1});
  }
}

TEST_CASE("Cast goes towards zero, and to the nearest end of an integer type") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor x = floats({5}, {-1.9F, 1.9F, 300, -kInf, std::numeric_limits<float>::quiet_NaN()});
  check_typed<std::int8_t>(run_op("Cast", {x}, {{"to", 3}}), {5}, {-1, 1, 127, -128, 0});
  check_typed<std::uint8_t>(run_op("Cast", {int64s({257, -1})}, {{"to", 2}}), {2}, {1, 255});
}

TEST_CASE("Cast took names before opset 6, and CastLike takes a type from a tensor") {
  check_typed<std::int64_t>(run_op("Cast", {floats({1}, {2.5F})}, {{"to", std::string("INT64")}}, 5), {1}, {2});
  check_typed<std::int64_t>(run_op("CastLike", {floats({1}, {2.5F}), int64s({1, 2})}, {}, 15), {1}, {2});
  check_tensor(run_op("CastLike", {floats({1}, {2.5F}), floats({}, {0})}, {}, 15), {1}, {2.5F});
}

TEST_CASE("Types without numbers are refused") {
  check_refused(kUnsupported, "to is the type 8", "Cast", {floats({1}, {1})}, {{"to", 8}});
  check_refused(kUnsupported, "to is the type 0", "Cast", {floats({1}, {1})});
  check_refused(kUnsupported, "to is the type STRING", "Cast", {floats({1}, {1})}, {{"to", std::string("STRING")}}, 1);
}
