// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>
#include <amct/graph/weight_levels.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

namespace detail {

/// The layers that compute in integers by the name of the node that makes their accumulator: the layer itself, or the
/// Add behind a MatMul whose bias is in integers.
[[nodiscard]] inline std::map<std::string, DeployedLayer> accumulators(const Graph& graph, const Record& record,
                                                                       const Uses& uses) {
  std::map<std::string, DeployedLayer> found;
  for_each_deployed_layer(graph, record, uses, [&](const Node& node, DeployedLayer layer) {
    if (!layer.computes_in_integers) return;
    const Node* add = integer_bias_add(node, uses);
    found[add == nullptr ? node.name : add->name] = std::move(layer);
  });
  return found;
}

}  // namespace detail

/// Puts an AscendDequant node `<layer>.dequant` behind each layer of the record that computes in integers, behind the
/// Add of a MatMul whose bias is int32. If the layer made a graph output, the dequant node makes it now and the layer's
/// own result is called `<layer>_output0`. The node of a non-uniform layer lists the codes of its weights in the
/// attribute `weight_levels`.
inline void insert_dequant(Graph& graph, const Record& record) {
  const Uses uses(graph);
  const auto accumulators = detail::accumulators(graph, record, uses);
  UniqueNames names(graph);
  std::vector<Node> nodes;
  for (auto& node : graph.nodes) {
    const auto found = accumulators.find(node.name);
    if (found == accumulators.end()) {
      nodes.push_back(std::move(node));
      continue;
    }
    const DeployedLayer& layer = found->second;
    const std::string& layer_name = layer.record->name;
    const ValueId result = node.outputs[0];
    const std::string name = names.node(layer_name + ".dequant");
    const ValueId parameter = add_initializer(graph, names.value(name + ".param"),
                                              dequant_parameter(layer.scale_d, layer.scale_w, layer.record->shift_bit));
    // Everyone who reads the layer's value shall get the dequantized one, so that value now comes from the dequant
    // node; only the names decide which of the two a file shows under the old name.
    const ValueId accumulator = graph.add_value(graph.value(result));
    if (uses.is_graph_output(result)) {
      graph.value(accumulator).name = names.value(layer_name + "_output0");
    } else {
      graph.value(result).name = names.value(name + ".output0");
    }
    node.outputs[0] = accumulator;
    nodes.push_back(std::move(node));
    Node dequant{std::string(kDequantOp), "", name, {accumulator, parameter}, {result}, {{"dtype", std::int64_t{0}}}};
    if (const auto levels = weight_levels(*layer.record); !levels.empty()) {
      dequant.set_attribute("weight_levels", std::vector<std::int64_t>(levels.codes.begin(), levels.codes.end()));
    }
    nodes.push_back(std::move(dequant));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace amct::graph
