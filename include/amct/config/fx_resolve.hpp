// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/fx_defaults.hpp>
#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_fields.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

namespace fx {

/// A quantizer, and whether the config speaks of the layer or its type, not only of all layers.
struct Settled {
  QuantizerSpec spec{};
  bool named = false;
};

/// Resolves one layer.
class LayerResolver {
 public:
  LayerResolver(const FxEasyConfig& config, const LayerInfo& layer, const FlavourRules& rules, Diagnostics& out)
      : config_(config), layer_(layer), rules_(rules), out_(out), own_(config.entry_of(layer.name)) {
    for (const FxEasyConfig::TypeEntry& entry : config.type_entries) {
      if (entry.matches(layer)) types_.push_back(&entry);
    }
  }

  [[nodiscard]] FxLayerPlan resolve() {
    FxLayerPlan plan{.name = layer_.name, .kind = layer_.kind, .op_type = layer_.op_type, .quant_enable = enabled()};
    plan.named = false;
    check_lists();
    const auto inputs = static_cast<std::size_t>(layer_.activation_inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
      Settled settled =
          settle(default_activation(), [&](const Setting& setting) { return part_for(setting, i, inputs); });
      complete_args(settled.spec, layer_, rules_);
      plan.named = plan.named || settled.named;
      if (is_tensor_product(plan) && !settled.named) fit_to_product(settled.spec, i);
      plan.activations.push_back(std::move(settled.spec));
    }
    resolve_weights(plan);
    return plan;
  }

 private:
  [[nodiscard]] Where where(const std::string& field) const {
    return {.file = config_.file, .layer = layer_.name, .field = field};
  }

  /// A layer that an entry names is quantized even if that entry does not say so.
  [[nodiscard]] bool enabled() const {
    bool enable = config_.common.quant_enable.value_or(true) && !off_by_default(layer_);
    if (!types_.empty()) enable = types_.front()->setting.quant_enable.value_or(true);
    if (own_ != nullptr) enable = own_->setting.quant_enable.value_or(true);
    return enable && config_.skipped.count(layer_.name) == 0;
  }

  void check_lists() const {
    check_inputs(config_.common, layer_, where("common_config.activation_quant_params"), out_);
    for (const auto* entry : types_) {
      check_inputs(entry->setting, layer_, where(entry->field + ".activation_quant_params"), out_);
    }
    if (own_ != nullptr) check_inputs(own_->setting, layer_, where(own_->field + ".activation_quant_params"), out_);
  }

  /// Applies the levels from the most general one. Of several types that match, the first with such a part counts.
  template <class PartOf>
  [[nodiscard]] Settled settle(QuantizerSpec base, const PartOf& part_of) const {
    Settled settled{.spec = std::move(base)};
    if (const Part* const part = part_of(config_.common)) part->apply_to(settled.spec);
    for (const auto* entry : types_) {
      const Part* const part = part_of(entry->setting);
      if (part == nullptr) continue;
      part->apply_to(settled.spec);
      settled.named = true;
      break;
    }
    const Part* const own = own_ != nullptr ? part_of(own_->setting) : nullptr;
    if (own == nullptr) return settled;
    own->apply_to(settled.spec);
    settled.named = true;
    return settled;
  }

  /// What holds for all layers gives way to what the device can do.
  void fit_to_product(QuantizerSpec& spec, std::size_t input) const {
    Where place = where("activation_quant_params[" + std::to_string(input) + ']');
    place.line = spec.line;
    place.column = spec.column;
    const bool from_file = spec.line > 0;
    if (!is_symmetric(spec)) {
      make_symmetric(spec);
      if (from_file && is_symmetric(spec)) {
        out_.warning(ErrorCode::config_range, place,
                     "a product of two tensors needs offset 0; its quantizer is " + spec.name + " with offset 0");
      }
    }
    const std::int64_t bits = spec.bits();
    if (input == 1 && bits != 8) {
      spec.set("num_bits", 8);
      out_.warning(ErrorCode::config_range, place,
                   "the second input of a product has 8 bits only; its num_bits " + std::to_string(bits) + " is now 8");
    }
  }

  void resolve_weights(FxLayerPlan& plan) const {
    const auto part_of = [](const Setting& setting) { return setting.weights ? &*setting.weights : nullptr; };
    Settled settled = settle(default_weights(), part_of);
    if (has_weights(layer_.kind)) {
      complete_args(settled.spec, layer_, rules_);
      plan.weights = std::move(settled.spec);
      settle_channel_wise(plan, settled.named, rules_, where(""), out_);
    } else if (settled.named) {
      Where place = where("weight_quant_params");
      place.line = settled.spec.line;
      place.column = settled.spec.column;
      out_.warning(ErrorCode::config_layer, place, "the layer has no weights; its weight_quant_params have no effect");
    }
  }

  const FxEasyConfig& config_;
  const LayerInfo& layer_;
  const FlavourRules& rules_;
  Diagnostics& out_;
  std::vector<const FxEasyConfig::TypeEntry*> types_;
  const FxEasyConfig::LayerEntry* own_;
};

}  // namespace fx

/// Decides for every quantizable layer what an easy config of the static graph wants: layer > type > common > default,
/// in model order.
///
/// - Defaults: 8 bits, UlqFakeQuantize with IFMRObserver over one batch, ArqWeightFakeQuantize, one scale a channel
///   where the flavour allows it. A product of two tensors gets LuqActivationFakeQuantize, which can have offset 0.
/// - A layer whose name or type an entry lists is quantized, whatever common_config says, unless the entry itself says
///   quant_enable false; skip_layers comes last. Softsign is float unless listed.
/// - An entry without `quantizer` takes it, with its arguments, from the level above.
///
/// Pass the result to align_no_command_layers, if the network is known, and to check_fx_plan. O(layers * types listed).
[[nodiscard]] inline FxPlan resolve_fx(const FxEasyConfig& config, const LayerTable& layers, const FlavourRules& rules,
                                       Diagnostics& out) {
  FxPlan plan;
  for (const LayerInfo& layer : layers) plan.layers.push_back(fx::LayerResolver(config, layer, rules, out).resolve());
  return plan;
}

}  // namespace amct
