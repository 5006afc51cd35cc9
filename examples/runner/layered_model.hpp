// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/network.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/capacity.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>

namespace runner {

/// What a network is to a config: its layers and their names.
struct LayeredModel {
  amct::graph::ModuleNames names;
  amct::LayerTable layers;
  std::vector<std::string> nodes;
  amct::Network network;
  std::map<std::string, std::size_t> weights;  ///< how many a layer has, for those that have any

  /// \param graph  as it was read \param capacity  operators that are quantized beside those of the flavour
  LayeredModel(amct::graph::Graph graph, const amct::FlavourRules& rules, const amct::graph::Capacity& capacity = {});

  /// Lets a config call layers by any of their names. \param config  an easy config, or a value
  void name_layers(amct::EasyConfig& config, amct::Diagnostics& out) const;
  void name_layers(amct::ConfigValue& config, const std::string& file, amct::Diagnostics& out) const;
};

/// The operators that a user wants quantized beside those of the flavour; an empty name: none.
/// \throws amct::Error of the file
[[nodiscard]] amct::graph::Capacity read_capacity(const std::string& file);

/// Shows warnings, and throws the errors as one.
void settle(const amct::Diagnostics& out);

}  // namespace runner
