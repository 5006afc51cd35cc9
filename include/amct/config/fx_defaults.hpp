// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <amct/config/fx_plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// What a static-graph config has without being told.

namespace amct {

/// Whether a layer multiplies two tensors. On the device both need offset 0, and the second 8 bits.
[[nodiscard]] inline bool is_tensor_product(const FxLayerPlan& layer) noexcept {
  return layer.kind == LayerKind::other && layer.op_type == "MatMul";
}

/// Layers that stay float unless they are named.
[[nodiscard]] inline bool off_by_default(const LayerInfo& layer) noexcept { return layer.op_type == "Softsign"; }

/// Adds the arguments that a quantizer of the guide has by default and that were not stated, in the guide's order.
inline void complete_args(QuantizerSpec& spec, const LayerInfo& layer, const FlavourRules& rules) {
  const auto complete = [&spec](std::string_view name, ConfigValue value) {
    if (spec.arg(name) == nullptr) spec.set(name, std::move(value));
  };
  if (spec.name == "UlqFakeQuantize") {
    complete("num_bits", 8);
    complete("fixed_min", false);
    complete("observer", "IFMRObserver");
  } else if (spec.name == "LuqActivationFakeQuantize" || spec.name == "LuqWeightFakeQuantize") {
    complete("num_bits", 8);
    complete("observer", "LuqMseObserver");
  } else if (spec.name == "ArqWeightFakeQuantize") {
    complete("observer", "ArqObserver");
    complete("num_bits", 8);
    complete("channel_wise", may_be_channel_wise(rules, layer.kind));
  } else if (spec.name == "LnqFakeQuantize") {
    complete("observer", "SnqObserver");
  } else if (spec.name == "FixedFakeQuantize") {
    complete("num_bits", 8);
  }
  if (spec.text("observer", "") == "IFMRObserver") {
    complete("batch_num", 1);
    complete("object_layer", layer.name);
  }
}

/// Activations: ULQ that starts from IFMR, 8 bits.
[[nodiscard]] inline QuantizerSpec default_activation() { return {.name = "UlqFakeQuantize"}; }

/// Weights: ARQ, 8 bits.
[[nodiscard]] inline QuantizerSpec default_weights() { return {.name = "ArqWeightFakeQuantize"}; }

/// Whether the algorithm gives offset 0 only. Nothing is known of a user's own: true.
[[nodiscard]] inline bool is_symmetric(const QuantizerSpec& spec) {
  if (spec.name == "UlqFakeQuantize") return false;
  if (spec.name == "LuqActivationFakeQuantize" && spec.text("observer", "LuqMseObserver") == "LuqMseObserver") {
    return spec.text("qscheme", "symmetric") == "symmetric";
  }
  if (spec.name == "LuqActivationFakeQuantize" || spec.name == "IFMRObserver") {
    return !spec.flag("with_offset", spec.text("qscheme", "affine") != "symmetric");
  }
  if (spec.name == "LuqMseObserver") return spec.text("qscheme", "symmetric") == "symmetric";
  if (spec.name == "FixedFakeQuantize") {
    const ConfigValue* const zero = spec.arg("zero_point");
    if (zero == nullptr) return true;  // its absence is another error
    return (zero->integer() != nullptr && *zero->integer() == 0) || (zero->real() != nullptr && *zero->real() == 0.0);
  }
  if (spec.name == "torch.quantization.FakeQuantize") {
    return spec.text("qscheme", "torch.per_tensor_affine").ends_with("_symmetric");
  }
  return true;
}

/// Makes a quantizer of the guide symmetric: ULQ, which is not, becomes LUQ that starts from the same IFMR.
inline void make_symmetric(QuantizerSpec& spec) {
  if (spec.name == "UlqFakeQuantize") {
    QuantizerSpec luq{.name = "LuqActivationFakeQuantize", .line = spec.line, .column = spec.column};
    for (const auto& [name, value] : *spec.args.object()) {
      if (name != "fixed_min" && name != "clip_max" && name != "clip_min") luq.set(name, value);
    }
    luq.set("observer", "IFMRObserver");
    spec = std::move(luq);
  }
  if (spec.name == "LuqActivationFakeQuantize" || spec.name == "LuqMseObserver") spec.set("qscheme", "symmetric");
  if (spec.name == "IFMRObserver" || spec.text("observer", "") == "IFMRObserver") spec.set("with_offset", false);
}

}  // namespace amct
