// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <amct/config/layer_members.hpp>
#include <amct/config/levels.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/prune_config.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_fields.hpp>
#include <amct/config/retrain_plan.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// Full retrain configs (config.json): version, fakequant_precision_mode if it is not the default, batch_num, and a
/// member a layer.

namespace amct {

namespace detail {

[[nodiscard]] inline ConfigValue to_retrain_json(const RetrainLayer& layer, RetrainMode mode, const RetrainForm& form) {
  ConfigValue value;
  if (quantizes(mode)) {
    value.add("retrain_enable", layer.enabled);
    ConfigValue data = to_full_data(layer.data.front(), form);
    if (form.lists_inputs) {
      ConfigValue::List inputs;
      for (const RetrainData& input : layer.data) inputs.push_back(to_full_data(input, form));
      data = ConfigValue(std::move(inputs));
    }
    value.add("retrain_data_config", std::move(data));
    if (has_weights(layer.kind)) {
      value.add("retrain_weight_config", to_full_weights(layer.weights, form, kRetrainWeightAlgorithms));
    }
  }
  if (prunes(mode)) {
    value.add("regular_prune_enable", layer.prune_enabled);
    if (layer.prune) value.add("regular_prune_config", to_regular_prune(*layer.prune));
  }
  return value;
}

/// Reads the layers of a full config.
class RetrainLayerReader {
 public:
  RetrainLayerReader(const std::string& file, const FlavourRules& rules, Diagnostics& out)
      : file_(file), rules_(rules), out_(out), settler_(rules, kRetrainPairs, file, out) {}

  [[nodiscard]] RetrainLayer read(const ConfigValue& value, const LayerInfo& info, RetrainMode mode) {
    where_ = {.file = file_, .layer = info.name};
    RetrainLayer layer{.name = info.name, .kind = info.kind, .op_type = info.op_type};
    layer.enabled = quantizes(mode);
    ObjectReader reader(value, where_, "", out_);
    if (quantizes(mode)) read_quantization(reader, info, layer);
    if (prunes(mode)) read_pruning(reader, info, layer);
    reader.refuse_others(rules_.unknown_config_fields_refused);
    return layer;
  }

 private:
  void read_quantization(ObjectReader& reader, const LayerInfo& info, RetrainLayer& layer) {
    const bool given = reader.read("retrain_enable", layer.enabled);
    if (!given && !reader.has("retrain_enable") && rules_.quant_enable_required) {
      reader.refuse("retrain_enable", "true or false");
    }
    read_data(reader, info, layer);
    if (!has_weights(info.kind)) return;
    const ConfigValue* const config = reader.take("retrain_weight_config");
    Stated<StatedWeights> stated{{}, reader.where("retrain_weight_config")};
    if (config != nullptr) {
      if (const auto read =
              read_full_weights(*config, where_, "retrain_weight_config", rules_, kRetrainWeightAlgorithms, out_)) {
        stated.value = *read;
      }
    }
    layer.weights = settler_.weights(info, {&stated, true}, layer.data, stated.where);
  }

  void read_data(ObjectReader& reader, const LayerInfo& info, RetrainLayer& layer) {
    const RetrainForm form = retrain_form(rules_);
    const auto inputs = static_cast<std::size_t>(form.lists_inputs ? std::max(info.activation_inputs, 1) : 1);
    layer.data.assign(inputs, RetrainData{.algorithm = form.default_data});
    const ConfigValue* const config = reader.take("retrain_data_config");
    if (config == nullptr) return;
    if (!form.lists_inputs) {
      layer.data.front() = read_input(*config, info, "retrain_data_config", reader.where("retrain_data_config"));
      return;
    }
    if (config->list() == nullptr || config->list()->size() != inputs) {
      const std::string got =
          config->list() == nullptr ? describe(*config) : "a list of " + std::to_string(config->list()->size());
      reader.refuse_with("retrain_data_config", "got " + got + ", expected a list with an object for each of " +
                                                    std::to_string(inputs) + " inputs");
      return;
    }
    for (std::size_t i = 0; i < inputs; ++i) {
      layer.data[i] = read_input((*config->list())[i], info, "retrain_data_config[" + std::to_string(i) + ']',
                                 reader.where("retrain_data_config"));
    }
  }

