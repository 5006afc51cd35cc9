// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/easy_config.hpp>
#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_fields.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/type_names.hpp>
#include <amct/config/value.hpp>
#include <amct/config/wildcard.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/flow/planned_network.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/passes/name_layers.hpp>

/// \file
/// Which level of a config decided each value of a layer: the layer's own entry, that of its type, what is common to
/// all layers, or AMCT's default.

namespace amct::flow {

/// One value of a layer's plan.
struct DecidedValue {
  std::string parameter{};  ///< as full configs call it: `activation_quant_params.num_bits`
  std::string value{};
  std::string by{};  ///< "override_layer_configs (quant.cfg:12)", "default" ...

  friend bool operator==(const DecidedValue&, const DecidedValue&) = default;
};

namespace detail {

inline constexpr const char* kByDefault = "default";

/// "common_config (quant.cfg:12)"
[[nodiscard]] inline std::string level_text(const std::string& level, const std::string& file, int line) {
  if (file.empty()) return level;
  return level + " (" + file + (line > 0 ? ':' + std::to_string(line) : "") + ')';
}

[[nodiscard]] inline std::string value_text(const ConfigValue& value) {
  if (value.list() == nullptr) return value.text() != nullptr ? *value.text() : describe(value);
  std::string text;
  for (const auto& item : *value.list()) text += (text.empty() ? "" : ", ") + value_text(item);
  return '[' + text + ']';
}

/// Walks the plan of a layer as a full config has it. `by(part, input, name)` tells who decided a value; the part is
/// the member of the layer, the name is that of the value inside, or empty.
template <class By>
[[nodiscard]] std::vector<DecidedValue> walk_plan(const ConfigValue& layer, const By& by) {
  std::vector<DecidedValue> found;
  const auto walk_part = [&](const std::string& part, const std::string& path, std::size_t input,
                             const ConfigValue& value) {
    for (const auto& [name, inner] : *value.object()) {
      if (inner.object() != nullptr) {
        for (const auto& [argument, content] : *inner.object()) {
          found.push_back({path + '.' + argument, value_text(content), by(part, input, argument)});
        }
      } else {
        found.push_back({path + '.' + name, value_text(inner), by(part, input, name)});
      }
    }
  };
  for (const auto& [part, value] : *layer.object()) {
    const auto* list = value.list();
    if (value.object() != nullptr) {
      walk_part(part, part, 0, value);
    } else if (list != nullptr) {
      for (std::size_t i = 0; i < list->size(); ++i)
        walk_part(part, part + '[' + std::to_string(i) + ']', i, (*list)[i]);
    } else {
      found.push_back({part, value_text(value), by(part, 0, "")});
    }
  }
  return found;
}

/// Levels of an easy config of the classic families.
class ClassicLevels {
 public:
  ClassicLevels(const EasyConfig& config, const LayerInfo& layer, const graph::ModuleNames& names,
                const FlavourRules& rules)
      : config_(config), layer_(layer), names_(names), rules_(rules) {}

  [[nodiscard]] std::string by(const std::string& part, const std::string& name) const {
    if (part == "quant_enable") return by_skip();
    if (part == "dmq_balancer_param") return pick(&LayerSetting::balancer, name);
    if (part == "weight_quant_params") return pick(&LayerSetting::weights, name);
    return pick(&LayerSetting::activation, name);
  }

 private:
  [[nodiscard]] bool is_layer(const std::string& name) const {
    const auto nodes = names_.meant_by(name);
    return name == layer_.name || (nodes.size() == 1 && names_.key(nodes.front()) == layer_.name);
  }

  [[nodiscard]] std::string by_skip() const {
    for (std::size_t i = 0; i < config_.skip_layers.size(); ++i) {
      const std::string& name = config_.skip_layers[i];
      if (is_layer(name) || (has_wildcards(name) && matches_wildcard(name, layer_.name))) {
        return level_text("skip_layers", config_.file, config_.at("skip_layers", i).line);
      }
    }
    for (std::size_t i = 0; i < config_.skip_layer_types.size(); ++i) {
      if (!matches_type(layer_, config_.skip_layer_types[i])) continue;
      return level_text("skip_layer_types", config_.file, config_.at("skip_layer_types", i).line);
    }
    return kByDefault;
  }

