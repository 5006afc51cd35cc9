// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/easy_levels.hpp>
#include <amct/config/layer_rules.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/ranges.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

namespace detail {

[[nodiscard]] inline ActivationPlan plan_of(const ActivationSetting& setting, bool activation_offset) {
  const ActivationPlan defaults;
  return {.algorithm = setting.algorithm,
          .bits = setting.bits.value_or(defaults.bits),
          .asymmetric = setting.asymmetric.value_or(activation_offset),
          .max_percentile = setting.max_percentile.value_or(defaults.max_percentile),
          .min_percentile = setting.min_percentile.value_or(defaults.min_percentile),
          .search_start = setting.search_start.value_or(defaults.search_start),
          .search_end = setting.search_end.value_or(defaults.search_end),
          .search_step = setting.search_step.value_or(defaults.search_step),
          .num_of_bins = setting.num_of_bins.value_or(defaults.num_of_bins)};
}

[[nodiscard]] inline WeightPlan plan_of(const WeightSetting& setting, bool channel_wise) {
  const WeightPlan defaults;
  return {.algorithm = setting.algorithm,
          .bits = setting.bits.value_or(setting.algorithm == WeightAlgorithm::snq ? 4 : defaults.bits),
          .channel_wise = setting.channel_wise.value_or(channel_wise),
          .num_iteration = setting.num_iteration.value_or(defaults.num_iteration),
          .reg_param = setting.reg_param.value_or(defaults.reg_param),
          .beta_start = setting.beta_start.value_or(defaults.beta_start),
          .beta_end = setting.beta_end.value_or(defaults.beta_end),
          .warm_start = setting.warm_start.value_or(defaults.warm_start),
          .max_iteration = setting.max_iteration.value_or(defaults.max_iteration),
          .min_distance = setting.min_distance.value_or(defaults.min_distance),
          .init_algo = setting.init_algo.value_or(defaults.init_algo)};
}

/// Turns settings into plans of layers.
class LayerResolver {
 public:
  LayerResolver(const EasyConfig& config, const EasyLevels& levels, const FlavourRules& rules, Diagnostics& out)
      : config_(config), levels_(levels), rules_(rules), out_(out) {}

  [[nodiscard]] LayerPlan resolve(const LayerInfo& layer);

 private:
  /// A function that reports what concerns one layer at the place of a setting.
  template <class Setting>
  [[nodiscard]] auto reporter(const LayerInfo& layer, const Setting* setting) {
    return [this, &layer, setting](bool is_error, std::string_view field, const std::string& message) {
      Where where = place(setting, field);
      where.layer = layer.name;
      if (is_error) {
        out_.error(ErrorCode::config_range, std::move(where), message);
      } else {
        out_.warning(ErrorCode::config_range, std::move(where), message);
      }
    };
  }
  template <class Setting>
  [[nodiscard]] Where place(const Setting* setting, std::string_view field) const {
    Where where = setting == nullptr ? Where{.field = std::string(field)}
                  : field.empty()    ? setting->places.block
                                     : setting->places.at(field);
    where.file = config_.file;
    return where;
  }
  /// A function that reports a value of a setting that no layer can have.
  template <class Setting>
  [[nodiscard]] auto refuser(const Setting* setting) {
    return [this, setting](std::string_view field, const std::string& got, const std::string& expected) {
      out_.error(ErrorCode::config_range, place(setting, field), "got " + got + ", expected " + expected);
    };
  }
  /// Whether a setting is met for the first time; its ranges are checked then and only then.
  [[nodiscard]] bool first_use(const void* setting) { return setting != nullptr && used_.insert(setting).second; }

  [[nodiscard]] WeightPlan weights_of(const LayerInfo& layer) {
    const auto stated = levels_.find(layer, &LayerSetting::weights);
    const bool channel_wise = may_be_channel_wise(rules_, layer.kind);
    WeightPlan plan =
        stated.setting != nullptr ? plan_of(*stated.setting, channel_wise) : WeightPlan{.channel_wise = channel_wise};
    if (first_use(stated.setting)) check_ranges(plan, rules_, refuser(stated.setting));
    fit(plan, layer, rules_, stated.named, reporter(layer, stated.setting));
    return plan;
  }

