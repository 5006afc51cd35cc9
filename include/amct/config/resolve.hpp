// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/plan.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

namespace detail {

[[noreturn]] inline void refuse(const EasyConfig& config, ErrorCode code, const std::string& layer,
                                const std::string& field, const std::string& message) {
  throw Error(code, {.file = config.file, .layer = layer, .field = field}, message);
}

inline void refuse_repeated(const EasyConfig& config, const std::string& field, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (!seen.insert(name).second) {
      refuse(config, ErrorCode::config_layer, "", field, "\"" + name + "\" is given more than once");
    }
  }
}

inline void require_layer(const EasyConfig& config, const std::vector<std::string>& model_nodes,
                          const std::string& field, const std::string& name) {
  if (std::find(model_nodes.begin(), model_nodes.end(), name) != model_nodes.end()) return;
  refuse(config, ErrorCode::config_layer, "", field, "there is no layer \"" + name + "\" in the model");
}

inline void require_type(const EasyConfig& config, const std::string& field, const std::string& type) {
  std::string known;
  for (const LayerKind kind : kAllLayerKinds) {
    if (type == type_name(kind)) return;
    known += (known.empty() ? "" : ", ") + std::string(type_name(kind));
  }
  refuse(config, ErrorCode::config_layer, "", field,
         "layer type \"" + type + "\" cannot be quantized, expected one of " + known);
}

inline std::vector<std::string> names_of(const std::vector<std::pair<std::string, LayerSetting>>& settings) {
  std::vector<std::string> names;
  for (const auto& [name, setting] : settings) names.push_back(name);
  return names;
}

/// All names of the config must mean something in the model, once.
inline void check_names(const EasyConfig& config, const std::vector<std::string>& model_nodes) {
  const auto check_layers = [&](const char* field, const std::vector<std::string>& names) {
    refuse_repeated(config, field, names);
    for (const auto& name : names) require_layer(config, model_nodes, field, name);
  };
  const auto check_types = [&](const char* field, const std::vector<std::string>& names) {
    refuse_repeated(config, field, names);
    for (const auto& name : names) require_type(config, field, name);
  };
  check_layers("skip_layers", config.skip_layers);
  check_layers("skip_fusion_layers", config.skip_fusion_layers);
  check_layers("override_layer_configs", names_of(config.layers));
  check_types("skip_layer_types", config.skip_layer_types);
  check_types("override_layer_types", names_of(config.layer_types));
}

/// Only convolutions take in a BatchNormalization, so only they can be told not to.
inline void check_skip_fusion(const EasyConfig& config, const LayerTable& layers) {
  for (const auto& name : config.skip_fusion_layers) {
    const LayerInfo* layer = find_layer(layers, name);
    if (layer == nullptr || layer->kind == LayerKind::conv1d || layer->kind == LayerKind::conv2d ||
        layer->kind == LayerKind::conv3d) {
      continue;
    }
    refuse(config, ErrorCode::config_layer, "", "skip_fusion_layers",
           "\"" + name + "\" is a " + type_name(layer->kind) + " layer, expected a Conv1d, Conv2d or Conv3d layer");
  }
}

/// Ranges of AMCT's flavour pytorch. A step equal to end - start in decimal is allowed, hence the tolerance.
inline void check_ifmr(const EasyConfig& config, const std::string& layer, const IfmrSetting& s) {
  const auto require = [&](bool holds, const char* field, double value, const std::string& expected) {
    if (holds) return;
    refuse(config, ErrorCode::config_range, layer, field, "got " + decimal_text(value) + ", expected " + expected);
  };
  constexpr double kDecimalTolerance = 1e-9;
  require(s.max_percentile > 0.5 && s.max_percentile <= 1.0, "max_percentile", s.max_percentile,
          "above 0.5, at most 1");
  require(s.min_percentile > 0.5 && s.min_percentile <= 1.0, "min_percentile", s.min_percentile,
          "above 0.5, at most 1");
  require(s.search_start > 0.0, "search_range_start", s.search_start, "above 0");
  require(s.search_end > s.search_start, "search_range_end", s.search_end, "above search_range_start");
  require(s.search_step > 0.0, "search_step", s.search_step, "above 0");
  require(s.search_step <= s.search_end - s.search_start + kDecimalTolerance, "search_step", s.search_step,
          "at most search_range_end - search_range_start");
  constexpr double kMostCandidates = 100000.0;
  require((s.search_end - s.search_start) / s.search_step <= kMostCandidates, "search_step", s.search_step,
          "a step that gives at most 100000 candidates");
  if (s.bits != 8) {
    refuse(config, ErrorCode::config_unsupported, layer, "dst_type", "this version quantizes activations to INT8 only");
  }
}

