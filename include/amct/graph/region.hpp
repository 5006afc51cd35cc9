// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/network_checks.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/offline.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Parts of a network that stay float as a whole, such as what an application does with the network's results. AMCT's
/// users put such code into a function of its own (torch.fx.wrap); here two nodes, or a prefix of names, say the same.

namespace amct::graph {

/// A part of a network between two nodes, both included. They may be called by any of their names (ModuleNames).
struct Region {
  std::string from{};
  std::string to{};  ///< empty: everything behind `from`
};

/// Whether an operator computes on the matrix unit, so that hotwheels cannot run it in float: those that AMCT's check
/// of configs names (kCubeOperators), and MatMul.
[[nodiscard]] inline bool is_matrix_operator(std::string_view op_type) noexcept {
  return is_on_cube(op_type) || op_type == "MatMul";
}

namespace detail {

/// Some of a graph's values.
class MarkedValues {
 public:
  explicit MarkedValues(const Graph& graph) : marks_(graph.values.size(), 0) {}

  void mark(const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (id != kNoValue) marks_[static_cast<std::size_t>(id)] = 1;
    }
  }
  [[nodiscard]] bool any(const std::vector<ValueId>& ids) const {
    return std::any_of(ids.begin(), ids.end(),
                       [&](ValueId id) { return id != kNoValue && marks_[static_cast<std::size_t>(id)] != 0; });
  }

 private:
  std::vector<char> marks_;
};

}  // namespace detail

/// The nodes on any way from one node to another, both included, in model order; with a null `to` all nodes behind
/// `from`. Empty if there is no way. O(nodes)
[[nodiscard]] inline std::vector<const Node*> nodes_between(const Graph& graph, const Node& from, const Node* to) {
  detail::MarkedValues behind(graph);  // values that `from` has a part in
  std::vector<const Node*> reached;
  for (const Node& node : graph.nodes) {
    if (&node != &from && !behind.any(node.inputs)) continue;
    behind.mark(node.outputs);
    reached.push_back(&node);
  }
  if (to == nullptr) return reached;
  detail::MarkedValues needed(graph);  // values that have a part in `to`
  std::vector<const Node*> found;
  for (auto node = reached.rbegin(); node != reached.rend(); ++node) {
    if (*node != to && !needed.any((*node)->outputs)) continue;
    needed.mark((*node)->inputs);
    found.push_back(*node);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

namespace detail {

[[nodiscard]] inline const Node* node_meant(const Graph& graph, const ModuleNames& names, const std::string& name) {
  return graph.find_node(names.resolve(name));
}

/// The layers that nodes stand for; refuses those that must be quantized.
[[nodiscard]] inline std::vector<std::string> skippable_layers(const Graph& graph, const ModuleNames& names,
                                                               const std::vector<const Node*>& nodes,
                                                               const LayerTable& layers, const FlavourRules& rules,
                                                               const std::string& region) {
  std::set<std::string_view> known;
  for (const LayerInfo& layer : layers) known.insert(layer.name);
  const std::set<const Node*> offline = offline_nodes(graph);
  std::vector<std::string> found;
  for (const Node* node : nodes) {
    const std::string& key = names.key(node->name);
    if (!known.contains(key)) continue;
    if (rules.network_checks && is_matrix_operator(node->op_type) && !offline.contains(node)) {
      throw Error(ErrorCode::config_layer, {.layer = key},
                  "stands in the region " + region + " that is to stay float. Layer " + key +
                      " must be quantized as it is an operation calculated on CUBE");
    }
    found.push_back(key);
  }
  if (found.empty()) {
    throw Error(ErrorCode::config_layer, {}, "the region " + region + " has no layer that is quantized");
  }
  return found;
}

}  // namespace detail

/// The layers of a region, for the `skip_layers` of a config.
/// \param graph  as it was read, with the names that `names` was made of
/// \param layers  the quantizable layers (find_quantizable) under the names of configs
/// \throws Error config_layer for a name that means no node, or several; if no way leads from one node to the other; if
///         nothing in the region is quantized; and on hotwheels for a layer of the matrix unit, which cannot run in
///         float, unless it only depends on constants
[[nodiscard]] inline std::vector<std::string> layers_between(const Graph& graph, const ModuleNames& names,
                                                             const Region& region, const LayerTable& layers,
                                                             const FlavourRules& rules) {
  const Node* from = detail::node_meant(graph, names, region.from);
  const Node* to = region.to.empty() ? nullptr : detail::node_meant(graph, names, region.to);
  const auto nodes = nodes_between(graph, *from, to);
  if (nodes.empty()) {
    const bool turned = !nodes_between(graph, *to, from).empty();
    throw Error(ErrorCode::config_layer, {.layer = region.from},
                "no way leads from here to \"" + region.to + '"' + (turned ? ", but one leads back" : ""));
  }
  const std::string text = '"' + region.from + "\" to " + (to == nullptr ? "the end" : '"' + region.to + '"');
  return detail::skippable_layers(graph, names, nodes, layers, rules, text);
}

/// The same for the nodes whose name, or module path, begins with `prefix`: "/post/" or "post".
[[nodiscard]] inline std::vector<std::string> layers_with_prefix(const Graph& graph, const ModuleNames& names,
                                                                 const std::string& prefix, const LayerTable& layers,
                                                                 const FlavourRules& rules) {
  if (prefix.empty()) throw Error(ErrorCode::config_layer, {}, "an empty prefix means every layer");
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes) {
    const std::string& key = names.key(node.name);
    if (node.name.starts_with(prefix) || key.starts_with(prefix) || module_path(node.name).starts_with(prefix)) {
      nodes.push_back(&node);
    }
  }
  return detail::skippable_layers(graph, names, nodes, layers, rules, '"' + prefix + "...\"");
}

}  // namespace amct::graph
