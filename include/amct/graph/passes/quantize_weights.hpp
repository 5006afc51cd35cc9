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
#include <amct/graph/op_table.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// How the channels of a layer's weight are scaled: as many as its record has weight scales.
[[nodiscard]] inline ChannelLayout scale_layout(const Node& node, const Tensor& weight, std::size_t scales) {
  return scales == 1 ? ChannelLayout::per_tensor(weight.size()) : weight_layout(node, weight.shape());
}

/// Replaces the float weights of the record's layers by INT8 codes. AveragePool has none.
/// \pre the record fits the graph: each layer exists and has 1 or Cout usable weight scales
inline void quantize_weights(Graph& graph, const Record& record) {
  for (const auto& layer : record) {
    const Node* node = graph.find_node(layer.name);
    if (node == nullptr || node->input(kWeightInput) == kNoValue) continue;
    const ValueId id = node->input(kWeightInput);
    const Tensor& weight = *graph.value(id).initializer;
    Tensor codes(ElementType::int8, weight.shape());
    for_each_run(scale_layout(*node, weight, layer.scale_w.size()),
                 [&](std::size_t channel, std::size_t first, std::size_t count) {
                   quantize<DivideAddRound>(weight.data<float>().subspan(first, count),
                                            codes.data<std::int8_t>().subspan(first, count),
                                            {layer.scale_w[channel], 0}, Int8::range);
                 });
    replace_initializer(graph, id, std::move(codes));
  }
}

}  // namespace amct::graph
