// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/fx_checks.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/network.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/om.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/network.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/quantize/registry.hpp>

/// \file
/// A network and what a config of any family makes of it, without data: for those who look at networks before they
/// calibrate them.

namespace amct::flow {

/// An easy config of the static graph.
struct FxEasyText {
  ConfigValue value{};
};

/// A full config (config.json) of any family.
struct FullConfigText {
  ConfigValue value{};
};

/// A config of any family. What it starts as are AMCT's defaults for the classic families.
struct AnyConfig {
  std::variant<EasyConfig, FxEasyText, FullConfigText> content{};
  std::string file{};  ///< for messages; empty = defaults
};

/// What a config makes of a network.
struct PlannedNetwork {
  graph::Graph graph{};  ///< in the form that is calibrated, nodes called as configs call them
  LayerTable layers{};   ///< all quantizable layers
  Network network{};     ///< as checks of configs see it
  std::variant<QuantPlan, FxPlan> plan{};
  NetworkQuantization quantization{};           ///< the plan in the form in which layers can be compared
  std::vector<graph::FloatLayer> left_float{};  ///< layers of quantizable types that stay float, and why
  Origins origins{};
  Diagnostics diagnostics{};  ///< of the config, and of the network checks but for siblings (graph/find_siblings.hpp)
  Flavour flavour = Flavour::pytorch;

  [[nodiscard]] const FlavourRules& rules() const noexcept { return rules_of(flavour); }
  /// The names of the layers that are quantized.
  [[nodiscard]] std::set<std::string> quantized() const {
    std::set<std::string> names;
    for (const auto& [name, layer] : quantization) {
      if (layer.enabled) names.insert(name);
    }
    return names;
  }
};

namespace detail {

/// Adds layers to those that a config leaves float, which may call them by other names.
inline void leave_float_too(AnyConfig& config, const std::vector<std::string>& skip, const graph::Graph& graph) {
  if (skip.empty()) return;
  if (auto* easy = std::get_if<EasyConfig>(&config.content)) {
    easy->skip_layers.insert(easy->skip_layers.end(), skip.begin(), skip.end());
    return;
  }
  if (auto* full = std::get_if<FullConfigText>(&config.content)) {
    if (full->value.object() == nullptr) return;
    const graph::ModuleNames names(graph);
    Diagnostics ignored;  // planning finds them too
    rename_layers(full->value, config.file, graph::layer_namer(names, ignored));
    std::erase_if(*full->value.object(),
                  [&](const auto& member) { return std::find(skip.begin(), skip.end(), member.name) != skip.end(); });
    return;
  }
  ConfigValue& value = std::get<FxEasyText>(config.content).value;
  ConfigValue::List names;
  if (const ConfigValue* stated = value.find("skip_layers"); stated != nullptr && stated->list() != nullptr) {
    names = *stated->list();
  }
  for (const auto& name : skip) names.emplace_back(name);
  if (value.object() != nullptr) {
    std::erase_if(*value.object(), [](const auto& member) { return member.name == "skip_layers"; });
  }
  value.add("skip_layers", std::move(names));
}

/// Sees a plan as checks of configs do, and adds what they find. Siblings are left to graph/find_siblings.hpp.
inline void check_plan(PlannedNetwork& network, const std::string& config_file) {
  const FlavourRules& rules = network.rules();
  if (const auto* classic = std::get_if<QuantPlan>(&network.plan)) {
    network.quantization = network_quantization(*classic, network.layers);
  } else {
    network.quantization = network_quantization(std::get<FxPlan>(network.plan), network.layers, rules);
  }
  if (!rules.network_checks) return;
  check_network(network.network, network.quantization, rules, config_file, network.diagnostics, Siblings::pass);
}

[[nodiscard]] inline PlannedNetwork planned(Prepared prepared) {
  PlannedNetwork result;
  result.flavour = prepared.flavour;
  const FlavourRules& rules = result.rules();
  result.layers = graph::find_quantizable(prepared.graph, rules).layers;
  result.network = graph::network_of(prepared.graph, rules.data_operators);
  result.diagnostics = std::move(prepared.diagnostics);
  result.graph = std::move(prepared.graph);
  result.plan = std::move(prepared.plan);
  result.left_float = std::move(prepared.left_float);
  result.origins = std::move(prepared.origins);
  check_plan(result, prepared.config_file);
  return result;
}

[[nodiscard]] inline PlannedNetwork planned(PreparedFx prepared) {
  PlannedNetwork result;
  result.flavour = prepared.flavour;
  result.diagnostics = std::move(prepared.diagnostics);
  result.graph = std::move(prepared.graph);
  result.layers = std::move(prepared.layers);
  result.network = std::move(prepared.network);
  result.plan = std::move(prepared.plan);
  result.left_float = std::move(prepared.left_float);
  result.origins = std::move(prepared.origins);
  check_plan(result, prepared.config_file);
  return result;
}

}  // namespace detail

/// Plans a network by a config of its flavour's family. What network checks find is in `diagnostics` only, errors
/// too. \param skip  layers that stay float beside those that the config names, as graph::layers_between gives them
/// \throws Error of the config
[[nodiscard]] inline PlannedNetwork plan_network(graph::Graph graph, AnyConfig config,
                                                 const std::vector<std::string>& skip, const FlavourRules& rules,
                                                 const QuantizerRegistry& registry, const exec::OpSet& ops,
                                                 const OmMapping& mapping = {}) {
  detail::leave_float_too(config, skip, graph);
  const bool is_fx = rules.config_family == ConfigFamily::fx;
  auto* full = std::get_if<FullConfigText>(&config.content);
  if (!is_fx && full != nullptr) {
    return detail::planned(prepare(std::move(graph), std::move(full->value), config.file, rules, ops));
  }
  if (!is_fx) {
    const auto& easy = std::get<EasyConfig>(config.content);
    Prepared prepared = prepare(std::move(graph), easy, ops, rules);
    if (easy.om_mapping_file && mapping.read) {
      const auto operators = read_om(mapping.read(*easy.om_mapping_file), *easy.om_mapping_file, prepared.diagnostics);
      (void)apply_om(prepared.plan, operators, mapping.scope);
      prepared.diagnostics.throw_if_errors();
    }
    return detail::planned(std::move(prepared));
  }
  detail::FxPreparation preparation(std::move(graph), config.file, rules, ops);
  if (full != nullptr) {
    return detail::planned(preparation.run(
        full->value, registry,
        [&](const ConfigValue& value, const NetworkNames& names, const PreparedFx& result, Diagnostics& out) {
          return from_fx_json(value, config.file, result.layers, names, rules, out);
        }));
  }
  const auto* text = std::get_if<FxEasyText>(&config.content);
  return detail::planned(preparation.run(
      text != nullptr && !text->value.is_null() ? text->value : ConfigValue(ConfigValue::Object{}), registry,
      [&](const ConfigValue& value, const NetworkNames& names, const PreparedFx& result, Diagnostics& out) {
        const FxEasyConfig easy = read_fx_easy(value, config.file, result.layers, names, rules, out);
        FxPlan plan = resolve_fx(easy, result.layers, rules, out);
        align_no_command_layers(plan, result.network);
        detail::follow_mapping(plan, easy, mapping, out);
        return plan;
      }));
}

}  // namespace amct::flow
