// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/model.hpp>

namespace amct::graph {

namespace detail {

[[nodiscard]] inline RecordLayer record_layer(LayerInfo info, const Node& node, const Graph& graph, const Uses& uses) {
  RecordLayer layer{.info = std::move(info)};
  if (!has_weights(layer.info.kind)) return layer;
  const Shape& weight = graph.value(node.input(kWeightInput)).initializer->shape();
  const std::size_t channels = weight_layout(node, weight).channels();
  layer.output_channels = channels;
  const bool convolution = node.op_type == "Conv";
  const auto groups = static_cast<std::size_t>(node.attribute_or<std::int64_t>("group", 1));
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(weight[axis]); };
  const bool transposed = node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) != 0;
  const bool recurrent = layer.info.kind == LayerKind::lstm || layer.info.kind == LayerKind::gru;
  layer.input_channels = convolution ? extent(1) * groups : extent(recurrent ? 2 : transposed ? 1 : 0);
  if (recurrent) return layer;
  const BiasPlace place = bias_place(node, uses);
  const Tensor* bias = place.node == nullptr ? nullptr : uses.constant(place.node->inputs[place.input]);
  if (bias != nullptr && bias->type() == ElementType::float32 && bias->size() == channels) {
    layer.bias.assign(bias->data<float>().begin(), bias->data<float>().end());
  }
  return layer;
}

}  // namespace detail

/// What a check of a record must know of a network that is in the form in which layers are quantized:
/// BatchNormalization folded, nodes called as records call them.
[[nodiscard]] inline RecordModel describe_layers(const Graph& graph, const FlavourRules& rules) {
  RecordModel model;
  auto found = find_quantizable(graph, rules);
  const Uses uses(graph);
  std::size_t next = 0;  // both lists are in model order
  for (const auto& node : graph.nodes) {
    model.nodes.insert(node.name);
    if (next < found.layers.size() && found.layers[next].name == node.name) {
      model.layers.emplace(node.name, detail::record_layer(std::move(found.layers[next++]), node, graph, uses));
    } else {
      model.unquantized.emplace(node.name, "flavour " + std::string(rules.name) + " does not quantize " + node.op_type);
    }
  }
  for (const auto& layer : found.left_float) model.unquantized[layer.name] = layer.reason;
  return model;
}

/// The same of a network as it was read: its layers with BatchNormalization folded into weights and bias, called by the
/// names that records use (name_layers).
/// \param skip_fusion  layers whose record says skip_fusion
[[nodiscard]] inline RecordModel record_model(Graph graph, const FlavourRules& rules,
                                              const std::vector<std::string>& skip_fusion = {}) {
  name_layers(graph, ModuleNames(graph));
  std::vector<std::string> names;
  for (const auto& node : graph.nodes) names.push_back(node.name);
  fuse_batch_norm(graph, skip_fusion, rules);
  fold_weight_transpose(graph);
  normalize_gemm(graph);

  RecordModel model = describe_layers(graph, rules);
  for (const auto& name : names) {
    if (model.nodes.insert(name).second) model.unquantized.emplace(name, "it is folded into another layer");
  }
  return model;
}

}  // namespace amct::graph
