// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/nearest.hpp>

namespace amct {

/// Calls `visit` with each layer that has a member in a full config, in the order of the model. A member that is
/// neither a layer nor one of `parameters` is an error. O(members log layers).
inline void visit_layer_members(const ConfigValue& value, const std::string& file, const LayerTable& layers,
                                std::span<const std::string_view> parameters, Diagnostics& out,
                                const std::function<void(const LayerInfo&, const ConfigValue&)>& visit) {
  constexpr std::size_t kMostSuggestions = 20;
  const auto* const members = value.object();
  if (members == nullptr) return;
  std::map<std::string_view, std::size_t> index;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    index.emplace(layers[i].name, i);
    names.push_back(layers[i].name);
  }
  std::vector<const ConfigValue*> found(layers.size(), nullptr);
  for (const auto& [name, member] : *members) {
    if (const auto known = index.find(name); known != index.end()) {
      found[known->second] = &member;
    } else if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
      out.error(ErrorCode::config_layer, {.file = file, .line = member.line, .column = member.column, .field = name},
                "is neither a parameter nor a layer that can be configured here" +
                    (out.all().size() < kMostSuggestions ? did_you_mean(nearest_names(name, names)) : ""));
    }
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (found[i] != nullptr) visit(layers[i], *found[i]);
  }
}

}  // namespace amct
