// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/type_names.hpp>
#include <amct/config/wildcard.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// The levels of an easy config for one network. The constructor checks every name of the config and reports what is
/// wrong; find() and skips() then look a layer up.
class EasyLevels {
 public:
  EasyLevels(const EasyConfig& config, const LayerTable& layers, const std::vector<std::string>& nodes,
             const FlavourRules& rules, Diagnostics& out)
      : config_(config), layers_(layers), rules_(rules), out_(out), network_(layers, nodes) {
    take_skip_layers();
    take_skip_types();
    take_overrides();
    check_skip_fusion(
        config.skip_fusion_layers, network_, rules, [&](std::size_t i) { return config.at("skip_fusion_layers", i); },
        out);
  }

  [[nodiscard]] bool skips(const LayerInfo& layer) const {
    return skipped_.contains(layer.name) ||
           std::any_of(skip_types_.begin(), skip_types_.end(),
                       [&](const std::string* type) { return matches_type(layer, *type); });
  }

  /// A part's setting, null if there is none, and whether it names the layer or its type.
  template <class Part>
  struct Found {
    const Part* setting = nullptr;
    bool named = false;
  };

  /// The most specific level decides: layer, then the first type that fits, then common. A part that it leaves out has
  /// defaults, or comes from the level above where the flavour inherits.
  template <class Part>
  [[nodiscard]] Found<Part> find(const LayerInfo& layer, std::optional<Part> LayerSetting::*part) const {
    const auto decides = [&](const LayerSetting& setting) {
      return !rules_.overrides_inherit || (setting.*part).has_value();
    };
    const auto found = [&](const LayerSetting& setting, bool named) -> Found<Part> {
      if (!(setting.*part).has_value()) return {};
      return {&*(setting.*part), named};
    };
    const auto own = overrides_.find(layer.name);
    if (own != overrides_.end() && decides(*own->second)) return found(*own->second, true);
    for (const auto* entry : type_overrides_) {
      if (matches_type(layer, entry->first) && decides(entry->second)) return found(entry->second, true);
    }
    return found(config_.common, false);
  }

 private:
  void error(const Where& where, const std::string& message) { out_.error(ErrorCode::config_layer, where, message); }

  void warn_if_not_quantizable(const std::string& name, const Where& where) {
    if (network_.layer(name) != nullptr) return;
    out_.warning(ErrorCode::config_layer, where, "\"" + name + "\" is no layer that is quantized; it changes nothing");
  }

  void take_skip_layers() {
    std::set<std::string_view> seen;
    std::size_t patterns = 0;
    for (std::size_t i = 0; i < config_.skip_layers.size(); ++i) {
      const std::string& name = config_.skip_layers[i];
      const Where where = config_.at("skip_layers", i);
      if (!detail::require_new(seen, name, where, out_)) continue;
      if (has_wildcards(name) && !network_.has(name)) {
        take_pattern(name, where, ++patterns);
      } else if (network_.require(name, where, out_)) {
        warn_if_not_quantizable(name, where);
        skipped_.insert(name);
      }
    }
  }

  void take_pattern(const std::string& pattern, const Where& where, std::size_t count) {
    constexpr std::size_t kMostPatterns = 1000;
    if (count == kMostPatterns + 1) error(where, "there are more than 1000 patterns");
    if (count > kMostPatterns) return;
    bool found = false;
    for (const auto& layer : layers_) {
      if (!matches_wildcard(pattern, layer.name)) continue;
      skipped_.insert(layer.name);
      found = true;
    }
    if (!found) error(where, "no layer that is quantized matches \"" + pattern + "\"");
  }

  /// Whether the flavour quantizes layers of a type; says so if it does not.
  bool check_type(const std::string& type, const Where& where) {
    const LayerPattern* pattern = find_type(type);
    if (pattern == nullptr) {
      constexpr std::size_t kMostSuggestions = 20;  // they take time
      const bool suggest = out_.all().size() < kMostSuggestions;
      error(where, suggest ? describe_unknown_type(type) + "; expected " + quantized_types(rules_)
                           : "layer type \"" + type + "\" is not known");
      return false;
    }
    const bool in_network =
        std::any_of(layers_.begin(), layers_.end(), [&](const auto& layer) { return pattern->matches(layer); });
    const bool possible = in_network ||
                          std::any_of(rules_.weighted_kinds.begin(), rules_.weighted_kinds.end(),
                                      [&](LayerKind kind) { return pattern->has_kind(kind); }) ||
                          std::any_of(rules_.data_operators.begin(), rules_.data_operators.end(),
                                      [&](std::string_view op_type) { return pattern->has_operator(op_type); });
    if (!possible) {
      error(where, "layers of type \"" + type + "\" are not quantized by flavour " + std::string(rules_.name) +
                       ", expected " + quantized_types(rules_));
    } else if (!in_network) {
      out_.warning(ErrorCode::config_layer, where, "the model has no layer of type \"" + type + '"');
    }
    return possible;
  }

  void take_skip_types() {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < config_.skip_layer_types.size(); ++i) {
      const std::string& type = config_.skip_layer_types[i];
      const Where where = config_.at("skip_layer_types", i);
      if (detail::require_new(seen, type, where, out_) && check_type(type, where)) skip_types_.push_back(&type);
    }
  }

  void take_overrides() {
    std::set<std::string_view> seen_types;
    for (std::size_t i = 0; i < config_.layer_types.size(); ++i) {
      const auto& entry = config_.layer_types[i];
      const Where where = config_.at("override_layer_types", i);
      if (detail::require_new(seen_types, entry.first, where, out_) && check_type(entry.first, where))
        type_overrides_.push_back(&entry);
    }
    std::set<std::string_view> seen_names;
    for (std::size_t i = 0; i < config_.layers.size(); ++i) {
      const auto& [name, setting] = config_.layers[i];
      const Where where = config_.at("override_layer_configs", i);
      if (!detail::require_new(seen_names, name, where, out_) || !network_.require(name, where, out_)) continue;
      warn_if_not_quantizable(name, where);
      overrides_.emplace(name, &setting);
    }
  }

  const EasyConfig& config_;
  const LayerTable& layers_;
  const FlavourRules& rules_;
  Diagnostics& out_;
  NetworkNames network_;
  std::unordered_set<std::string> skipped_;
  std::vector<const std::string*> skip_types_;
  std::vector<const std::pair<std::string, LayerSetting>*> type_overrides_;
  std::unordered_map<std::string_view, const LayerSetting*> overrides_;
};

}  // namespace amct
