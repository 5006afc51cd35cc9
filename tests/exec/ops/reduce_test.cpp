// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/reduce.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Row {
  const char* name;
  std::function<double(const std::vector<double>&)> exact;
};

double sum_of(const std::vector<double>& x, double (*each)(double)) {
  double sum = 0.0;
  for (const double value : x) sum += each(value);
  return sum;
}
double same(double x) { return x; }
double square(double x) { return x * x; }

const Row kRows[] = {
    {"ReduceSum", [](const auto& x) { return sum_of(x, same); }},
    {"ReduceMean", [](const auto& x) { return sum_of(x, same) / static_cast<double>(x.size()); }},
    {"ReduceSumSquare", [](const auto& x) { return sum_of(x, square); }},
    {"ReduceL1", [](const auto& x) { return sum_of(x, std::fabs); }},
    {"ReduceL2", [](const auto& x) { return std::sqrt(sum_of(x, square)); }},
    {"ReduceLogSum", [](const auto& x) { return std::log(sum_of(x, same)); }},
    {"ReduceLogSumExp", [](const auto& x) { return std::log(sum_of(x, std::exp)); }},
    {"ReduceMax", [](const auto& x) { return *std::max_element(x.begin(), x.end()); }},
    {"ReduceMin", [](const auto& x) { return *std::min_element(x.begin(), x.end()); }},
    {"ReduceProd",
     [](const auto& x) {
       double product = 1.0;
       for (const double value : x) product *= value;
       return product;
     }},
};

}  // namespace

TEST_CASE("Every reduction agrees with its definition over every set of axes, in float32 and float64") {
  Tensor x = whole_numbers({2, 3, 4}, 5);
  for (float& value : x.data<float>()) value = value * 0.25F + 1.25F;  // positive, for the logarithm of the sum
  for (const Row& row : kRows) {
    for (std::int64_t set = 1; set < 8; ++set) {
      CAPTURE(row.name);
      CAPTURE(set);
      Ints axes;
      for (std::int64_t axis = 0; axis < 3; ++axis) {
        if ((set >> axis & 1) != 0) axes.push_back(axis);
      }
      std::vector<std::vector<double>> groups;
      Shape kept = x.shape();
      for (const auto axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
      groups.resize(kept.size());
      exec::for_each_broadcast(x.shape(), x.shape(), kept, [&](std::size_t i, std::size_t, std::size_t g) {
        groups[g].push_back(static_cast<double>(values(x)[i]));
      });
      const Tensor y = run_op(row.name, {x}, {{"axes", axes}}, 12);
      const Tensor wide = run_op(row.name, {cast(x, ElementType::float64)}, {{"axes", axes}}, 12);
      CHECK(to_string(y.shape()) == to_string(kept));
      REQUIRE(y.size() == groups.size());
      for (std::size_t g = 0; g < groups.size(); ++g) {
        CHECK(static_cast<double>(values(y)[g]) == doctest::Approx(row.exact(groups[g])).epsilon(1e-6));
        CHECK(wide.data<double>()[g] == doctest::Approx(row.exact(groups[g])).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("A reduction over some axes, all axes, and with or without keeping them") {
  const Tensor x = floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{1}}}), {2, 1, 2}, {3, 4, 9, 10});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{1}}, {"keepdims", 0}}), {2, 2}, {3, 4, 9, 10});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{0, -1}}}), {1, 3, 1}, {4.5F, 6.5F, 8.5F});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{-1, 0}}, {"keepdims", 0}}), {3}, {4.5F, 6.5F, 8.5F});
  check_tensor(run_op("ReduceMean", {x}), {1, 1, 1}, {6.5F});
  check_tensor(run_op("ReduceMean", {x}, {{"keepdims", 0}}), {}, {6.5F});
  check_refused(kShape, "axis 3 is outside a tensor of 3 axes", "ReduceMean", {x}, {{"axes", Ints{3}}});
}

TEST_CASE("Axes may be an input, and none may mean that nothing is reduced") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  check_tensor(run_op("ReduceSum", {x, int64s({-1})}), {2, 1}, {3, 7});
  check_tensor(run_op("ReduceSum", {x, int64s({})}), {1, 1}, {10});
  check_tensor(run_op("ReduceSum", {x, int64s({})}, {{"noop_with_empty_axes", 1}}), {2, 2}, {1, 2, 3, 4});
  check_tensor(run_op("ReduceSum", {x}, {{"noop_with_empty_axes", 1}}), {2, 2}, {1, 2, 3, 4});
  check_refused(kShape, "axis 2 is outside", "ReduceSum", {x, int64s({2})});
}

TEST_CASE("Integers are reduced in 64 bits and wrap around") {
  const Tensor x = typed<std::int32_t>({2, 2}, {1, -2, 3, 4});
  check_typed<std::int32_t>(run_op("ReduceSum", {x, int64s({1})}), {2, 1}, {-1, 7});
  check_typed<std::int32_t>(run_op("ReduceMean", {x}, {{"axes", Ints{1}}}), {2, 1}, {0, 3});
  check_typed<std::int32_t>(run_op("ReduceL1", {x}), {1, 1}, {10});
  check_typed<std::int32_t>(run_op("ReduceL2", {x}, {{"axes", Ints{1}}}), {2, 1}, {2, 5});
  check_typed<std::int32_t>(run_op("ReduceProd", {x}), {1, 1}, {-24});
  check_typed<std::int8_t>(run_op("ReduceMax", {typed<std::int8_t>({3}, {-7, -3, -5})}), {1}, {-3});
  check_typed<std::uint64_t>(run_op("ReduceMax", {typed<std::uint64_t>({2}, {1, ~0ULL})}), {1}, {~0ULL});
  check_typed<std::uint64_t>(run_op("ReduceSum", {typed<std::uint64_t>({2}, {2, ~0ULL})}), {1}, {1});
}

TEST_CASE("Long rows are summed precisely and large exponents do not overflow") {
  std::vector<float> ones(100001, 0.1F);
  CHECK(values(run_op("ReduceSum", {floats({1, 100001}, ones), int64s({1})}))[0] ==
        doctest::Approx(10000.1).epsilon(1e-6));
  CHECK(values(run_op("ReduceLogSumExp", {floats({2}, {1000, 1000})}))[0] == doctest::Approx(1000.6931));
  CHECK(values(run_op("ReduceLogSumExp", {floats({2}, {-kInf, 3})}))[0] == 3.0F);
  CHECK(values(run_op("ReduceLogSumExp", {floats({2}, {-kInf, -kInf})}))[0] == -kInf);
}

TEST_CASE("NaN shows in reductions, and those of nothing have their neutral element") {
  const Tensor bad = floats({3}, {1, std::nanf(""), 2});
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    CHECK(std::isnan(values(run_op(row.name, {bad}))[0]));
    CHECK(std::isnan(run_op(row.name, {cast(bad, ElementType::float64)}).data<double>()[0]));
  }
  const Tensor none(ElementType::float32, {0, 2});
  check_tensor(run_op("ReduceSum", {none, int64s({0})}), {1, 2}, {0, 0});
  check_tensor(run_op("ReduceProd", {none}, {{"axes", Ints{0}}}), {1, 2}, {1, 1});
  check_tensor(run_op("ReduceMax", {none}, {{"axes", Ints{0}}}), {1, 2}, {-kInf, -kInf});
  check_typed<std::int64_t>(run_op("ReduceMean", {int64s({})}), {1}, {0});
}

TEST_CASE("Bools are not reduced") {
  check_refused(kUnsupported, "input 0 is bool, expected numbers", "ReduceSum", {typed<bool>({1}, {true})});
}
