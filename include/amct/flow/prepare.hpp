// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/read_classic_json.hpp>
#include <amct/config/resolve.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/network.hpp>
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
  /// Still float, Gemm in AMCT's form, BatchNormalization folded; with update_bn it is folded when saving.
  graph::Graph graph;
  QuantPlan plan;                             ///< what happens to each quantizable layer
  std::vector<graph::FloatLayer> left_float;  ///< layers of quantizable types that stay float, and why
  std::vector<std::string> fused;             ///< layers that take in a BatchNormalization
  Origins origins;                            ///< names of changed nodes in the user's file
  Diagnostics diagnostics;                    ///< warnings about the config
  std::string config_file;                    ///< for messages; empty = defaults
  Flavour flavour = Flavour::pytorch;         ///< whose rules decided
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

/// Which BatchNormalization a config wants folded.
struct FusionWish {
  bool fold = true;
  std::vector<std::string> skip{};
  bool when_saving = false;  ///< its statistics are updated first (update_bn), so it stays while calibrating
};

/// What a full config says of it, which must be known before its layers can be.
[[nodiscard]] inline FusionWish fusion_wish(const ConfigValue& config) {
  FusionWish wish;
  const ConfigValue* fold = config.find("do_fusion");
  if (fold != nullptr && fold->boolean() != nullptr) wish.fold = *fold->boolean();
  const ConfigValue* update = config.find("update_bn");
  if (update != nullptr && update->boolean() != nullptr) wish.when_saving = *update->boolean();
  const ConfigValue* skip = config.find("skip_fusion_layers");
  if (skip == nullptr || skip->list() == nullptr) return wish;
  for (const ConfigValue& name : *skip->list()) {
    if (name.text() != nullptr) wish.skip.push_back(*name.text());
  }
  return wish;
}

/// What all configs have in common. `name(namer)` renames the layers that the config names and tells which
/// normalizations are folded; `plan(layers, nodes, out)` makes the plan.
template <class Name, class Plan>
[[nodiscard]] Prepared prepare(graph::Graph graph, const exec::OpSet& ops, const FlavourRules& rules, const Name& name,
                               const Plan& plan) {
  Prepared result;
  result.flavour = rules.flavour;
  if (graph::promote_float16(graph)) {
    result.diagnostics.warning(ErrorCode::model_unsupported, {},
                               "the model computes in float16; it is quantized and written in float32");
  }
  const graph::ModuleNames names(graph);
  for (const auto& [key, original] : graph::name_layers(graph, names)) result.origins[key] = {original};
  const FusionWish fusion = name(graph::layer_namer(names, result.diagnostics));
  result.diagnostics.throw_if_errors();

  std::vector<std::string> node_names;
  for (const auto& node : graph.nodes) node_names.push_back(node.name);
  std::optional<graph::Graph> unfolded;
  if (fusion.when_saving) {
    Origins ignored;
    unfolded = graph;
    (void)bring_into_form(*unfolded, false, {}, rules, ops, ignored);
  }
  result.fused = bring_into_form(graph, fusion.fold, fusion.skip, rules, ops, result.origins);

  auto found = graph::find_quantizable(graph, rules);
  constexpr LayerKind kRecurrent[] = {LayerKind::lstm, LayerKind::gru};
  graph::leave_float(found, kRecurrent, "this version quantizes no recurrent layers");
  result.plan = plan(found.layers, node_names, result.diagnostics);
  result.diagnostics.throw_if_errors();
  result.left_float = std::move(found.left_float);
  for (const auto& layer : found.layers) {
    const LayerPlan* planned = result.plan.find(layer.name);
    if (planned != nullptr && planned->enabled) continue;
    result.left_float.push_back({layer.name, graph.find_node(layer.name)->op_type, "skipped by the configuration"});
  }
  result.graph = unfolded ? std::move(*unfolded) : std::move(graph);
  return result;
}

}  // namespace detail

/// Decides what is quantized and brings the network into the form that is calibrated: float16 becomes float32, what
/// depends on constants alone a constant, BatchNormalization is folded. Layers are called by their module paths where
/// they have one; the config may call them by any of their names (graph::ModuleNames).
/// \param config  an easy config; AMCT's defaults if it says nothing
/// \param ops     the operators that compute constants, usually exec::builtin_ops()
/// \param rules   of the flavour that the config is written for
/// \throws Error of the config (see resolve)
[[nodiscard]] inline Prepared prepare(graph::Graph graph, EasyConfig config, const exec::OpSet& ops,
                                      const FlavourRules& rules = rules_of(Flavour::pytorch)) {
  const auto name = [&](const LayerNamer& namer) {
    rename_layers(config, namer);
    return detail::FusionWish{config.do_fusion, config.skip_fusion_layers, config.batch_norm_update.has_value()};
  };
  const auto plan = [&](const LayerTable& layers, const std::vector<std::string>& nodes, Diagnostics& out) {
    return resolve(config, layers, nodes, rules, out);
  };
  Prepared result = detail::prepare(std::move(graph), ops, rules, name, plan);
  result.config_file = config.file;
  return result;
}

/// The same with a full config, AMCT's config.json, of a flavour of the classic family. A layer that it does not name
/// stays float.
/// \param file  of the config, for messages
/// \throws Error of the config (see from_classic_json)
[[nodiscard]] inline Prepared prepare(graph::Graph graph, ConfigValue full_config, const std::string& file,
                                      const FlavourRules& rules, const exec::OpSet& ops) {
  const auto name = [&](const LayerNamer& namer) {
    rename_layers(full_config, file, namer);
    return detail::fusion_wish(full_config);
  };
  const auto plan = [&](const LayerTable& layers, const std::vector<std::string>& nodes, Diagnostics& out) {
    return from_classic_json(full_config, layers, nodes, rules, file, out);
  };
  Prepared result = detail::prepare(std::move(graph), ops, rules, name, plan);
  result.config_file = file;
  return result;
}

/// The findings of the network's checks on a plan, of flavours that have them (config/network_checks.hpp): layers that
/// read one tensor agree, layers that only move data have the quantization of the layer behind them, layers of the
/// matrix unit are quantized. Errors mean that no device runs the deployed network as planned; calibration itself
/// works.
[[nodiscard]] inline Diagnostics check_classic_network(const Prepared& prepared) {
  const FlavourRules& rules = rules_of(prepared.flavour);
  Diagnostics out;
  if (!rules.network_checks) return out;
  const LayerTable layers = graph::find_quantizable(prepared.graph, rules).layers;
  check_network(graph::network_of(prepared.graph, rules.data_operators), network_quantization(prepared.plan, layers),
                rules, prepared.config_file, out);
  return out;
}

}  // namespace amct::flow
