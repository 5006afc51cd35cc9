// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

/// \file
/// What becomes of a layer of a record in the deployed network: which inputs are quantized, and whether the layer
/// computes with integers.

namespace amct::graph {

/// The inputs of a node that carry data, in the order in which records count them (`record_d.index`). Arithmetic,
/// Concat and operators of other domains have data in all inputs that are no constants; elsewhere the inputs behind the
/// first are weights, shapes, axes or scales.
[[nodiscard]] inline std::vector<std::size_t> data_inputs(const Node& node, const Uses& uses) {
  static constexpr std::string_view kAllInputsAreData[] = {"Add",    "Sub", "Mul", "Div",   "Pow",
                                                           "MatMul", "Max", "Min", "Concat"};
  const bool all = is_one_of(kAllInputsAreData, node.op_type) || !node.domain.empty();
  const std::size_t candidates = all ? node.inputs.size() : 1;
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < candidates; ++i) {
    if (node.input(i) != kNoValue && uses.constant(node.input(i)) == nullptr) inputs.push_back(i);
  }
  return inputs;
}

/// The weight of a layer that AMCT quantizes with its weight; null for all other nodes.
[[nodiscard]] inline const Tensor* layer_weight(const Node& node, const Graph& graph) {
  const ValueId id = node.input(kWeightInput);
  if (!node.domain.empty() || id == kNoValue || !graph.value(id).initializer) return nullptr;
  const Tensor& weight = *graph.value(id).initializer;
  return layer_kind(node, weight.shape().rank()) ? &weight : nullptr;
}

/// One quantized input.
struct QuantizedInput {
  InputFactors factors{};
  std::size_t port = 0;  ///< which input of the node
};

/// A layer of a record in a network.
struct DeployedLayer {
  const LayerRecord* record = nullptr;
  std::vector<QuantizedInput> inputs{};
  /// True: codes go in, an accumulator comes out. False: the operator stays float, and its inputs are quantized and
  /// made float again in front of it.
  bool computes_in_integers = false;
  /// Scale of the accumulator: scale_d times scale_w, one or one an output channel. A pool has scale_w 1; of a product
  /// of two data, scale_w is the scale of the second one.
  float scale_d = 1.0F;
  std::vector<float> scale_w{};
};

/// How a layer is deployed. With weights, AveragePool, and MatMul of two quantized data compute in integers.
/// \throws Error record_value for factors of an input that the layer does not have
[[nodiscard]] inline DeployedLayer deployed_layer(const Node& node, const LayerRecord& record, const Graph& graph,
                                                  const Uses& uses) {
  DeployedLayer layer{.record = &record, .scale_w = record.scale_w};
  const auto ports = data_inputs(node, uses);
  for (const InputFactors& factors : inputs_of(record)) {
    if (factors.index < 0 || static_cast<std::size_t>(factors.index) >= ports.size()) {
      throw Error(ErrorCode::record_value, {.layer = record.name, .field = "record_d.index"},
                  "got " + std::to_string(factors.index) + ", but " + std::to_string(ports.size()) +
                      (ports.size() == 1 ? " input carries data" : " inputs carry data"));
    }
    layer.inputs.push_back({factors, ports[static_cast<std::size_t>(factors.index)]});
  }
  if (!layer.inputs.empty()) layer.scale_d = layer.inputs.front().factors.scale;
  if (layer_weight(node, graph) != nullptr) {
    if (node.op_type == "LSTM" || node.op_type == "GRU") {
      throw Error(ErrorCode::model_unsupported, {.layer = record.name, .field = node.op_type},
                  "recurrent layers cannot be deployed; take the layer out of the record, and it stays float");
    }
    layer.computes_in_integers = !record.scale_w.empty();
  } else if (node.op_type == "AveragePool" && node.domain.empty()) {
    layer.computes_in_integers = true;
    if (layer.scale_w.empty()) layer.scale_w = {1.0F};
  } else if (node.op_type == "MatMul" && node.domain.empty() && layer.inputs.size() == 2) {
    layer.computes_in_integers = true;
    layer.scale_w = {layer.inputs[1].factors.scale};
  }
  return layer;
}

/// The layers of a record that the network has, in the order of the record. O(nodes) for each.
template <class Visit>
void for_each_deployed_layer(const Graph& graph, const Record& record, const Uses& uses, Visit&& visit) {
  for (const auto& entry : record) {
    const Node* node = graph.find_node(entry.name);
    if (node != nullptr) visit(*node, deployed_layer(*node, entry, graph, uses));
  }
}

}  // namespace amct::graph