  [[nodiscard]] RetrainData read_input(const ConfigValue& value, const LayerInfo& info, const std::string& path,
                                       const Where& where) {
    const auto data = read_full_data(value, where_, path, rules_, out_);
    const Stated<RetrainData> stated{data.value_or(RetrainData{}), where};
    return settler_.data(info, {&stated, true});
  }

  void read_pruning(ObjectReader& reader, const LayerInfo& info, RetrainLayer& layer) {
    reader.read("regular_prune_enable", layer.prune_enabled);
    if (const ConfigValue* const config = reader.take("regular_prune_config"); config != nullptr) {
      layer.prune = read_regular_prune(*config, where_, "regular_prune_config", out_);
      if (layer.prune && !can_prune(info, *layer.prune)) {
        reader.refuse_with("regular_prune_config", type_name(info) + " cannot be pruned so");
      }
    } else if (layer.prune_enabled) {
      reader.refuse("regular_prune_config", "how the layer is pruned");
    }
  }

  std::string file_;
  const FlavourRules& rules_;
  Diagnostics& out_;
  LayerSettler settler_;
  Where where_{};
};

/// What the members of the layers are about.
[[nodiscard]] inline RetrainMode mode_of(const ConfigValue& value) noexcept {
  bool any_quantized = false;
  bool any_pruned = false;
  if (const auto* members = value.object()) {
    for (const auto& [name, layer] : *members) {
      any_quantized = any_quantized || layer.find("retrain_enable") != nullptr ||
                      layer.find("retrain_data_config") != nullptr || layer.find("retrain_weight_config") != nullptr;
      any_pruned =
          any_pruned || layer.find("regular_prune_enable") != nullptr || layer.find("regular_prune_config") != nullptr;
    }
  }
  if (!any_pruned) return RetrainMode::quantize;
  return any_quantized ? RetrainMode::compress : RetrainMode::prune;
}

inline constexpr std::string_view kRetrainParameters[] = {"version", "batch_num", "fakequant_precision_mode"};

inline void read_version(ObjectReader& reader) {
  int version = 1;
  if (reader.read("version", version) && version != 1) reader.refuse("version", "1");
}

}  // namespace detail

/// The full config of a plan, in AMCT's order of keys; layers in the order of the plan.
[[nodiscard]] inline ConfigValue to_retrain_json(const RetrainPlan& plan, const FlavourRules& rules) {
  ConfigValue value;
  value.add("version", 1);
  if (plan.force_fp16) value.add("fakequant_precision_mode", "FORCE_FP16_QUANT");
  value.add("batch_num", static_cast<std::int64_t>(plan.batch_num));
  for (const RetrainLayer& layer : plan.layers) {
    value.add(layer.name, detail::to_retrain_json(layer, plan.mode, retrain_form(rules)));
  }
  return value;
}

/// Reads a full config. A layer of the network that it does not mention is not retrained and not in the plan; missing
/// members take their defaults.
/// \param layers  the quantizable layers of the network
/// \param out     gets all that does not fit, with file, line, column, layer and field
[[nodiscard]] inline RetrainPlan from_retrain_json(const ConfigValue& value, const LayerTable& layers,
                                                   const FlavourRules& rules, const std::string& file,
                                                   Diagnostics& out) {
  RetrainPlan plan{.mode = detail::mode_of(value)};
  ObjectReader reader(value, {.file = file}, "", out);
  detail::read_version(reader);
  plan.force_fp16 = detail::read_precision_mode(reader);
  detail::read_batch_num(reader, plan.batch_num);
  detail::RetrainLayerReader layer_reader(file, rules, out);
  visit_layer_members(value, file, retrainable_layers(layers, rules), detail::kRetrainParameters, out,
                      [&](const LayerInfo& info, const ConfigValue& member) {
                        plan.layers.push_back(layer_reader.read(member, info, plan.mode));
                      });
  check_something_enabled(plan, file, out);
  return plan;
}

}  // namespace amct
