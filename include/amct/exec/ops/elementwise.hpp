// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/broadcast.hpp>

namespace amct::exec::ops {

/// Applies a function of one float to every element.
template <auto Function>
void unary(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const auto from = x.data<float>();
  const auto y = context.make_output(x.shape());
  for (std::size_t i = 0; i < from.size(); ++i) y[i] = Function(from[i]);
}

/// Applies a function of two floats with broadcasting.
template <auto Function>
void binary(const OpContext& context) {
  const Tensor& a = context.floats(0);
  const Tensor& b = context.floats(1);
  const Shape shape = broadcast_shape(context, a.shape(), b.shape());
  const auto left = a.data<float>();
  const auto right = b.data<float>();
  const auto y = context.make_output(shape);
  for_each_broadcast(shape, a.shape(), b.shape(),
                     [&](std::size_t i, std::size_t ia, std::size_t ib) { y[i] = Function(left[ia], right[ib]); });
}

inline constexpr auto kRelu = [](float x) { return x < 0.0F ? 0.0F : x; };
inline constexpr auto kSigmoid = [](float x) { return 1.0F / (1.0F + std::exp(-x)); };
inline constexpr auto kTanh = [](float x) { return std::tanh(x); };
inline constexpr auto kSqrt = [](float x) { return std::sqrt(x); };
inline constexpr auto kExp = [](float x) { return std::exp(x); };
inline constexpr auto kErf = [](float x) { return std::erf(x); };
inline constexpr auto kNeg = [](float x) { return -x; };
inline constexpr auto kAbs = [](float x) { return std::fabs(x); };
inline constexpr auto kRound = [](float x) { return round_half_even(x); };
inline constexpr auto kHardSwish = [](float x) { return x * std::clamp(x / 6.0F + 0.5F, 0.0F, 1.0F); };

inline constexpr auto kAdd = [](float a, float b) { return a + b; };
inline constexpr auto kSub = [](float a, float b) { return a - b; };
inline constexpr auto kMul = [](float a, float b) { return a * b; };
inline constexpr auto kDiv = [](float a, float b) { return a / b; };
inline constexpr auto kPow = [](float a, float b) { return b == 2.0F ? a * a : std::pow(a, b); };

/// ONNX LeakyRelu.
inline void leaky_relu(const OpContext& context) {
  const float alpha = context.node.attribute_or<float>("alpha", 0.01F);
  const Tensor& x = context.floats(0);
  const auto from = x.data<float>();
  const auto y = context.make_output(x.shape());
  for (std::size_t i = 0; i < from.size(); ++i) y[i] = from[i] < 0.0F ? alpha * from[i] : from[i];
}

/// ONNX HardSigmoid.
inline void hard_sigmoid(const OpContext& context) {
  const float alpha = context.node.attribute_or<float>("alpha", 0.2F);
  const float beta = context.node.attribute_or<float>("beta", 0.5F);
  const Tensor& x = context.floats(0);
  const auto from = x.data<float>();
  const auto y = context.make_output(x.shape());
  for (std::size_t i = 0; i < from.size(); ++i) y[i] = std::clamp(alpha * from[i] + beta, 0.0F, 1.0F);
}

/// ONNX Clip with its bounds as inputs. NaN stays NaN.
inline void clip(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const float low = context.scalar_or(1, -std::numeric_limits<float>::infinity());
  const float high = context.scalar_or(2, std::numeric_limits<float>::infinity());
  const auto from = x.data<float>();
  const auto y = context.make_output(x.shape());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const float raised = from[i] < low ? low : from[i];
    y[i] = raised > high ? high : raised;
  }
}

}  // namespace amct::exec::ops
