// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>

/// \file
/// The full quantization config (config.json) of the classic and classic_list families; config/read_classic_json.hpp
/// reads it.

namespace amct {

namespace detail {

/// Names at the top of a full config that are no layers.
inline constexpr std::string_view kClassicGlobals[] = {
    "version",   "batch_num",        "activation_offset",        "joint_quant",       "weight_offset", "do_fusion",
    "update_bn", "bn_update_config", "fakequant_precision_mode", "skip_fusion_layers"};

[[nodiscard]] inline bool is_classic_global(std::string_view name) {
  return std::find(std::begin(kClassicGlobals), std::end(kClassicGlobals), name) != std::end(kClassicGlobals);
}

[[nodiscard]] inline ConfigValue whole(std::uint32_t value) { return static_cast<std::int64_t>(value); }
[[nodiscard]] inline ConfigValue pair(double first, double second) { return ConfigValue::List{first, second}; }

/// \param in_list  in the list form, which shows no algorithm, and an offset only where it is not activation_offset's
[[nodiscard]] inline ConfigValue to_json(const ActivationPlan& plan, bool in_list, bool activation_offset) {
  const bool is_ifmr = plan.algorithm == ActivationAlgorithm::ifmr;
  ConfigValue out;
  out.add("num_bits", plan.bits);
  if (is_ifmr) {
    out.add("max_percentile", plan.max_percentile);
    out.add("min_percentile", plan.min_percentile);
    out.add("search_range", pair(plan.search_start, plan.search_end));
    out.add("search_step", plan.search_step);
  }
  if (!in_list || !is_ifmr) out.add("act_algo", is_ifmr ? "ifmr" : "hfmg");
  if (!in_list || plan.asymmetric != activation_offset) out.add("asymmetric", plan.asymmetric);
  if (!is_ifmr) out.add("num_of_bins", whole(plan.num_of_bins));
  return out;
}

[[nodiscard]] inline ConfigValue to_json(const WeightPlan& plan, bool in_list) {
  ConfigValue out;
  out.add("num_bits", plan.bits);
  if (plan.algorithm == WeightAlgorithm::ada) {
    out.add("reg_param", plan.reg_param);
    out.add("warm_start", plan.warm_start);
    out.add("num_iteration", whole(plan.num_iteration));
    out.add("beta_range", pair(plan.beta_start, plan.beta_end));
  }
  out.add("channel_wise", plan.channel_wise);
  if (plan.algorithm == WeightAlgorithm::snq) {
    out.add("max_iteration", whole(plan.max_iteration));
    out.add("min_distance", plan.min_distance);
    out.add("init_algo", plan.init_algo);
    out.add("wts_algo", "snq_quantize");
  } else if (plan.algorithm == WeightAlgorithm::ada) {
    out.add("wts_algo", "ada_quantize");
  } else if (!in_list) {
    out.add("wts_algo", "arq_quantize");
  }
  return out;
}

[[nodiscard]] inline ConfigValue to_json(const LayerPlan& plan, bool in_list, bool activation_offset) {
  ConfigValue out;
  out.add("quant_enable", plan.enabled);
  if (plan.dmq_strength) out.add("dmq_balancer_param", *plan.dmq_strength);
  ConfigValue::List activations;
  for (const auto& activation : plan.activations)
    activations.push_back(to_json(activation, in_list, activation_offset));
  out.add("activation_quant_params", in_list ? ConfigValue(std::move(activations)) : std::move(activations.front()));
  if (plan.weights.algorithm != WeightAlgorithm::none) out.add("weight_quant_params", to_json(plan.weights, in_list));
  return out;
}

[[nodiscard]] inline ConfigValue to_json(const BatchNormUpdate& update) {
  ConfigValue out;
  out.add("bn_update_iterations", whole(update.iterations));
  out.add("bn_momentum", update.momentum);
  if (!update.dump_dir.empty()) out.add("bn_dump_dir", update.dump_dir);
  return out;
}

inline void add_globals(ConfigValue& out, const QuantPlan& plan, bool in_list) {
  out.add("version", 1);
  out.add("batch_num", whole(plan.batch_num));
  out.add("activation_offset", plan.activation_offset);
  out.add("do_fusion", plan.do_fusion);
  if (plan.force_fp16) out.add("fakequant_precision_mode", "FORCE_FP16_QUANT");
  ConfigValue::List skipped;
  for (const auto& name : plan.skip_fusion_layers) skipped.emplace_back(name);
  out.add("skip_fusion_layers", std::move(skipped));
  if (in_list || plan.batch_norm_update) out.add("update_bn", plan.batch_norm_update.has_value());
  if (plan.batch_norm_update) out.add("bn_update_config", to_json(*plan.batch_norm_update));
}

}  // namespace detail

/// The full config of a plan, with AMCT's keys in AMCT's order: what is global first, then the layers by name.
/// \throws Error config_layer for a layer that has the name of a global parameter: AMCT's format cannot hold it
[[nodiscard]] inline ConfigValue to_classic_json(const QuantPlan& plan, const FlavourRules& rules) {
  const bool in_list = rules.config_family == ConfigFamily::classic_list;
  ConfigValue out;
  detail::add_globals(out, plan, in_list);
  std::vector<const LayerPlan*> layers;
  for (const auto& layer : plan.layers) layers.push_back(&layer);
  std::sort(layers.begin(), layers.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const auto* layer : layers) {
    if (detail::is_classic_global(layer->name)) {
      throw Error(ErrorCode::config_layer, {.layer = layer->name},
                  "has the name of a parameter of the config, which cannot hold it; rename the node");
    }
    out.add(layer->name, detail::to_json(*layer, in_list, plan.activation_offset));
  }
  return out;
}

}  // namespace amct