  /// The level that EasyLevels::find takes a part from, and whether it states the value.
  template <class Part>
  [[nodiscard]] std::string pick(std::optional<Part> LayerSetting::*part, const std::string& name) const {
    const auto decides = [&](const LayerSetting& setting) {
      return !rules_.overrides_inherit || (setting.*part).has_value();
    };
    const auto text = [&](const LayerSetting& setting, const std::string& level) -> std::string {
      if (!(setting.*part) || !states(*(setting.*part), name)) return otherwise(name);
      return level_text(level, config_.file, (setting.*part)->places.block.line);
    };
    for (const auto& [own, setting] : config_.layers) {
      if (is_layer(own) && decides(setting)) return text(setting, "override_layer_configs");
    }
    for (const auto& [type, setting] : config_.layer_types) {
      if (matches_type(layer_, type) && decides(setting)) return text(setting, "override_layer_types " + type);
    }
    return text(config_.common, "common_config");
  }

  /// An offset that no level states is that of the whole config.
  [[nodiscard]] std::string otherwise(const std::string& name) const {
    const bool stated = config_.places.fields.contains("activation_offset") || !config_.activation_offset;
    if (name != "asymmetric" || config_.file.empty() || !stated) return kByDefault;
    return level_text("activation_offset", config_.file, config_.at("activation_offset").line);
  }

  [[nodiscard]] static bool states(const BalancerSetting&, const std::string&) { return true; }
  [[nodiscard]] static bool states(const ActivationSetting& setting, const std::string& name) {
    if (name == "num_bits") return setting.bits.has_value();
    if (name == "asymmetric") return setting.asymmetric.has_value();
    if (name == "max_percentile") return setting.max_percentile.has_value();
    if (name == "min_percentile") return setting.min_percentile.has_value();
    if (name == "search_range") return setting.search_start || setting.search_end;
    if (name == "search_step") return setting.search_step.has_value();
    if (name == "num_of_bins") return setting.num_of_bins.has_value();
    return true;  // the algorithm
  }
  [[nodiscard]] static bool states(const WeightSetting& setting, const std::string& name) {
    if (name == "num_bits") return setting.bits.has_value();
    if (name == "channel_wise") return setting.channel_wise.has_value();
    if (name == "reg_param") return setting.reg_param.has_value();
    if (name == "warm_start") return setting.warm_start.has_value();
    if (name == "num_iteration") return setting.num_iteration.has_value();
    if (name == "beta_range") return setting.beta_start || setting.beta_end;
    if (name == "max_iteration") return setting.max_iteration.has_value();
    if (name == "min_distance") return setting.min_distance.has_value();
    if (name == "init_algo") return setting.init_algo.has_value();
    return true;
  }

  const EasyConfig& config_;
  const LayerInfo& layer_;
  const graph::ModuleNames& names_;
  const FlavourRules& rules_;
};

/// Levels of an easy config of the static graph.
class FxLevels {
 public:
  FxLevels(const FxEasyConfig& config, const LayerInfo& layer) : config_(config), layer_(layer) {
    levels_.push_back({"common_config", &config.common});
    for (const auto& entry : config.type_entries) {
      if (entry.matches(layer)) levels_.push_back({entry.field, &entry.setting});
    }
    if (const auto* own = config.entry_of(layer.name)) levels_.push_back({own->field, &own->setting});
  }

  [[nodiscard]] std::string by(const std::string& part, std::size_t input, const std::string& name) const {
    if (part == "quant_enable") return by_switch();
    std::string decided = kByDefault;
    bool type_seen = false;
    for (const auto& [field, setting] : levels_) {
      const fx::Part* stated = part == "weight_quant_params"
                                   ? (setting->weights ? &*setting->weights : nullptr)
                                   : fx::part_for(*setting, input, static_cast<std::size_t>(layer_.activation_inputs));
      const bool is_type = field.starts_with("override_layer_types");
      if (stated == nullptr || (is_type && type_seen)) continue;
      type_seen = type_seen || is_type;
      if (stated->quantizer) decided = kByDefault;  // nothing is inherited then
      const ConfigValue* argument = stated->args.find(name);
      if (name == "quantizer" && stated->quantizer) decided = level_text(field, config_.file, stated->line);
      else if (argument != nullptr) decided = level_text(field, config_.file, argument->line);
    }
    return decided;
  }

