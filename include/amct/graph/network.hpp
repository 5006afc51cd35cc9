// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include <amct/config/network.hpp>
#include <amct/graph/composites.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

[[nodiscard]] inline NetworkNode network_node(const Node& node, const Graph& graph, const Uses& uses) {
  NetworkNode entry{.name = node.name, .onnx_name = node.name, .op_type = node.op_type};
  for (const ValueId id : node.inputs) {
    if (id != kNoValue && uses.constant(id) == nullptr) entry.inputs.push_back(graph.value(id).name);
  }
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) entry.outputs.push_back(graph.value(id).name);
  }
  return entry;
}

}  // namespace detail

/// What configs see of a graph: its nodes and the tensors between them. Constant nodes and constant inputs are left
/// out. \param composites  op_types of composites that are one entry each, with the name of their last node
[[nodiscard]] inline Network network_of(const Graph& graph, std::span<const std::string_view> composites = {}) {
  const Uses uses(graph);
  const CompositeIndex index(graph, uses, composites);
  Network network;
  for (const Node& node : graph.nodes) {
    const Composite* composite = index.of(node);
    if (node.op_type == "Constant" || (composite != nullptr && composite->root != &node)) continue;
    NetworkNode entry = detail::network_node(node, graph, uses);
    if (composite != nullptr) {
      entry.op_type = composite->op_type;
      entry.inputs = {graph.value(composite->input).name};
    }
    network.push_back(std::move(entry));
  }
  return network;
}

}  // namespace amct::graph
