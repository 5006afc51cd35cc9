// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/elementwise.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "exec/run_op.hpp"

using namespace amct;
using namespace support;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> unary(const std::string& op, const std::vector<float>& x, Attributes attributes = {}) {
  const Tensor y = run_op(op, {floats({1, static_cast<std::int64_t>(x.size())}, x)}, std::move(attributes));
  CHECK(y.shape() == Shape{1, static_cast<std::int64_t>(x.size())});
  return values(y);
}
/// Compares with a function in double at float32's accuracy.
template <class F>
void check_function(const std::string& op, F&& function) {
  CAPTURE(op);
  std::vector<float> x;
  for (int i = 0; i <= 40; ++i) x.push_back(static_cast<float>(i) * 0.25F - 5.0F);
  const auto y = unary(op, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = function(static_cast<double>(x[i]));
    CHECK(static_cast<double>(y[i]) == doctest::Approx(expected).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("Functions of one value that are exact") {
  CHECK(unary("Relu", {-1, -0.5F, 0, 2}) == std::vector<float>{0, 0, 0, 2});
  CHECK(unary("Neg", {-1, 0.5F}) == std::vector<float>{1, -0.5F});
  CHECK(unary("Abs", {-1, 0.5F, -kInf}) == std::vector<float>{1, 0.5F, kInf});
  CHECK(unary("Sqrt", {0, 4, 2.25F}) == std::vector<float>{0, 2, 1.5F});
  CHECK(unary("HardSwish", {-4, -3, 0, 3, 6}) == std::vector<float>{0, 0, 0, 3, 6});
  CHECK(unary("HardSwish", {-1.5F, 1.5F}) == std::vector<float>{-0.375F, 1.125F});
  CHECK(unary("Exp", {0}) == std::vector<float>{1});
}

TEST_CASE("Round takes halves to the even integer") {
  CHECK(unary("Round", {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F, 0.49999997F, 8388609.0F}) ==
        std::vector<float>{-2, -2, 0, 0, 2, 2, 0, 8388609.0F});
}

TEST_CASE("Functions of one value agree with double precision") {
  check_function("Sigmoid", [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  check_function("Tanh", [](double x) { return std::tanh(x); });
  check_function("Exp", [](double x) { return std::exp(x); });
  check_function("Erf", [](double x) { return std::erf(x); });
}

TEST_CASE("Sigmoid does not overflow far from zero") {
  CHECK(unary("Sigmoid", {-1000, 1000}) == std::vector<float>{0, 1});
}

TEST_CASE("LeakyRelu and HardSigmoid take their slopes from attributes or defaults") {
  CHECK(unary("LeakyRelu", {-2, 3}, {{"alpha", 0.5F}}) == std::vector<float>{-1, 3});
  CHECK(unary("LeakyRelu", {-2}) == std::vector<float>{-2 * 0.01F});
  CHECK(unary("HardSigmoid", {-2, 0, 0.5F, 2}, {{"alpha", 0.5F}, {"beta", 0.25F}}) ==
        std::vector<float>{0, 0.25F, 0.5F, 1});
  CHECK(unary("HardSigmoid", {0, -9, 9}) == std::vector<float>{0.5F, 0, 1});
}

TEST_CASE("NaN goes through functions of one value") {
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "Sqrt", "Exp", "Erf", "Neg", "Abs", "Round", "HardSwish",
                         "LeakyRelu", "HardSigmoid", "Clip"}) {
    CAPTURE(op);
    CHECK(std::isnan(unary(op, {kNan})[0]));
  }
  CHECK(std::isnan(unary("Sqrt", {-1})[0]));
}

TEST_CASE("Arithmetic of two tensors, with broadcasting") {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  const Tensor b = floats({2}, {10, 20});
  check_tensor(run_op("Add", {a, b}), {2, 2}, {11, 22, 13, 24});
  check_tensor(run_op("Sub", {a, b}), {2, 2}, {-9, -18, -7, -16});
  check_tensor(run_op("Sub", {b, a}), {2, 2}, {9, 18, 7, 16});
  check_tensor(run_op("Mul", {a, Tensor::scalar(-2.0F)}), {2, 2}, {-2, -4, -6, -8});
  check_tensor(run_op("Div", {b, a}), {2, 2}, {10, 10, 10.0F / 3.0F, 5});
  check_tensor(run_op("Pow", {a, Tensor::scalar(2.0F)}), {2, 2}, {1, 4, 9, 16});
  check_tensor(run_op("Pow", {a, floats({2, 1}, {3, 0.5F})}), {2, 2}, {1, 8, std::sqrt(3.0F), 2});
  check_tensor(run_op("Add", {floats({2, 1}, {1, 2}), floats({1, 3}, {10, 20, 30})}), {2, 3}, {11, 21, 31, 12, 22, 32});
}

TEST_CASE("Division by zero gives infinities and NaN as IEEE 754 has it") {
  const auto y = values(run_op("Div", {floats({3}, {1, -1, 0}), floats({3}, {0, 0, 0})}));
  CHECK(y[0] == kInf);
  CHECK(y[1] == -kInf);
  CHECK(std::isnan(y[2]));
}

TEST_CASE("Clip takes bounds as inputs, each of which may be missing") {
  const Tensor x = floats({3}, {-5, 0.5F, 5});
  check_tensor(run_op("Clip", {x, Tensor::scalar(-1.0F), Tensor::scalar(1.0F)}), {3}, {-1, 0.5F, 1});
  check_tensor(run_op("Clip", {x, std::nullopt, Tensor::scalar(1.0F)}), {3}, {-5, 0.5F, 1});
  check_tensor(run_op("Clip", {x, Tensor::scalar(-1.0F)}), {3}, {-1, 0.5F, 5});
  check_tensor(run_op("Clip", {x}), {3}, {-5, 0.5F, 5});
  check_tensor(run_op("Clip", {x, Tensor::scalar(2.0F), Tensor::scalar(1.0F)}), {3}, {1, 1, 1});
}

TEST_CASE("Other element types and shapes that do not fit are refused") {
  const Tensor integers = int64s({1, 2});
  check_refused(kUnsupported, "input 0 is int64, expected float32", "Relu", {integers});
  check_refused(kUnsupported, "input 1 is int64, expected float32", "Add", {floats({2}, {1, 2}), integers});
  check_refused(kShape, "shapes [2] and [3] cannot be broadcast", "Mul", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})});
  check_refused(kCorrupt, "input 1 is missing", "Sub", {floats({2}, {1, 2})});
  check_refused(kUnsupported, "input 0 is int64", "LeakyRelu", {integers});
  check_refused(kUnsupported, "input 0 is int64", "HardSigmoid", {integers});
  check_refused(kUnsupported, "input 2 is int64", "Clip", {floats({1}, {1}), std::nullopt, integers});
}
