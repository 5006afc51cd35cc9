// SPDX-License-Identifier: Apache-2.0
#include "layered_model.hpp"

#include <cstdint>

#include <amct/config/layer_references.hpp>
#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/graph/network.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/passes/promote_float16.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/graph/uses.hpp>

#include "builtin_ops.hpp"
#include "easy_config_file.hpp"

namespace runner {

LayeredModel::LayeredModel(amct::graph::Graph graph, const amct::FlavourRules& rules,
                           const amct::graph::Capacity& capacity)
    : names(graph) {
  const auto renamed = amct::graph::name_layers(graph, names);
  for (const auto& node : graph.nodes) nodes.push_back(node.name);
  // As planning does: weights may be float16, or stand behind an Identity.
  amct::graph::promote_float16(graph);
  amct::graph::fold_constants(graph, amct::exec::node_evaluator(builtin_ops()));
  amct::graph::fold_weight_transpose(graph);
  // A BatchNormalization that a convolution takes in is no layer of its own, and what follows stands behind the
  // convolution; groups of distillation do name it.
  if (rules.network_checks) (void)amct::graph::fuse_batch_norm(graph, {});
  layers = amct::graph::find_quantizable(graph, rules, capacity).layers;
  network = amct::graph::network_of(graph, rules.data_operators);
  for (auto& node : network) {
    if (const auto found = renamed.find(node.name); found != renamed.end()) node.onnx_name = found->second;
  }
  const amct::graph::Uses uses(graph);
  for (const auto& node : graph.nodes) {
    const amct::Tensor* const weight = uses.constant(node.input(1));
    if (weight != nullptr && amct::find_layer(layers, node.name) != nullptr) weights[node.name] = weight->size();
  }
}

void LayeredModel::name_layers(amct::EasyConfig& config, amct::Diagnostics& out) const {
  amct::rename_layers(config, amct::graph::layer_namer(names, out));
}

void LayeredModel::name_layers(amct::ConfigValue& config, const std::string& file, amct::Diagnostics& out) const {
  amct::rename_layers(config, file, amct::graph::layer_namer(names, out));
}

amct::graph::Capacity read_capacity(const std::string& file) {
  if (file.empty()) return {};
  amct::Diagnostics out;
  constexpr std::uintmax_t kMostBytes = 1U << 20U;
  auto capacity = amct::graph::parse_capacity(amct::read_file(file, kMostBytes), file, out);
  settle(out);
  return capacity;
}

void settle(const amct::Diagnostics& out) {
  show_warnings(out);
  out.throw_if_errors();
}

}  // namespace runner
