// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
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
  Diagnostics diagnostics;                    ///< warnings about the config
};

namespace detail {

/// Refuses what a config may ask for and this flow does not do yet.
inline void require_supported(const QuantPlan& plan, const std::string& file) {
  const auto refuse = [&](const std::string& layer, const char* field, const char* message) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .layer = layer, .field = field}, message);
  };
  if (plan.force_fp16) refuse("", "fakequant_precision_mode", "this version has no FORCE_FP16_QUANT");
  if (plan.batch_norm_update) refuse("", "update_bn", "this version does not update BatchNormalization");
  for (const auto& layer : plan.layers) {
    if (!layer.enabled) continue;
    if (layer.dmq_strength) refuse(layer.name, "dmq_balancer", "this version calibrates without balancing");
    for (const auto& activation : layer.activations) {
      if (activation.algorithm != ActivationAlgorithm::ifmr) {
        refuse(layer.name, "act_algo", "this version calibrates with ifmr_quantize only");
      }
      if (activation.bits != 8) refuse(layer.name, "num_bits", "this version quantizes activations to INT8 only");
    }
    if (!has_weights(layer.kind)) continue;
    if (layer.weights.algorithm != WeightAlgorithm::arq) {
      refuse(layer.name, "wts_algo", "this version calibrates with arq_quantize only");
    }
    if (layer.weights.bits != 8) refuse(layer.name, "num_bits", "this version quantizes weights to INT8 only");
  }
}

}  // namespace detail

/// Decides what is quantized and brings the network into the form that is calibrated.
/// \throws Error of the config (see resolve), config_unsupported
[[nodiscard]] inline Prepared prepare(graph::Graph graph, const EasyConfig& config) {
  const FlavourRules& rules = rules_of(Flavour::pytorch);
  Prepared result;
  std::vector<std::string> node_names;
  for (const auto& node : graph.nodes) node_names.push_back(node.name);
  if (config.do_fusion) result.fused = graph::fuse_batch_norm(graph, config.skip_fusion_layers);
  graph::fold_weight_transpose(graph);
  graph::normalize_gemm(graph);

  auto found = graph::find_quantizable(graph, rules);
  result.plan = resolve(config, found.layers, node_names, rules, result.diagnostics);
  result.diagnostics.throw_if_errors();
  detail::require_supported(result.plan, config.file);
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
