// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// What a config of the static graph (fx) decides. Unlike in the classic family each input and each weight names its
/// quantizer, a class, and gives it arguments.

namespace amct {

/// A quantizer to be made: its name, as QuantizerRegistry knows it or a user's class path, and its arguments.
struct QuantizerSpec {
  std::string name{};
  ConfigValue args = ConfigValue::Object{};  ///< an object, in the order in which they were stated
  int line = 0;                              ///< where the name stands; 0 = in no file
  int column = 0;

  /// Null if it is not stated.
  [[nodiscard]] const ConfigValue* arg(std::string_view argument) const noexcept { return args.find(argument); }
  /// A new argument goes behind the others.
  void set(std::string_view argument, ConfigValue value) {
    for (auto& [present, old] : *args.object()) {
      if (present == argument) {
        old = std::move(value);
        return;
      }
    }
    args.add(std::string(argument), std::move(value));
  }
  [[nodiscard]] std::string text(std::string_view argument, std::string_view if_absent) const {
    const ConfigValue* const value = arg(argument);
    return value != nullptr && value->text() != nullptr ? *value->text() : std::string(if_absent);
  }
  [[nodiscard]] bool flag(std::string_view argument, bool if_absent) const noexcept {
    const ConfigValue* const value = arg(argument);
    return value != nullptr && value->boolean() != nullptr ? *value->boolean() : if_absent;
  }
  /// num_bits; all algorithms of the guide but the 4-bit ones have 8 by default.
  [[nodiscard]] std::int64_t bits() const noexcept {
    const ConfigValue* const value = arg("num_bits");
    if (value != nullptr && value->integer() != nullptr) return *value->integer();
    return name == "LnqFakeQuantize" || name == "SnqObserver" ? 4 : 8;
  }
};

/// How one layer is quantized.
struct FxLayerPlan {
  std::string name{};
  LayerKind kind = LayerKind::other;
  std::string op_type{};
  bool quant_enable = true;
  bool named = true;  ///< the config speaks of this layer's activations or those of its type, not only of all layers
  std::vector<QuantizerSpec> activations{};  ///< one an input that carries data
  std::optional<QuantizerSpec> weights{};    ///< of layers with weights
  int line = 0;                              ///< of the layer in the full config; 0 = in none
  int column = 0;
};

/// What quantization of a static graph does to a network, in model order. A layer that is not listed stays float.
struct FxPlan {
  std::vector<FxLayerPlan> layers{};

  /// Null if there is none. O(layers).
  [[nodiscard]] const FxLayerPlan* find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    return found == layers.end() ? nullptr : &*found;
  }
};

/// Arguments that every quantizer_args object may have at most.
inline constexpr std::size_t kMostQuantizerArgs = 64;

/// A layer's place in messages about its activations or weights: `activation_quant_params[1]`.
[[nodiscard]] inline std::string fx_field(const FxLayerPlan& layer, const QuantizerSpec& spec) {
  if (layer.weights && &*layer.weights == &spec) return "weight_quant_params";
  return "activation_quant_params[" + std::to_string(&spec - layer.activations.data()) + ']';
}

}  // namespace amct
