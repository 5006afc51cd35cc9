// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

namespace detail {

/// The node before which the quant node of a layer stands: the layer itself, or, for an AveragePool, the Pad that feeds
/// it alone with a constant zero border.
[[nodiscard]] inline const Node& quant_position(const Node& layer, const Uses& uses) {
  if (layer.op_type != "AveragePool") return layer;
  const Node* pad = uses.producer(layer.input(0));
  if (pad == nullptr || pad->op_type != "Pad" || !uses.has_single_use(layer.input(0))) return layer;
  if (pad->attribute_or<std::string>("mode", "constant") != "constant") return layer;
  if (const ValueId border = pad->input(2); border != kNoValue) {
    const Tensor* value = uses.constant(border);
    if (value == nullptr || value->type() != ElementType::float32 || value->size() != 1 ||
        value->data<float>()[0] != 0.0F)
      return layer;
  }
  return *pad;
}

}  // namespace detail

/// Puts an AscendQuant node `<layer>.quant` before each layer of the record: attributes scale = 1/scale_d, offset and
/// dst_type. Layers that read the same value with equal scale, offset and type share the node of the first.
inline void insert_quant(Graph& graph, const Record& record) {
  const Uses uses(graph);
  std::map<std::string, const LayerRecord*> quant_before;  // name of the node that reads the quant node -> its layer
  for (const auto& layer : record) {
    if (const Node* node = graph.find_node(layer.name)) quant_before[detail::quant_position(*node, uses).name] = &layer;
  }

  UniqueNames names(graph);
  std::map<std::tuple<ValueId, float, std::int32_t, std::string>, ValueId> shared;
  std::vector<Node> nodes;
  for (auto& node : graph.nodes) {
    if (const auto found = quant_before.find(node.name); found != quant_before.end()) {
      const LayerRecord& layer = *found->second;
      const float inverse = 1.0F / *layer.scale_d;
      const std::string type = layer.act_type.value_or("INT8");
      auto [entry, is_new] = shared.try_emplace({node.inputs[0], inverse, *layer.offset_d, type}, kNoValue);
      if (is_new) {
        const std::string name = names.node(layer.name + ".quant");
        entry->second = graph.add_value({.name = names.value(name + ".output0")});
        nodes.push_back({"AscendQuant",
                         "",
                         name,
                         {node.inputs[0]},
                         {entry->second},
                         {{"scale", inverse}, {"offset", static_cast<float>(*layer.offset_d)}, {"dst_type", type}}});
      }
      node.inputs[0] = entry->second;
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace amct::graph