 private:
  [[nodiscard]] std::string by_switch() const {
    if (config_.skipped.contains(layer_.name)) return level_text("skip_layers", config_.file, 0);
    std::string decided = kByDefault;
    bool type_seen = false;
    for (const auto& [field, setting] : levels_) {
      const bool is_type = field.starts_with("override_layer_types");
      if (is_type && type_seen) continue;
      type_seen = type_seen || is_type;
      // An entry for the layer or its type switches it on even without saying so.
      if (setting->quant_enable || field != "common_config") decided = level_text(field, config_.file, 0);
    }
    return decided;
  }

  const FxEasyConfig& config_;
  const LayerInfo& layer_;
  std::vector<std::pair<std::string, const fx::Setting*>> levels_;
};

/// Where a full config states a value.
[[nodiscard]] inline std::string by_full_config(const ConfigValue& config, const std::string& file,
                                                const std::string& layer, const std::string& part, std::size_t input,
                                                const std::string& name) {
  const ConfigValue* entry = config.find(layer);
  const ConfigValue* value = entry != nullptr ? entry->find(part) : nullptr;
  if (value != nullptr && value->list() != nullptr) {
    value = input < value->list()->size() ? &(*value->list())[input] : nullptr;
  }
  if (value != nullptr && !name.empty()) {
    const ConfigValue* arguments = value->find("quantizer_args");
    const ConfigValue* argument = arguments != nullptr ? arguments->find(name) : nullptr;
    value = argument != nullptr ? argument : value->find(name);
  }
  if (value != nullptr) return level_text("the layer", file, value->line);
  return entry == nullptr ? level_text("the layer is not named", file, 0) : kByDefault;
}

/// A layer's plan as full configs have it.
[[nodiscard]] inline std::optional<ConfigValue> plan_json(const PlannedNetwork& network, const std::string& layer) {
  if (const auto* classic = std::get_if<QuantPlan>(&network.plan)) {
    const LayerPlan* plan = classic->find(layer);
    const bool in_list = network.rules().config_family == ConfigFamily::classic_list;
    if (plan != nullptr) return amct::detail::to_json(*plan, in_list, classic->activation_offset);
    return {};
  }
  const FxLayerPlan* plan = std::get<FxPlan>(network.plan).find(layer);
  return plan == nullptr ? std::nullopt : std::optional(fx::to_json(*plan));
}

}  // namespace detail

/// Who decided each value of a layer's plan; empty if the config leaves the layer out.
/// \param names   of the network as it was read
/// \param config  that the network was planned by, with the user's names
[[nodiscard]] inline std::vector<DecidedValue> decided_values(const PlannedNetwork& network, const AnyConfig& config,
                                                              const graph::ModuleNames& names, const LayerInfo& layer) {
  const auto plan = detail::plan_json(network, layer.name);
  if (!plan) return {};
  Diagnostics ignored;  // planning has shown them
  const LayerNamer namer = graph::layer_namer(names, ignored);
  if (const auto* easy = std::get_if<EasyConfig>(&config.content);
      easy != nullptr && network.rules().config_family != ConfigFamily::fx) {
    const detail::ClassicLevels levels(*easy, layer, names, network.rules());
    return detail::walk_plan(*plan,
                             [&](const auto& part, std::size_t, const auto& name) { return levels.by(part, name); });
  }
  if (const auto* full = std::get_if<FullConfigText>(&config.content)) {
    ConfigValue value = full->value;
    rename_layers(value, config.file, namer);
    return detail::walk_plan(*plan, [&](const auto& part, std::size_t input, const auto& name) {
      return detail::by_full_config(value, config.file, layer.name, part, input, name);
    });
  }
  const auto* text = std::get_if<FxEasyText>(&config.content);
  ConfigValue value = text != nullptr ? text->value : ConfigValue();
  rename_layers(value, config.file, namer);
  std::vector<std::string> nodes;
  for (const auto& node : network.graph.nodes) nodes.push_back(node.name);
  const NetworkNames known(network.layers, nodes);
  const FxEasyConfig easy = read_fx_easy(value, config.file, network.layers, known, network.rules(), ignored);
  const detail::FxLevels levels(easy, layer);
  return detail::walk_plan(
      *plan, [&](const auto& part, std::size_t input, const auto& name) { return levels.by(part, input, name); });
}

}  // namespace amct::flow
