// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/layer_references.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>

namespace amct::graph {

/// Gives every node the name that configs and records use: its module path where there is one (ModuleNames::key).
/// \return the renamed nodes: the new name and that of the file
inline std::map<std::string, std::string> name_layers(Graph& graph, const ModuleNames& names) {
  std::map<std::string, std::string> renamed;
  for (auto& node : graph.nodes) {
    const std::string& key = names.key(node.name);
    if (key == node.name) continue;
    renamed.emplace(key, node.name);
    node.name = key;
  }
  return renamed;
}

/// Finds the layers that a config names, in a network whose nodes are called as name_layers() calls them. A name that
/// may mean several nodes goes to `out` as an error; unknown ones stay, for whoever reads the config to report.
/// `names` and `out` must outlive the result.
[[nodiscard]] inline LayerNamer layer_namer(const ModuleNames& names, Diagnostics& out) {
  return [&names, &out](const std::string& name, const Where& where) {
    const auto nodes = names.meant_by(name);
    if (nodes.size() == 1) return names.key(nodes.front());
    if (nodes.size() > 1) {
      out.error(ErrorCode::config_layer, where, '"' + name + "\" " + ModuleNames::ambiguity(nodes));
    }
    return name;
  };
}

}  // namespace amct::graph
