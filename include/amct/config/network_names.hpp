// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <amct/config/layer_rules.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/nearest.hpp>

namespace amct {

/// The names of a network, to check those of a config against. Look-ups take constant time.
class NetworkNames {
 public:
  /// \param layers  the quantizable layers; must outlive this
  /// \param nodes   names of all nodes; must outlive this
  NetworkNames(const LayerTable& layers, const std::vector<std::string>& nodes)
      : nodes_(nodes), node_set_(nodes.begin(), nodes.end()) {
    for (const auto& layer : layers) layers_.emplace(layer.name, &layer);
  }

  /// The quantizable layer of this name; null if there is none.
  [[nodiscard]] const LayerInfo* layer(std::string_view name) const {
    const auto found = layers_.find(name);
    return found == layers_.end() ? nullptr : found->second;
  }
  [[nodiscard]] bool has(std::string_view name) const { return node_set_.contains(name) || layers_.contains(name); }

  /// Whether a node has this name; reports the nearest names if none has.
  bool require(const std::string& name, const Where& where, Diagnostics& out) const {
    if (has(name)) return true;
    // Suggestions take time, and nobody reads more than the first findings.
    constexpr std::size_t kMostSuggestions = 20;
    const std::string suggestion =
        out.all().size() < kMostSuggestions ? did_you_mean(nearest_names(name, nodes_)) : std::string();
    out.error(ErrorCode::config_layer, where, "there is no layer \"" + name + "\" in the model" + suggestion);
    return false;
  }

 private:
  const std::vector<std::string>& nodes_;
  std::unordered_set<std::string_view> node_set_;
  std::unordered_map<std::string_view, const LayerInfo*> layers_;
};

namespace detail {

/// False for a name that came before, which is an error.
inline bool require_new(std::set<std::string_view>& seen, const std::string& name, const Where& where,
                        Diagnostics& out) {
  if (seen.insert(name).second) return true;
  out.error(ErrorCode::config_layer, where, "\"" + name + "\" is given more than once");
  return false;
}

}  // namespace detail

/// Checks skip_fusion_layers: only convolutions take in a BatchNormalization, so only they can be told not to. What is
/// no quantized layer may be a convolution nevertheless.
/// \param place  where an entry stands
inline void check_skip_fusion(const std::vector<std::string>& names, const NetworkNames& network,
                              const FlavourRules& rules, const std::function<Where(std::size_t)>& place,
                              Diagnostics& out) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Where where = place(i);
    if (!detail::require_new(seen, names[i], where, out) || !network.require(names[i], where, out)) continue;
    const LayerInfo* layer = network.layer(names[i]);
    if (layer == nullptr || may_fuse(rules, layer->kind)) continue;
    out.error(ErrorCode::config_layer, where,
              "\"" + names[i] + "\" is a " + type_name(*layer) + " layer, expected " + fusable_types(rules));
  }
}

}  // namespace amct
