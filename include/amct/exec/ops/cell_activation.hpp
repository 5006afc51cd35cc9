// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/kernel/elementwise_f32.hpp>

namespace amct::exec {

/// An activation function of a recurrent cell.
struct CellActivation {
  std::string_view name;
  float alpha = 0.0F;
  float beta = 0.0F;

  /// In place. The usual ones are kernels, the others are computed in double and rounded.
  void apply(std::span<float> x) const {
    const double a = static_cast<double>(alpha);
    const double b = static_cast<double>(beta);
    if (name == "Sigmoid") map_f32(MapF32::sigmoid, x, x);
    else if (name == "Tanh") map_f32(MapF32::tanh, x, x);
    else if (name == "LeakyRelu") map_f32(MapF32::leaky_relu, x, x, alpha);
    else if (name == "HardSigmoid") map_f32(MapF32::hard_sigmoid, x, x, alpha, beta);
    else if (name == "Relu") each(x, [](double v) { return v < 0.0 ? 0.0 : v; });
    else if (name == "Affine") each(x, [&](double v) { return a * v + b; });
    else if (name == "ThresholdedRelu") each(x, [&](double v) { return v < a ? 0.0 : v; });
    else if (name == "ScaledTanh") each(x, [&](double v) { return a * std::tanh(b * v); });
    else if (name == "Elu") each(x, [&](double v) { return v < 0.0 ? a * std::expm1(v) : v; });
    else if (name == "Softsign") each(x, [](double v) { return v / (1.0 + std::fabs(v)); });
    else each(x, [](double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::fabs(v))); });  // Softplus
  }

 private:
  template <class Function>
  static void each(std::span<float> x, const Function& f) {
    for (float& v : x) v = static_cast<float>(f(static_cast<double>(v)));
  }
};

/// The activations in the attributes of a node: `defaults` for each direction, or what "activations" lists. Those that
/// have parameters take them in order from activation_alpha and activation_beta.
[[nodiscard]] inline std::vector<CellActivation> read_activations(const OpContext& context, std::size_t directions,
                                                                  const std::vector<std::string_view>& defaults) {
  struct Known {
    CellActivation with_defaults;
    bool takes_alpha, takes_beta;
  };
  static constexpr std::array<Known, 11> kKnown{{{{"Sigmoid"}, false, false},
                                                 {{"Tanh"}, false, false},
                                                 {{"Relu"}, false, false},
                                                 {{"Affine", 1.0F, 0.0F}, true, true},
                                                 {{"LeakyRelu", 0.01F}, true, false},
                                                 {{"ThresholdedRelu", 1.0F}, true, false},
                                                 {{"ScaledTanh", 1.0F, 1.0F}, true, true},
                                                 {{"HardSigmoid", 0.2F, 0.5F}, true, true},
                                                 {{"Elu", 1.0F}, true, false},
                                                 {{"Softsign"}, false, false},
                                                 {{"Softplus"}, false, false}}};
  std::vector<std::string> names;
  for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  if (const auto* given = context.node.attribute<std::vector<std::string>>("activations")) {
    if (given->size() != names.size()) {
      context.fail("activations has " + std::to_string(given->size()) + " entries, expected " +
                   std::to_string(names.size()));
    }
    names = *given;
  }
  const auto alphas = context.node.attribute_or<std::vector<float>>("activation_alpha", {});
  const auto betas = context.node.attribute_or<std::vector<float>>("activation_beta", {});
  std::size_t alpha = 0;
  std::size_t beta = 0;
  std::vector<CellActivation> result;
  for (const std::string& name : names) {
    const auto known =
        std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.with_defaults.name == name; });
    if (known == kKnown.end()) context.unsupported("the activation \"" + name + "\" is not known");
    result.push_back(known->with_defaults);
    if (known->takes_alpha && alpha < alphas.size()) result.back().alpha = alphas[alpha++];
    if (known->takes_beta && beta < betas.size()) result.back().beta = betas[beta++];
  }
  return result;
}

}  // namespace amct::exec
