// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/fx_defaults.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>

/// \file
/// The fields that easy (YAML) and full (JSON) configs of the static graph share.

namespace amct::fx {

/// What one level says of a quantizer. Without a name the level above decides it, and the arguments are laid over that
/// level's; with a name nothing is inherited.
struct Part {
  std::optional<std::string> quantizer{};
  ConfigValue args{};  ///< an object, or null if none are stated
  int line = 0;
  int column = 0;

  void apply_to(QuantizerSpec& spec) const {
    if (quantizer) spec = {.name = *quantizer};
    spec.line = line;
    spec.column = column;
    if (args.is_null()) return;
    for (const auto& [name, value] : *args.object()) spec.set(name, value);
  }
};

/// What one level says of a layer.
struct Setting {
  std::optional<bool> quant_enable{};
  std::optional<Part> weights{};
  std::vector<Part> activations{};  ///< empty if none are stated
  bool activations_for_all = true;  ///< one object for all inputs, instead of a list with one an input
};

inline Part read_part(const ConfigValue& value, const Where& where, const std::string& path, bool refuse_unknown,
                      Diagnostics& out) {
  Part part{.line = value.line, .column = value.column};
  ObjectReader reader(value, where, path, out);
  std::string name;
  if (reader.read("quantizer", name)) {
    if (name.empty()) reader.refuse("quantizer", "the name of an algorithm");
    else part.quantizer = name;
  }
  if (const ConfigValue* const args = reader.take("quantizer_args")) {
    if (args->object() == nullptr) {
      reader.refuse("quantizer_args", "an object");
    } else if (args->object()->size() > kMostQuantizerArgs) {
      reader.refuse_with("quantizer_args", "has " + std::to_string(args->object()->size()) + " arguments, at most " +
                                               std::to_string(kMostQuantizerArgs) + " are possible");
    } else {
      part.args = *args;
    }
  }
  reader.refuse_others(refuse_unknown);
  return part;
}

/// Reads quant_enable, activation_quant_params and weight_quant_params. \param path  as ObjectReader has it
inline Setting read_setting(ObjectReader& reader, const Where& where, const std::string& path, bool refuse_unknown) {
  Setting setting;
  const std::string prefix = path.empty() ? "" : path + '.';
  bool enable = true;
  if (reader.read("quant_enable", enable)) setting.quant_enable = enable;
  if (const ConfigValue* const weights = reader.take("weight_quant_params")) {
    setting.weights = read_part(*weights, where, prefix + "weight_quant_params", refuse_unknown, reader.diagnostics());
  }
  const ConfigValue* const activations = reader.take("activation_quant_params");
  if (activations == nullptr) return setting;
  const std::string field = prefix + "activation_quant_params";
  setting.activations_for_all = activations->list() == nullptr;
  if (setting.activations_for_all) {
    setting.activations = {read_part(*activations, where, field, refuse_unknown, reader.diagnostics())};
    return setting;
  }
  for (const ConfigValue& item : *activations->list()) {
    const std::string indexed = field + '[' + std::to_string(setting.activations.size()) + ']';
    setting.activations.push_back(read_part(item, where, indexed, refuse_unknown, reader.diagnostics()));
  }
  if (setting.activations.empty()) reader.refuse_with("activation_quant_params", "is empty, expected one an input");
  return setting;
}

/// The part for an input; null if there is none, or if a list has not one for each of the layer's inputs.
[[nodiscard]] inline const Part* part_for(const Setting& setting, std::size_t input, std::size_t inputs) noexcept {
  if (setting.activations.empty()) return nullptr;
  if (setting.activations_for_all) return setting.activations.data();
  return setting.activations.size() == inputs ? &setting.activations[input] : nullptr;
}

/// An error if a list has not one part for each input of the layer.
inline void check_inputs(const Setting& setting, const LayerInfo& layer, Where where, Diagnostics& out) {
  const auto inputs = static_cast<std::size_t>(layer.activation_inputs);
  if (setting.activations_for_all || setting.activations.empty() || setting.activations.size() == inputs) return;
  where.line = setting.activations.front().line;
  where.column = setting.activations.front().column;
  const auto counted = [](std::size_t count, const char* what) {
    return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
  };
  out.error(ErrorCode::config_layer, std::move(where),
            "lists " + counted(setting.activations.size(), "quantizer") + ", but the layer has " +
                counted(inputs, "input") + " to quantize; a single object counts for all inputs");
}

/// One scale a channel is what ARQ does by default; layers that have no channels get one scale.
/// \param named  whether the config speaks of this layer or its type, so that a change is worth a warning
inline void settle_channel_wise(FxLayerPlan& layer, bool named, const FlavourRules& rules, Where where,
                                Diagnostics& out) {
  if (!layer.weights) return;
  QuantizerSpec& spec = *layer.weights;
  const ConfigValue* const stated = spec.arg("channel_wise");
  const bool in_file = stated != nullptr && stated->line > 0;
  where.layer = layer.name;
  where.field = "weight_quant_params.quantizer_args.channel_wise";
  where.line = stated != nullptr ? stated->line : spec.line;
  where.column = stated != nullptr ? stated->column : spec.column;
  if (spec.name == "LnqFakeQuantize" && in_file && spec.flag("channel_wise", false)) {
    out.warning(ErrorCode::config_range, std::move(where), "true has no effect with LnqFakeQuantize");
    return;
  }
  if (spec.name != "ArqWeightFakeQuantize" && spec.name != "ArqObserver") return;
  if (may_be_channel_wise(rules, layer.kind) || !spec.flag("channel_wise", true)) return;
  const std::string type = type_name(layer.kind);
  if (in_file && rules.channel_wise_elsewhere == ChannelWiseElsewhere::refused) {
    out.error(ErrorCode::config_range, std::move(where), "got true, expected false for layers of type " + type);
    return;
  }
  if (in_file && named) {
    out.warning(ErrorCode::config_range, std::move(where), "true is taken as false for layers of type " + type);
  }
  spec.set("channel_wise", false);
}

}  // namespace amct::fx
