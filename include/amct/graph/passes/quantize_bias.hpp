// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/uses.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// Replaces the float bias of the record's layers by int32 at the scale of the accumulator, also where it is the second
/// input of the Add behind a MatMul (see bias_place). A bias that somebody else reads too stays, and the layer gets an
/// initializer `<layer>.bias` of its own.
/// \throws Error numeric naming the layer if a value does not fit int32
inline void quantize_bias(Graph& graph, const Record& record) {
  const Uses uses(graph);
  UniqueNames names(graph);
  for_each_deployed_layer(graph, record, uses, [&](const Node& node, const DeployedLayer& layer) {
    if (!layer.computes_in_integers || layer_weight(node, graph) == nullptr) return;
    const BiasPlace place = bias_place(node, uses);
    const Tensor* bias = place.node == nullptr ? nullptr : uses.constant(place.node->inputs[place.input]);
    if (bias == nullptr) return;
    const ValueId id = place.node->inputs[place.input];
    Tensor codes(ElementType::int32, bias->shape());
    check(amct::quantize_bias(bias->data<float>(), layer.scale_d, layer.scale_w, codes.data<std::int32_t>()),
          {.layer = node.name, .field = "bias"});
    if (graph.value(id).initializer && uses.has_single_use(id)) {
      replace_initializer(graph, id, std::move(codes));
    } else {
      graph.find_node(place.node->name)->inputs[place.input] =
          add_initializer(graph, names.value(node.name + ".bias"), std::move(codes));
    }
  });
  remove_unused(graph);
}

}  // namespace amct::graph
