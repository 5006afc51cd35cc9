// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// How the channels of a layer's weight are scaled: as many as its record has weight scales.
[[nodiscard]] inline ChannelLayout scale_layout(const Node& node, const Tensor& weight, std::size_t scales) {
  return scales == 1 ? ChannelLayout::per_tensor(weight.size()) : weight_layout(node, weight.shape());
}

namespace detail {

/// A weight as one layer reads it: the same data with the same scales and channels have the same codes.
struct WeightUse {
  ValueId id = kNoValue;
  std::vector<float> scales{};
  std::array<std::size_t, 4> layout{};

  friend auto operator<=>(const WeightUse&, const WeightUse&) = default;
};

[[nodiscard]] inline WeightUse weight_use(const Node& node, const Graph& graph, const LayerRecord& layer) {
  const ValueId id = node.input(kWeightInput);
  const ChannelLayout layout = scale_layout(node, *graph.value(id).initializer, layer.scale_w.size());
  return {id, layer.scale_w, {layout.groups, layout.outer, layout.channels_per_group, layout.inner}};
}

[[nodiscard]] inline Tensor weight_codes(const Node& node, const Tensor& weight, const std::vector<float>& scales) {
  Tensor codes(ElementType::int8, weight.shape());
  for_each_run(
      scale_layout(node, weight, scales.size()), [&](std::size_t channel, std::size_t first, std::size_t count) {
        quantize<DivideAddRound>(weight.data<float>().subspan(first, count),
                                 codes.data<std::int8_t>().subspan(first, count), {scales[channel], 0}, Int8::range);
      });
  return codes;
}

}  // namespace detail

/// Replaces the float weights of the record's layers by INT8 codes. AveragePool has none. Layers that share a weight
/// and its scales share the codes; whoever reads the weight otherwise still sees floats, and the codes are a new
/// initializer `<weight>_quantized`.
/// \pre the record fits the graph: each layer exists and has 1 or Cout usable weight scales
inline void quantize_weights(Graph& graph, const Record& record) {
  const Uses uses(graph);
  UniqueNames names(graph);
  std::map<detail::WeightUse, std::vector<Node*>> layers;
  for (const auto& layer : record) {
    Node* node = graph.find_node(layer.name);
    if (node == nullptr || node->input(kWeightInput) == kNoValue) continue;
    layers[detail::weight_use(*node, graph, layer)].push_back(node);
  }
  for (const auto& [use, nodes] : layers) {
    Tensor codes = detail::weight_codes(*nodes.front(), *graph.value(use.id).initializer, use.scales);
    if (uses.consumers(use.id).size() == nodes.size() && !uses.is_graph_output(use.id)) {
      replace_initializer(graph, use.id, std::move(codes));
      continue;
    }
    const ValueId own = add_initializer(graph, names.value(graph.value(use.id).name + "_quantized"), std::move(codes));
    for (Node* node : nodes) node->inputs[kWeightInput] = own;
  }
  remove_unused(graph);
}

}  // namespace amct::graph
