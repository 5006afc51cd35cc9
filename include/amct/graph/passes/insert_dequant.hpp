// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/uses.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// The parameter of AscendDequant: one uint64 a channel with the float32 bits of scale_d * scale_w in bits 31..0.
/// The fields above (offset_w, shift) are zero.
[[nodiscard]] inline Tensor dequant_parameter(float scale_d, const std::vector<float>& scale_w) {
  Tensor parameter(ElementType::uint64, Shape{static_cast<std::int64_t>(scale_w.size())});
  for (std::size_t c = 0; c < scale_w.size(); ++c) {
    parameter.data<std::uint64_t>()[c] = std::bit_cast<std::uint32_t>(accumulator_scale(scale_d, scale_w[c]));
  }
  return parameter;
}

namespace detail {

/// The layers of the record by the name of the node that makes their accumulator: the layer itself, or the Add behind a
/// MatMul whose bias is in integers.
[[nodiscard]] inline std::map<std::string, const LayerRecord*> accumulators(const Graph& graph, const Record& record,
                                                                            const Uses& uses) {
  std::map<std::string, const LayerRecord*> found;
  for (const auto& layer : record) {
    const Node* node = graph.find_node(layer.name);
    if (node == nullptr) continue;
    const Node* add = integer_bias_add(*node, uses);
    found[add == nullptr ? node->name : add->name] = &layer;
  }
  return found;
}

}  // namespace detail

/// Puts an AscendDequant node `<layer>.dequant` behind each layer of the record, behind the Add of a MatMul whose bias
/// is int32. If the layer made a graph output, the dequant node makes it now and the layer's own result is called
/// `<layer>_output0`.
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
    const LayerRecord* layer = found->second;
    const ValueId result = node.outputs[0];
    const std::string name = names.node(layer->name + ".dequant");
    const ValueId parameter =
        add_initializer(graph, names.value(name + ".param"), dequant_parameter(*layer->scale_d, layer->scale_w));
    // Everyone who reads the layer's value shall get the dequantized one, so that value now comes from the dequant
    // node; only the names decide which of the two a file shows under the old name.
    const ValueId accumulator = graph.add_value(graph.value(result));
    if (uses.is_graph_output(result)) {
      graph.value(accumulator).name = names.value(layer->name + "_output0");
    } else {
      graph.value(result).name = names.value(name + ".output0");
    }
    node.outputs[0] = accumulator;
    nodes.push_back(std::move(node));
    nodes.push_back({"AscendDequant", "", name, {accumulator, parameter}, {result}, {{"dtype", std::int64_t{0}}}});
  }
  graph.nodes = std::move(nodes);
}

}  // namespace amct::graph
