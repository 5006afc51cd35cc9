// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <amct/config/fx_defaults.hpp>
#include <amct/config/fx_fields.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// The full config of the static graph: an object with a member a layer, each with quant_enable,
/// activation_quant_params (a list, one an input) and weight_quant_params.

namespace amct {

namespace fx {

[[nodiscard]] inline ConfigValue to_json(const QuantizerSpec& spec) {
  ConfigValue value;
  value.add("quantizer", spec.name);
  value.add("quantizer_args", spec.args);
  return value;
}

[[nodiscard]] inline ConfigValue to_json(const FxLayerPlan& layer) {
  ConfigValue value;
  value.add("quant_enable", layer.quant_enable);
  ConfigValue::List activations;
  for (const QuantizerSpec& spec : layer.activations) activations.push_back(to_json(spec));
  value.add("activation_quant_params", std::move(activations));
  if (layer.weights) value.add("weight_quant_params", to_json(*layer.weights));
  return value;
}

/// A part of a full config, which inherits nothing.
[[nodiscard]] inline QuantizerSpec spec_of(const Part& part, Where where, Diagnostics& out) {
  QuantizerSpec spec;
  part.apply_to(spec);
  if (part.quantizer) return spec;
  where.line = part.line;
  where.column = part.column;
  where.field += ".quantizer";
  out.error(ErrorCode::config_range, std::move(where), "is missing: the name of an algorithm");
  return spec;
}

[[nodiscard]] inline QuantizerSpec completed(QuantizerSpec spec, const LayerInfo& layer, const FlavourRules& rules) {
  complete_args(spec, layer, rules);
  return spec;
}

[[nodiscard]] inline FxLayerPlan read_layer(const ConfigValue& value, const LayerInfo& info, const std::string& file,
                                            const FlavourRules& rules, Diagnostics& out) {
  const Where where{.file = file, .layer = info.name};
  ObjectReader reader(value, where, "", out);
  FxLayerPlan layer{.name = info.name, .kind = info.kind, .op_type = info.op_type};
  layer.line = value.line;
  layer.column = value.column;
  const Setting setting = read_setting(reader, where, "", rules.unknown_config_fields_refused);
  reader.refuse_others(rules.unknown_config_fields_refused);
  if (rules.quant_enable_required && value.object() != nullptr && !reader.has("quant_enable")) {
    reader.refuse("quant_enable", "true or false");
  }
  layer.quant_enable = setting.quant_enable.value_or(true);

  const auto inputs = static_cast<std::size_t>(info.activation_inputs);
  check_inputs(setting, info, {.file = file, .layer = info.name, .field = "activation_quant_params"}, out);
  for (std::size_t i = 0; i < inputs; ++i) {
    const Part* const part = part_for(setting, i, inputs);
    const std::string field = "activation_quant_params[" + std::to_string(i) + ']';
    if (part != nullptr) {
      layer.activations.push_back(spec_of(*part, {.file = file, .layer = info.name, .field = field}, out));
    } else {
      QuantizerSpec spec = completed(default_activation(), info, rules);
      if (is_tensor_product(layer)) make_symmetric(spec);
      layer.activations.push_back(std::move(spec));
    }
  }
  if (!has_weights(info.kind)) {
    if (setting.weights) {
      out.warning(ErrorCode::config_layer, reader.where("weight_quant_params"),
                  "the layer has no weights; its weight_quant_params have no effect");
    }
    return layer;
  }
  layer.weights = setting.weights ? spec_of(*setting.weights, reader.where("weight_quant_params"), out)
                                  : completed(default_weights(), info, rules);
  settle_channel_wise(layer, true, rules, where, out);
  return layer;
}

}  // namespace fx

/// The full config, layers sorted by name as AMCT sorts them, arguments in their order. json_yaml/write_json.hpp makes
/// the text.
[[nodiscard]] inline ConfigValue to_fx_json(const FxPlan& plan) {
  std::vector<const FxLayerPlan*> sorted;
  for (const FxLayerPlan& layer : plan.layers) sorted.push_back(&layer);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  ConfigValue value = ConfigValue::Object{};
  for (const FxLayerPlan* layer : sorted) value.add(layer->name, fx::to_json(*layer));
  return value;
}

/// Reads a full config. A layer without activation_quant_params or weight_quant_params has those of the defaults, and
/// one that is not in the file is not quantized. Pass the result to check_fx_plan.
///
/// \param layers   the quantizable layers; the plan has their order
/// \param network  the names of the same layers, and of all nodes
[[nodiscard]] inline FxPlan from_fx_json(const ConfigValue& value, const std::string& file, const LayerTable& layers,
                                         const NetworkNames& network, const FlavourRules& rules, Diagnostics& out) {
  FxPlan plan;
  const ObjectReader top(value, {.file = file}, "", out);  // reports what is no object
  if (value.object() == nullptr) return plan;
  std::unordered_map<std::string_view, const ConfigValue*> stated;
  for (const auto& [name, layer] : *value.object()) {
    const Where where{.file = file, .line = layer.line, .column = layer.column, .layer = name};
    if (network.layer(name) != nullptr) {
      stated.emplace(name, &layer);
    } else if (network.require(name, where, out)) {
      out.error(ErrorCode::config_layer, where, "the layer cannot be quantized");
    }
  }
  for (const LayerInfo& layer : layers) {
    const auto found = stated.find(layer.name);
    if (found != stated.end()) plan.layers.push_back(fx::read_layer(*found->second, layer, file, rules, out));
  }
  return plan;
}

}  // namespace amct
