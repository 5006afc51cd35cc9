// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/unary.hpp>
#include <amct/kernel/elementwise_f32.hpp>

namespace amct::exec::ops {

/// Activations in double with up to two parameters, for float64 and where there is no kernel.
namespace activation {

[[nodiscard]] inline double leaky_relu(double x, double alpha, double) { return x < 0.0 ? alpha * x : x; }
[[nodiscard]] inline double elu(double x, double alpha, double) { return x < 0.0 ? alpha * std::expm1(x) : x; }
[[nodiscard]] inline double selu(double x, double alpha, double gamma) {
  return gamma * (x <= 0.0 ? alpha * std::expm1(x) : x);
}
[[nodiscard]] inline double celu(double x, double alpha, double) { return x < 0.0 ? alpha * std::expm1(x / alpha) : x; }
[[nodiscard]] inline double thresholded_relu(double x, double alpha, double) { return x <= alpha ? 0.0 : x; }
[[nodiscard]] inline double hard_sigmoid(double x, double alpha, double beta) {
  return std::clamp(alpha * x + beta, 0.0, 1.0);
}
[[nodiscard]] inline double hard_swish(double x, double alpha, double beta) { return x * hard_sigmoid(x, alpha, beta); }
[[nodiscard]] inline double shrink(double x, double lambd, double bias) {
  if (x < -lambd) return x + bias;
  return x > lambd ? x - bias : x == x ? 0.0 : x;
}
[[nodiscard]] inline double sigmoid(double x, double, double) {
  const double power = std::exp(-std::fabs(x));
  return (x < 0.0 ? power : 1.0) / (1.0 + power);
}
[[nodiscard]] inline double tanh(double x, double, double) { return std::tanh(x); }
[[nodiscard]] inline double softplus(double x, double, double) {
  return (x > 0.0 ? x : 0.0 * x) + std::log1p(std::exp(-std::fabs(x)));
}
[[nodiscard]] inline double softsign(double x, double, double) { return x / (1.0 + std::fabs(x)); }

}  // namespace activation

/// An attribute of an activation and its default.
struct Parameter {
  const char* name = nullptr;  ///< null: no attribute
  float otherwise = 0.0F;

  [[nodiscard]] float read(const OpContext& context) const {
    return name == nullptr ? otherwise : context.node.attribute_or<float>(name, otherwise);
  }
};

/// An activation of real numbers. Without a kernel, float32 is computed in double and rounded once.
struct Activation {
  const char* name;
  double (*f64)(double, double, double);
  Parameter a{}, b{};
  std::optional<MapF32> kernel{};

  void operator()(const OpContext& context) const {
    require_real(context);
    const float first = a.read(context);
    const float second = b.read(context);
    const auto wide_first = static_cast<double>(first);
    const auto wide_second = static_cast<double>(second);
    if (context.input(0).type() == ElementType::float64) {
      map_elements<double>(context, [&](double x) { return f64(x, wide_first, wide_second); });
    } else if (kernel) {
      map_tensor(context, *kernel, first, second);
    } else {
      map_elements<float>(
          context, [&](float x) { return static_cast<float>(f64(static_cast<double>(x), wide_first, wide_second)); });
    }
  }
};

inline constexpr Activation kActivations[] = {
    {"LeakyRelu", activation::leaky_relu, {"alpha", 0.01F}, {}, MapF32::leaky_relu},
    {"HardSigmoid", activation::hard_sigmoid, {"alpha", 0.2F}, {"beta", 0.5F}, MapF32::hard_sigmoid},
    {"HardSwish", activation::hard_swish, {nullptr, 1.0F / 6.0F}, {nullptr, 0.5F}, MapF32::hard_swish},
    {"Sigmoid", activation::sigmoid, {}, {}, MapF32::sigmoid},
    {"Tanh", activation::tanh, {}, {}, MapF32::tanh},
    {"Elu", activation::elu, {"alpha", 1.0F}},
    {"Selu", activation::selu, {"alpha", 1.67326319217681884765625F}, {"gamma", 1.05070102214813232421875F}},
    {"Celu", activation::celu, {"alpha", 1.0F}},
    {"ThresholdedRelu", activation::thresholded_relu, {"alpha", 1.0F}},
    {"Shrink", activation::shrink, {"lambd", 0.5F}, {"bias", 0.0F}},
    {"Softplus", activation::softplus},
    {"Softsign", activation::softsign},
};

/// ONNX Relu.
inline void relu(const OpContext& context) {
  with_number_type(context, [&]<class T>() {
    if constexpr (std::same_as<T, float>) {
      map_tensor(context, MapF32::clip, 0.0F, std::numeric_limits<float>::infinity());
    } else {
      map_elements<T>(context, [](T x) { return std::max(x, T{0}); });
    }
  });
}

/// ONNX Clip: bounds are attributes before opset 11, else inputs, and each may be missing. NaN stays NaN.
inline void clip(const OpContext& context) {
  with_number_type(context, [&]<class T>() {
    T least = std::numeric_limits<T>::lowest();
    T most = std::numeric_limits<T>::max();
    if constexpr (std::floating_point<T>) {
      constexpr float kNone = std::numeric_limits<float>::infinity();
      least = static_cast<T>(context.node.attribute_or<float>("min", -kNone));
      most = static_cast<T>(context.node.attribute_or<float>("max", kNone));
    }
    const T low = context.scalar_or<T>(1, least);
    const T high = context.scalar_or<T>(2, most);
    if constexpr (std::same_as<T, float>) {
      map_tensor(context, MapF32::clip, low, high);
    } else {
      map_elements<T>(context, [=](T x) {
        const T raised = x < low ? low : x;
        return raised > high ? high : raised;
      });
    }
  });
}

inline void add_activation(OpSet& set) {
  for (const Activation& row : kActivations) set.add(row.name, with_halves(row));
  set.add("Relu", with_halves(relu));
  set.add("Clip", with_halves(clip));
}

}  // namespace amct::exec::ops
