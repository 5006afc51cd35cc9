// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include <amct/core/cast.hpp>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> unary(const std::string& op, const std::vector<float>& x) {
  const Tensor y = run_op(op, {floats({1, static_cast<std::int64_t>(x.size())}, x)});
  CHECK(y.shape() == Shape{1, static_cast<std::int64_t>(x.size())});
  return values(y);
}

struct Row {
  const char* name;
  double (*exact)(double);
  double from, to;
};
const Row kRows[] = {{"Exp", std::exp, -5, 5},     {"Log", std::log, 0.1, 9},     {"Sqrt", std::sqrt, 0, 9},
                     {"Erf", std::erf, -4, 4},     {"Sin", std::sin, -5, 5},      {"Cos", std::cos, -5, 5},
                     {"Tan", std::tan, -1.5, 1.5}, {"Asin", std::asin, -1, 1},    {"Acos", std::acos, -1, 1},
                     {"Atan", std::atan, -5, 5},   {"Sinh", std::sinh, -5, 5},    {"Cosh", std::cosh, -5, 5},
                     {"Asinh", std::asinh, -5, 5}, {"Acosh", std::acosh, 1.1, 9}, {"Atanh", std::atanh, -0.9, 0.9}};

}  // namespace

TEST_CASE("Functions of one value that are exact") {
  CHECK(unary("Neg", {-1, 0.5F}) == std::vector<float>{1, -0.5F});
  CHECK(unary("Abs", {-1, 0.5F, -kInf}) == std::vector<float>{1, 0.5F, kInf});
  CHECK(unary("Sqrt", {0, 4, 2.25F}) == std::vector<float>{0, 2, 1.5F});
  CHECK(unary("Reciprocal", {2, -4, 0}) == std::vector<float>{0.5F, -0.25F, kInf});
  CHECK(unary("Ceil", {-1.5F, 1.2F, 3}) == std::vector<float>{-1, 2, 3});
  CHECK(unary("Floor", {-1.5F, 1.2F, 3}) == std::vector<float>{-2, 1, 3});
  CHECK(unary("Sign", {-7, 0, 0.5F}) == std::vector<float>{-1, 0, 1});
  CHECK(unary("Exp", {0}) == std::vector<float>{1});
}

TEST_CASE("Round takes halves to the even integer") {
  CHECK(unary("Round", {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F, 0.49999997F, 8388609.0F}) ==
        std::vector<float>{-2, -2, 0, 0, 2, 2, 0, 8388609.0F});
}

TEST_CASE("Functions of one value agree with double precision, in float32, float16 and float64") {
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    std::vector<float> x;
    for (int i = 0; i <= 40; ++i) x.push_back(static_cast<float>(row.from + (row.to - row.from) * i / 40.0));
    const Tensor single = floats({41}, x);
    const auto y = unary(row.name, x);
    const Tensor wide = run_op(row.name, {cast(single, ElementType::float64)});
    const Tensor half = run_op(row.name, {cast(single, ElementType::float16)});
    REQUIRE(half.type() == ElementType::float16);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = row.exact(static_cast<double>(x[i]));
      CHECK(static_cast<double>(y[i]) == doctest::Approx(exact).epsilon(1e-6));
      CHECK(wide.data<double>()[i] == exact);
      const auto rounded = static_cast<double>(to_float(to_half(x[i])));
      CHECK(static_cast<double>(to_float(half.data<Half>()[i])) == doctest::Approx(row.exact(rounded)).epsilon(2e-3));
    }
  }
}

TEST_CASE("Large tensors are computed on several threads with the same results") {
  std::vector<float> x(100001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) * 0.01F - 5.0F;
  const auto y = unary("Exp", x);
  for (std::size_t i = 1000; i < x.size(); ++i) REQUIRE(y[i] == y[i % 1000]);
}

TEST_CASE("NaN goes through functions of one value") {
  for (const char* op : {"Sqrt", "Exp", "Log", "Erf", "Neg", "Abs", "Round", "Sign", "Floor", "Sin"}) {
    CAPTURE(op);
    CHECK(std::isnan(unary(op, {kNan})[0]));
  }
  CHECK(std::isnan(unary("Sqrt", {-1})[0]));
}

TEST_CASE("Integers have absolute values, opposites and signs; the least one wraps around") {
  check_typed<std::int8_t>(run_op("Abs", {typed<std::int8_t>({3}, {-3, 5, -128})}), {3}, {3, 5, -128});
  check_typed<std::int8_t>(run_op("Neg", {typed<std::int8_t>({3}, {-3, 5, -128})}), {3}, {3, -5, -128});
  check_typed<std::int64_t>(run_op("Sign", {int64s({-9, 0, 4})}), {3}, {-1, 0, 1});
  check_typed<std::uint8_t>(run_op("Abs", {typed<std::uint8_t>({2}, {0, 255})}), {2}, {0, 255});
  check_typed<std::uint32_t>(run_op("Sign", {typed<std::uint32_t>({2}, {0, 9})}), {2}, {0, 1});
}

TEST_CASE("Functions of real numbers refuse integers, and all refuse bools") {
  for (const Row& row : kRows)
    check_refused(kUnsupported, "input 0 is int64, expected float32", row.name, {int64s({1})});
  check_refused(kUnsupported, "input 0 is bool, expected numbers", "Neg", {typed<bool>({1}, {true})});
  check_refused(kCorrupt, "input 0 is missing", "Exp", {std::nullopt});
}
