// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// Replaces the float bias of the record's layers by int32 at the scale of the accumulator.
/// \throws Error numeric naming the layer if a value does not fit int32
inline void quantize_bias(Graph& graph, const Record& record) {
  const Uses uses(graph);
  UniqueNames names(graph);
  for (const auto& layer : record) {
    Node* node = graph.find_node(layer.name);
    if (node == nullptr) continue;
    const ValueId id = node->input(kBiasInput);
    const Tensor* bias = uses.constant(id);
    if (bias == nullptr) continue;
    Tensor codes(ElementType::int32, bias->shape());
    check(amct::quantize_bias(bias->data<float>(), *layer.scale_d, layer.scale_w, codes.data<std::int32_t>()),
          {.layer = layer.name, .field = "bias"});
    if (graph.value(id).initializer) {
      replace_initializer(graph, id, std::move(codes));
    } else {
      node->inputs[kBiasInput] = add_initializer(graph, names.value(layer.name + ".bias"), std::move(codes));
    }
  }
}

}  // namespace amct::graph
