// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>

namespace amct::onnx {

/// Some exporters keep weights in Constant nodes. Those that a layer reads as weight, bias or statistics become
/// initializers of the same name, so that every pass finds them where most files have them. Constants of other
/// operators, such as shapes and limits, stay nodes, as AMCT leaves them.
inline void make_weights_initializers(graph::Graph& graph) {
  static const std::set<std::string> layers{
      "Conv",  "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "InstanceNormalization", "LayerNormalization",
      "PRelu", "LSTM",          "GRU",  "RNN"};
  std::set<graph::ValueId> weights;
  for (const auto& node : graph.nodes) {
    if (!node.domain.empty() || !layers.contains(node.op_type)) continue;
    for (std::size_t i = node.op_type == "MatMul" ? 0 : 1; i < node.inputs.size(); ++i) weights.insert(node.inputs[i]);
  }
  std::vector<graph::Node> kept;
  for (auto& node : graph.nodes) {
    const bool is_constant = node.op_type == "Constant" && node.domain.empty() && node.outputs.size() == 1;
    const Tensor* value = is_constant ? node.attribute<Tensor>("value") : nullptr;
    if (value != nullptr && weights.contains(node.outputs[0])) {
      graph::replace_initializer(graph, node.outputs[0], *value);
    } else {
      kept.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(kept);
}

}  // namespace amct::onnx