  [[nodiscard]] ActivationPlan activation_of(const LayerInfo& layer, EasyLevels::Found<ActivationSetting> stated) {
    ActivationPlan plan = stated.setting != nullptr ? plan_of(*stated.setting, config_.activation_offset)
                                                    : ActivationPlan{.asymmetric = config_.activation_offset};
    if (first_use(stated.setting)) check_ranges(plan, rules_, refuser(stated.setting));
    const bool asymmetry_stated = stated.setting != nullptr && stated.setting->asymmetric.has_value();
    fit(plan, layer, rules_, stated.named, asymmetry_stated, reporter(layer, stated.setting));
    return plan;
  }

  [[nodiscard]] std::optional<double> balance_of(const LayerInfo& layer) {
    const auto stated = levels_.find(layer, &LayerSetting::balancer);
    if (stated.setting == nullptr) return std::nullopt;
    if (first_use(stated.setting)) {
      check_migration_strength(stated.setting->migration_strength, refuser(stated.setting));
    }
    if (may_be_balanced(layer.kind)) return stated.setting->migration_strength;
    const std::string message = "dmq_balancer is not available for layer type " + type_name(layer);
    const auto report = reporter(layer, stated.setting);
    if (stated.named) {
      report(true, "", message);
    } else if (has_weights(layer.kind)) {
      report(false, "", message + "; it is not balanced");
    }
    return std::nullopt;
  }

  const EasyConfig& config_;
  const EasyLevels& levels_;
  const FlavourRules& rules_;
  Diagnostics& out_;
  std::set<const void*> used_;
};

inline LayerPlan LayerResolver::resolve(const LayerInfo& layer) {
  LayerPlan plan{.name = layer.name, .kind = layer.kind, .op_type = layer.op_type};
  plan.enabled = !levels_.skips(layer);
  plan.weights = weights_of(layer);
  const auto stated = levels_.find(layer, &LayerSetting::activation);
  const ActivationPlan activation = activation_of(layer, stated);
  check_width_pair(activation, plan.weights, rules_, reporter(layer, stated.setting));
  plan.activations.assign(static_cast<std::size_t>(std::max(layer.activation_inputs, 1)), activation);
  plan.dmq_strength = balance_of(layer);
  return plan;
}

}  // namespace detail

/// Decides for every quantizable layer of a network what an easy config wants. The most specific level counts: layer,
/// type, common, defaults. An override counts as a whole: weights, activations or balancing that it leaves out have
/// AMCT's defaults, not those of common_config (except in flavours that inherit, see FlavourRules). Asymmetry that the
/// level does not state is activation_offset. What is wrong goes to `out`, all of it; settings that apply to no layer
/// are not checked.
///
/// \param layers  the quantizable layers, in the order of the model
/// \param nodes   names of all nodes: a config may name a layer that is not quantizable, but must not invent one
/// O(layers * types named in the config).
[[nodiscard]] inline QuantPlan resolve(const EasyConfig& config, const LayerTable& layers,
                                       const std::vector<std::string>& nodes, const FlavourRules& rules,
                                       Diagnostics& out) {
  const EasyLevels levels(config, layers, nodes, rules, out);
  QuantPlan plan;
  plan.batch_num = config.batch_num.value_or(1);
  if (plan.batch_num == 0) {
    out.error(ErrorCode::config_range, config.at("batch_num"), "got 0, expected at least 1");
  }
  plan.activation_offset = config.activation_offset;
  plan.do_fusion = config.do_fusion;
  plan.force_fp16 = config.force_fp16;
  plan.skip_fusion_layers = config.skip_fusion_layers;
  plan.batch_norm_update = config.batch_norm_update;
  if (plan.batch_norm_update) {
    check_ranges(*plan.batch_norm_update, [&](std::string_view field, const std::string& got, const std::string& ok) {
      Where where = config.at("bn_update_config");
      where.field += '.' + std::string(field);
      out.error(ErrorCode::config_range, std::move(where), "got " + got + ", expected " + ok);
    });
  }
  detail::LayerResolver resolver(config, levels, rules, out);
  for (const auto& layer : layers) plan.layers.push_back(resolver.resolve(layer));
  if (std::none_of(plan.layers.begin(), plan.layers.end(), [](const auto& layer) { return layer.enabled; })) {
    out.error(ErrorCode::config_layer, {.file = config.file},
              layers.empty()
                  ? "the model has no layer that can be quantized"
                  : "every layer is skipped by skip_layers or skip_layer_types, nothing is left to quantize");
  }
  return plan;
}

}  // namespace amct
