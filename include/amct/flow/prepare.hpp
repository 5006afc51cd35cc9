// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/passes/promote_float16.hpp>
#include <amct/graph/quantizable.hpp>

namespace amct::flow {

/// A float network ready for calibration.
struct Prepared {
  graph::Graph graph;                         ///< BatchNormalization folded, Gemm in AMCT's form, still float
  QuantPlan plan;                             ///< what happens to each quantizable layer
  std::vector<graph::FloatLayer> left_float;  ///< layers of quantizable types that stay float, and why
  std::vector<std::string> fused;             ///< layers that took in a BatchNormalization
  Origins origins;                            ///< names of changed nodes in the user's file
  Diagnostics diagnostics;                    ///< warnings about the config
  std::string config_file;                    ///< for messages; empty = defaults
};

namespace detail {

/// Adds the names of nodes that others took in to those of the others.
inline void note_origins(const graph::PassReport& report, Origins& origins) {
  const auto names_of = [&](const std::string& node) {
    const auto found = origins.find(node);
    return found == origins.end() ? std::vector<std::string>{node} : found->second;
  };
  for (const auto& note : report.changed) {
    if (note.took_in.empty()) continue;
    auto all = names_of(note.node);
    const auto more = names_of(note.took_in);
    all.insert(all.end(), more.begin(), more.end());
    origins[note.node] = std::move(all);
    origins.erase(note.took_in);
  }
}

/// Brings a network into the form that is calibrated: what depends on constants alone a constant, BatchNormalization
/// folded if `fusion` says so, and Gemm as AMCT has it.
/// \return the layers that took in a BatchNormalization
[[nodiscard]] inline std::vector<std::string> bring_into_form(graph::Graph& graph, bool fusion,
                                                              const std::vector<std::string>& skip_fusion,
                                                              const FlavourRules& rules, const exec::OpSet& ops,
                                                              Origins& origins) {
  graph::fold_constants(graph, exec::node_evaluator(ops));
  std::vector<std::string> fused;
  if (fusion) {
    const auto report = graph::fuse_batch_norm(graph, skip_fusion, rules);
    fused = report.changed_nodes();
    note_origins(report, origins);
  }
  graph::fold_weight_transpose(graph);
  graph::normalize_gemm(graph, graph::GemmForm::calibrated);
  return fused;
}

}  // namespace detail

/// Decides what is quantized and brings the network into the form that is calibrated: float16 becomes float32, what
/// depends on constants alone a constant, BatchNormalization is folded. Layers are called by their module paths where
/// they have one; the config may call them by any of their names (graph::ModuleNames).
/// \param ops  the operators that compute constants, usually exec::builtin_ops()
/// \throws Error of the config (see resolve)
[[nodiscard]] inline Prepared prepare(graph::Graph graph, EasyConfig config, const exec::OpSet& ops) {
  const FlavourRules& rules = rules_of(Flavour::pytorch);
  Prepared result;
  if (graph::promote_float16(graph)) {
    result.diagnostics.warning(ErrorCode::model_unsupported, {},
                               "the model computes in float16; it is quantized and written in float32");
  }
  const graph::ModuleNames names(graph);
  for (const auto& [key, name] : graph::name_layers(graph, names)) result.origins[key] = {name};
  rename_layers(config, graph::layer_namer(names, result.diagnostics));
  result.diagnostics.throw_if_errors();

  std::vector<std::string> node_names;
  for (const auto& node : graph.nodes) node_names.push_back(node.name);
  result.fused =
      detail::bring_into_form(graph, config.do_fusion, config.skip_fusion_layers, rules, ops, result.origins);

  auto found = graph::find_quantizable(graph, rules);
  constexpr LayerKind kRecurrent[] = {LayerKind::lstm, LayerKind::gru};
  graph::leave_float(found, kRecurrent, "this version quantizes no recurrent layers");
  result.plan = resolve(config, found.layers, node_names, rules, result.diagnostics);
  result.diagnostics.throw_if_errors();
  result.config_file = config.file;
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
