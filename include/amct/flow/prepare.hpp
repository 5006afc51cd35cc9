// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/resolve.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/quantizable.hpp>

namespace amct::flow {

/// A float network ready for calibration.
struct Prepared {
  graph::Graph graph;                         ///< BatchNormalization folded, Gemm in AMCT's form, still float
  QuantPlan plan;                             ///< what happens to each quantizable layer
  std::vector<graph::FloatLayer> left_float;  ///< layers of quantizable types that stay float, and why
  std::vector<std::string> fused;             ///< layers that took in a BatchNormalization
};

/// Decides what is quantized and brings the network into the form that is calibrated.
/// \throws Error of the config (see resolve)
[[nodiscard]] inline Prepared prepare(graph::Graph graph, const EasyConfig& config) {
  Prepared result;
  std::vector<std::string> node_names;
  for (const auto& node : graph.nodes) node_names.push_back(node.name);
  if (config.do_fusion) result.fused = graph::fuse_batch_norm(graph, config.skip_fusion_layers);
  graph::fold_weight_transpose(graph);
  graph::normalize_gemm(graph);

  auto found = graph::find_quantizable(graph);
  result.plan = resolve(config, found.layers, node_names);
  result.left_float = std::move(found.left_float);
  for (const auto& layer : result.plan.layers) {
    if (!layer.enabled) {
      result.left_float.push_back({layer.name, graph.find_node(layer.name)->op_type, "skipped by the configuration"});
    }
  }
  result.graph = std::move(graph);
  return result;
}

}  // namespace amct::flow
