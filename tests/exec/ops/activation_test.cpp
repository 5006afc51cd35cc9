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

std::vector<float> activate(const std::string& op, const std::vector<float>& x, Attributes attributes = {}) {
  return values(run_op(op, {floats({static_cast<std::int64_t>(x.size())}, x)}, std::move(attributes)));
}
/// Compares float32 and float64 with a function in double.
template <class F>
void check_function(const std::string& op, Attributes attributes, F&& function) {
  CAPTURE(op);
  std::vector<float> x;
  for (int i = 0; i <= 40; ++i) x.push_back(static_cast<float>(i) * 0.25F - 5.0F);
  const auto y = activate(op, x, attributes);
  const Tensor wide = run_op(op, {cast(floats({41}, x), ElementType::float64)}, attributes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = function(static_cast<double>(x[i]));
    CHECK(static_cast<double>(y[i]) == doctest::Approx(expected).epsilon(1e-6));
    CHECK(wide.data<double>()[i] == doctest::Approx(expected).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("Activations agree with their definition") {
  check_function("Sigmoid", {}, [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  check_function("Tanh", {}, [](double x) { return std::tanh(x); });
  check_function("Softplus", {}, [](double x) { return std::log(1.0 + std::exp(x)); });
  check_function("Softsign", {}, [](double x) { return x / (1.0 + std::fabs(x)); });
  check_function("Elu", {{"alpha", 2.0F}}, [](double x) { return x < 0 ? 2.0 * (std::exp(x) - 1.0) : x; });
  check_function("Elu", {}, [](double x) { return x < 0 ? std::exp(x) - 1.0 : x; });
  check_function("Celu", {{"alpha", 2.0F}}, [](double x) { return x < 0 ? 2.0 * (std::exp(x / 2.0) - 1.0) : x; });
  check_function("Selu", {{"alpha", 2.0F}, {"gamma", 3.0F}},
                 [](double x) { return x > 0 ? 3.0 * x : 3.0 * (2.0 * std::exp(x) - 2.0); });
  check_function("Selu", {},
                 [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1.0)); });
  check_function("HardSwish", {}, [](double x) { return x * std::fmax(0.0, std::fmin(1.0, x / 6.0 + 0.5)); });
}

TEST_CASE("Piecewise linear activations are exact") {
  CHECK(activate("Relu", {-1, -0.5F, 0, 2}) == std::vector<float>{0, 0, 0, 2});
  CHECK(activate("LeakyRelu", {-2, 3}, {{"alpha", 0.5F}}) == std::vector<float>{-1, 3});
  CHECK(activate("LeakyRelu", {-2}) == std::vector<float>{-2 * 0.01F});
  CHECK(activate("HardSigmoid", {-2, 0, 0.5F, 2}, {{"alpha", 0.5F}, {"beta", 0.25F}}) ==
        std::vector<float>{0, 0.25F, 0.5F, 1});
  CHECK(activate("HardSigmoid", {0, -9, 9}) == std::vector<float>{0.5F, 0, 1});
  CHECK(activate("HardSwish", {-4, -3, 0, 3, 6}) == std::vector<float>{0, 0, 0, 3, 6});
  CHECK(activate("HardSwish", {-1.5F, 1.5F}) == std::vector<float>{-0.375F, 1.125F});
  CHECK(activate("ThresholdedRelu", {0.5F, 1, 1.5F, -9}) == std::vector<float>{0, 0, 1.5F, 0});
  CHECK(activate("ThresholdedRelu", {0.5F, 3}, {{"alpha", 2.0F}}) == std::vector<float>{0, 3});
  CHECK(activate("Shrink", {-2, -0.25F, 0.5F, 2}) == std::vector<float>{-2, 0, 0, 2});
  CHECK(activate("Shrink", {-2, 1, 2}, {{"lambd", 1.5F}, {"bias", 1.5F}}) == std::vector<float>{-0.5F, 0, 0.5F});
}

TEST_CASE("Relu and Clip take integers too") {
  check_typed<std::int8_t>(run_op("Relu", {typed<std::int8_t>({2}, {-5, 5})}), {2}, {0, 5});
  check_typed<std::int8_t>(run_op("Clip", {typed<std::int8_t>({3}, {-5, 1, 5}), Tensor::scalar<std::int8_t>(-2),
                                           Tensor::scalar<std::int8_t>(3)}),
                           {3}, {-2, 1, 3});
  check_typed<std::uint64_t>(run_op("Clip", {typed<std::uint64_t>({1}, {~0ULL})}), {1}, {~0ULL});
}

TEST_CASE("Clip takes bounds as inputs, each of which may be missing") {
  const Tensor x = floats({3}, {-5, 0.5F, 5});
  check_tensor(run_op("Clip", {x, Tensor::scalar(-1.0F), Tensor::scalar(1.0F)}), {3}, {-1, 0.5F, 1});
  check_tensor(run_op("Clip", {x, std::nullopt, Tensor::scalar(1.0F)}), {3}, {-5, 0.5F, 1});
  check_tensor(run_op("Clip", {x, Tensor::scalar(-1.0F)}), {3}, {-1, 0.5F, 5});
  check_tensor(run_op("Clip", {x}), {3}, {-5, 0.5F, 5});
  check_tensor(run_op("Clip", {x, Tensor::scalar(2.0F), Tensor::scalar(1.0F)}), {3}, {1, 1, 1});
  check_tensor(run_op("Clip", {floats({1}, {-kInf})}), {1}, {-kInf});
}

TEST_CASE("Clip takes bounds as attributes before opset 11") {
  const Tensor x = floats({3}, {-5, 0.5F, 5});
  check_tensor(run_op("Clip", {x}, {{"min", -1.0F}, {"max", 2.0F}}, 6), {3}, {-1, 0.5F, 2});
  check_tensor(run_op("Clip", {x}, {{"max", 2.0F}}, 6), {3}, {-5, 0.5F, 2});
}

TEST_CASE("Activations do not overflow far from zero") {
  CHECK(activate("Sigmoid", {-1000, 1000}) == std::vector<float>{0, 1});
  CHECK(activate("Softplus", {-1000, 1000}) == std::vector<float>{0, 1000});
  CHECK(activate("Softplus", {kInf})[0] == kInf);
}

TEST_CASE("NaN goes through activations") {
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "HardSigmoid", "Clip", "Elu", "Selu",
                         "Celu", "ThresholdedRelu", "Shrink", "Softplus", "Softsign"}) {
    CAPTURE(op);
    CHECK(std::isnan(activate(op, {kNan})[0]));
  }
}

TEST_CASE("Other element types are refused") {
  const Tensor integers = int64s({1, 2});
  check_refused(kUnsupported, "input 0 is int64, expected float32", "LeakyRelu", {integers});
  check_refused(kUnsupported, "input 0 is int64, expected float32", "HardSigmoid", {integers});
  check_refused(kUnsupported, "input 2 is int64", "Clip", {floats({1}, {1}), std::nullopt, integers});
  check_refused(kShape, "input 1 is [2], expected one value", "Clip", {floats({1}, {1}), floats({2}, {1, 1})});
  check_refused(kUnsupported, "input 0 is bool, expected numbers", "Relu", {typed<bool>({1}, {true})});
}