/// The most specific level that states a part decides it: layer, then type, then common.
template <class Member>
[[nodiscard]] const auto& most_specific(const EasyConfig& config, const LayerInfo& layer, Member member) {
  const auto stated = [&](const auto& settings, const std::string& name) -> const LayerSetting* {
    for (const auto& [key, setting] : settings) {
      if (key == name && (setting.*member).has_value()) return &setting;
    }
    return nullptr;
  };
  if (const auto* setting = stated(config.layers, layer.name)) return setting->*member;
  if (const auto* setting = stated(config.layer_types, type_name(layer.kind))) return setting->*member;
  return config.common.*member;
}

[[nodiscard]] inline LayerPlan resolve_layer(const EasyConfig& config, const LayerInfo& layer) {
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  LayerPlan plan{.name = layer.name, .kind = layer.kind};
  plan.enabled = !contains(config.skip_layers, layer.name) && !contains(config.skip_layer_types, type_name(layer.kind));

  const ArqSetting arq = most_specific(config, layer, &LayerSetting::arq).value_or(ArqSetting{});
  plan.channel_wise = arq.channel_wise.value_or(can_be_channel_wise(layer.kind));
  if (plan.channel_wise && !can_be_channel_wise(layer.kind)) {
    refuse(config, ErrorCode::config_range, layer.name, "channel_wise",
           std::string("got true, expected false for layer type ") + type_name(layer.kind));
  }
  if (arq.bits.value_or(8) != 8) {
    const bool known = *arq.bits == 4 || *arq.bits == 6 || *arq.bits == 7;
    refuse(config, known ? ErrorCode::config_unsupported : ErrorCode::config_range, layer.name, "quant_bits",
           "got " + std::to_string(*arq.bits) + ", expected 8" +
               (known ? " (this version quantizes weights to INT8 only)" : ""));
  }

  const IfmrSetting ifmr = most_specific(config, layer, &LayerSetting::ifmr).value_or(IfmrSetting{});
  check_ifmr(config, layer.name, ifmr);
  plan.activation = {
      .symmetry = ifmr.asymmetric.value_or(config.activation_offset) ? Symmetry::asymmetric : Symmetry::symmetric,
      .max_percentile = ifmr.max_percentile,
      .min_percentile = ifmr.min_percentile,
      .search_start = ifmr.search_start,
      .search_end = ifmr.search_end,
      .search_step = ifmr.search_step,
  };
  return plan;
}

}  // namespace detail

/// Decides for every quantizable layer of a model what an easy config wants: layer > type > common > defaults.
///
/// \param layers       the quantizable layers
/// \param model_nodes  names of all nodes; config entries may name a layer that is not quantizable, but must exist
/// \throws Error config_layer, config_range or config_unsupported, naming file, layer and field
[[nodiscard]] inline QuantPlan resolve(const EasyConfig& config, const LayerTable& layers,
                                       const std::vector<std::string>& model_nodes) {
  detail::check_names(config, model_nodes);
  detail::check_skip_fusion(config, layers);
  QuantPlan plan;
  plan.batch_num = config.batch_num.value_or(1);
  if (plan.batch_num == 0) {
    detail::refuse(config, ErrorCode::config_range, "", "batch_num", "got 0, expected at least 1");
  }
  plan.do_fusion = config.do_fusion;
  plan.skip_fusion_layers = config.skip_fusion_layers;
  for (const auto& layer : layers) {
    plan.layers.push_back(detail::resolve_layer(config, layer));
    plan.layers.back().activation.batch_num = plan.batch_num;
  }
  if (std::none_of(plan.layers.begin(), plan.layers.end(), [](const auto& layer) { return layer.enabled; })) {
    detail::refuse(config, ErrorCode::config_layer, "", "",
                   layers.empty() ? "the model has no layer that can be quantized"
                                  : "every layer is skipped, nothing is left to quantize");
  }
  return plan;
}

}  // namespace amct
