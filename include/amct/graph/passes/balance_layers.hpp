// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/emitter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/quantize/dmq.hpp>
#include <amct/record/record.hpp>

/// \file
/// DMQ in networks: layers whose record has `tensor_balance_factor` get their data divided by the factors of the input
/// channels and their weights multiplied, which changes nothing but how well both can be quantized.

namespace amct::graph {

namespace detail {

/// The balanced layer of a node: its entry, if it has factors. \throws Error record_value for a wrong number of them
[[nodiscard]] inline const LayerRecord* balanced_entry(const Node& node, const Graph& graph, const Record& record) {
  const LayerRecord* entry = find_record(record, node.name);
  if (entry == nullptr || entry->tensor_balance_factor.empty()) return nullptr;
  const Tensor* weight = layer_weight(node, graph);
  const std::size_t found = entry->tensor_balance_factor.size();
  const std::size_t expected = weight == nullptr ? 0 : weight_input_layout(node, weight->shape()).channels();
  if (found == expected) return entry;
  throw Error(ErrorCode::record_value, {.layer = node.name, .field = "tensor_balance_factor"},
              weight == nullptr ? "a layer without constant weights cannot be balanced"
                                : "got " + std::to_string(found) + " factors, expected one for each of the " +
                                      std::to_string(expected) + " input channels");
}

/// Factors in the shape in which they meet the data: [1, C, 1, 1] in front of a 2-D convolution, [1, C] of others.
[[nodiscard]] inline Tensor factor_tensor(const Node& node, const Graph& graph, const std::vector<float>& factors) {
  const Shape& weight = graph.value(node.input(kWeightInput)).initializer->shape();
  if (weight.rank() == 1) return {Shape{static_cast<std::int64_t>(factors.size())}, std::span<const float>(factors)};
  return {output_scale_shape(*layer_kind(node, weight.rank()), factors.size()), std::span<const float>(factors)};
}

AMCT_EXACT_BEGIN

[[nodiscard]] inline std::vector<float> reciprocals(std::vector<float> factors) noexcept {
  for (float& factor : factors) factor = 1.0F / factor;
  return factors;
}

AMCT_EXACT_END

/// Puts `make(emitter, node, entry)`, which gives the balanced data, in front of each balanced layer.
template <class Make>
void balance_data(Graph& graph, const Record& record, UniqueNames& names, const Make& make) {
  std::vector<Node> nodes;
  Emitter emitter(graph, names, nodes);
  for (auto& node : graph.nodes) {
    if (const LayerRecord* entry = balanced_entry(node, graph, record)) node.inputs[0] = make(emitter, node, *entry);
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace detail

/// A weight multiplied by the balance factors of its layer's input channels. \pre as many factors as there are
[[nodiscard]] inline Tensor balanced_weight(const Node& node, const Tensor& weight, std::span<const float> factors) {
  Tensor result(ElementType::float32, weight.shape());
  check(balance_weights(weight.data<float>(), weight_input_layout(node, weight.shape()), factors, result.data<float>()),
        {.layer = node.name, .field = "tensor_balance_factor"});
  return result;
}

/// For calibration: a Div `<layer>.div` by the factors in front of each balanced layer. Weights are left alone.
/// \throws Error record_value for another number of factors than input channels
inline void divide_by_balance(Graph& graph, const Record& record) {
  UniqueNames names(graph);
  detail::balance_data(graph, record, names, [&](Emitter& emitter, const Node& node, const LayerRecord& entry) {
    const ValueId factors = add_initializer(graph, names.value(node.name + ".tensor_balance_factor"),
                                            detail::factor_tensor(node, graph, entry.tensor_balance_factor));
    return emitter.node("Div", node.name + ".div", {node.inputs[0], factors});
  });
}

/// For deployment, as AMCT does it: a Mul `<layer>.mul` by the Constant `<layer>.tensor_balance_factor`, which holds
/// float32(1 / factor), in front of each balanced layer, and the weights multiplied by the factors. A weight that
/// others read too is copied. \throws Error record_value for another number of factors than input channels
inline void balance_layers(Graph& graph, const Record& record) {
  const Uses uses(graph);
  UniqueNames names(graph);
  for (auto& node : graph.nodes) {
    const LayerRecord* entry = detail::balanced_entry(node, graph, record);
    if (entry == nullptr) continue;
    const ValueId id = node.input(kWeightInput);
    Tensor balanced = balanced_weight(node, *graph.value(id).initializer, entry->tensor_balance_factor);
    if (uses.has_single_use(id)) replace_initializer(graph, id, std::move(balanced));
    else
      node.inputs[kWeightInput] =
          add_initializer(graph, names.value(node.name + ".balanced_weight"), std::move(balanced));
  }
  detail::balance_data(graph, record, names, [&](Emitter& emitter, const Node& node, const LayerRecord& entry) {
    const ValueId factors =
        emitter.node("Constant", node.name + ".tensor_balance_factor", {},
                     {{"value", detail::factor_tensor(node, graph, detail::reciprocals(entry.tensor_balance_factor))}});
    return emitter.node("Mul", node.name + ".mul", {node.inputs[0], factors});
  });
}

}  // namespace amct::graph
