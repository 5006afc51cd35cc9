// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <amct/config/network.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// What configs see of a graph: its nodes and the tensors between them. Constant nodes and constant inputs are left out.
[[nodiscard]] inline Network network_of(const Graph& graph) {
  const Uses uses(graph);
  Network network;
  for (const Node& node : graph.nodes) {
    if (node.op_type == "Constant") continue;
    NetworkNode& entry = network.emplace_back();
    entry.name = node.name;
    entry.onnx_name = node.name;
    entry.op_type = node.op_type;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && uses.constant(id) == nullptr) entry.inputs.push_back(graph.value(id).name);
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) entry.outputs.push_back(graph.value(id).name);
    }
  }
  return network;
}

}  // namespace amct::graph
