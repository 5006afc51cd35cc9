// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/fx_align.hpp>
#include <amct/config/fx_checks.hpp>
#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/fx_resolve.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/network.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/om.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/network.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/group_composites.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/passes/promote_float16.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/quantize/registry.hpp>

namespace amct::flow {

/// A float network ready for calibration with a config of the static graph (hotwheels).
struct PreparedFx {
  graph::Graph
      graph;          ///< float; BatchNormalization in place, layers of several nodes grouped (graph::group_composites)
  FxPlan plan;        ///< what happens to each quantizable layer
  LayerTable layers;  ///< all quantizable layers
  Network network;    ///< as the checks of configs see it, with BatchNormalization folded
  std::vector<graph::FloatLayer> left_float;  ///< layers of quantizable types that stay float, and why
  Origins origins;                            ///< names of changed nodes in the user's file
  Diagnostics diagnostics;                    ///< warnings about the config
  std::string config_file;                    ///< for messages; empty = defaults
  Flavour flavour = Flavour::hotwheels;
};

/// How an easy config's om_config is followed: who reads the mapping file, and which layers it counts for.
struct OmMapping {
  std::function<ConfigValue(const std::filesystem::path&)> read{};  ///< empty: a config with om_config is refused
  OmScope scope = OmScope::additions;
};

namespace detail {

/// Brings a network into the form that the static graph calibrates, and finds its layers.
class FxPreparation {
 public:
  FxPreparation(graph::Graph graph, const std::string& file, const FlavourRules& rules, const exec::OpSet& ops)
      : rules_(rules) {
    result_.flavour = rules.flavour;
    result_.config_file = file;
    if (graph::promote_float16(graph)) {
      result_.diagnostics.warning(ErrorCode::model_unsupported, {},
                                  "the model computes in float16; it is quantized and written in float32");
    }
    names_ = std::make_unique<graph::ModuleNames>(graph);
    for (const auto& [key, name] : graph::name_layers(graph, *names_)) result_.origins[key] = {name};
    for (const auto& node : graph.nodes) nodes_.push_back(node.name);
    const bool fuse = !rules.fold.when_saving;
    (void)bring_into_form(graph, fuse, {}, rules, ops, result_.origins);
    graph::group_composites(graph, rules.data_operators);

    auto found = graph::find_quantizable(graph, rules);
    result_.layers = std::move(found.layers);
    result_.left_float = std::move(found.left_float);
    graph::Graph folded = graph;
    (void)graph::fuse_batch_norm(folded, {}, rules);
    result_.network = graph::network_of(folded, rules.data_operators);
    for (auto& node : result_.network) {
      if (const auto name = result_.origins.find(node.name); name != result_.origins.end()) {
        node.onnx_name = name->second.front();
      }
    }
    result_.graph = std::move(graph);
  }

  /// Reads a plan from a config whose layers may be called by any of their names. \param read  (config, names, out)
  template <class Read>
  [[nodiscard]] PreparedFx run(ConfigValue config, const QuantizerRegistry& registry, const Read& read) {
    Diagnostics& out = result_.diagnostics;
    rename_layers(config, result_.config_file, graph::layer_namer(*names_, out));
    result_.plan = read(config, NetworkNames(result_.layers, nodes_), result_, out);
    check_fx_plan(result_.plan, rules_, registry, result_.config_file, out);
    out.throw_if_errors();
    note_left_float();
    return std::move(result_);
  }

 private:
  void note_left_float() {
    for (const LayerInfo& layer : result_.layers) {
      const FxLayerPlan* const plan = result_.plan.find(layer.name);
      if (plan != nullptr && plan->quant_enable) continue;
      result_.left_float.push_back({layer.name, layer.op_type, "skipped by the configuration"});
    }
  }

  const FlavourRules& rules_;
  std::unique_ptr<graph::ModuleNames> names_;
  std::vector<std::string> nodes_;
  PreparedFx result_;
};

/// Sets bits by the mapping file of an easy config.
inline void follow_mapping(FxPlan& plan, const FxEasyConfig& easy, const OmMapping& mapping, Diagnostics& out) {
  if (!easy.mapping_file) return;
  if (!mapping.read) {
    out.error(ErrorCode::config_unsupported, {.file = easy.file, .field = "om_config.mapping_file"},
              "nobody reads the mapping file here; give OmMapping::read");
    return;
  }
  const auto path = om_mapping_path(easy.file, *easy.mapping_file);
  (void)apply_om(plan, read_om(mapping.read(path), path.string(), out), mapping.scope);
}

}  // namespace detail

/// The findings of the network's checks on a plan: siblings, layers that only move data, layers of the matrix unit.
[[nodiscard]] inline Diagnostics check_fx_network(const PreparedFx& prepared) {
  const FlavourRules& rules = rules_of(prepared.flavour);
  Diagnostics out;
  check_network(prepared.network, network_quantization(prepared.plan, prepared.layers, rules), rules,
                prepared.config_file, out);
  return out;
}

/// Decides what is quantized by an easy config (YAML), or by the defaults if `easy` is null, and brings the network
/// into the form that is calibrated: float16 becomes float32, what depends on constants alone a constant;
/// BatchNormalization stays, since the static graph folds it when it saves. What the network's checks find is a
/// warning, as a user may still edit the config that comes of this; jobs_of() refuses it.
///
/// AMCT's counterpart is the first half of create_quant_config_fx; to_fx_json(plan) is what that writes.
/// \param file      of the config, for messages and for the place of a mapping file
/// \param registry  the quantizers that the config may name
/// \param ops       the operators that compute constants, usually exec::builtin_ops()
/// \throws Error of the config
[[nodiscard]] inline PreparedFx prepare_fx(graph::Graph graph, const ConfigValue& easy, const std::string& file,
                                           const FlavourRules& rules, const QuantizerRegistry& registry,
                                           const exec::OpSet& ops, const OmMapping& mapping = {}) {
  detail::FxPreparation preparation(std::move(graph), file, rules, ops);
  PreparedFx prepared = preparation.run(
      easy.is_null() ? ConfigValue(ConfigValue::Object{}) : easy, registry,
      [&](const ConfigValue& value, const NetworkNames& names, const PreparedFx& result, Diagnostics& out) {
        const FxEasyConfig config = read_fx_easy(value, file, result.layers, names, rules, out);
        FxPlan plan = resolve_fx(config, result.layers, rules, out);
        align_no_command_layers(plan, result.network);
        detail::follow_mapping(plan, config, mapping, out);
        return plan;
      });
  const Diagnostics findings = check_fx_network(prepared);
  for (const Finding& finding : findings.all()) {
    prepared.diagnostics.warning(finding.code, finding.where, finding.message);
  }
  return prepared;
}

/// The same by a full config (config.json). What the network's checks find is refused.
///
/// AMCT's counterpart is the first half of create_quant_model_fx and of restore_quant_model_fx.
[[nodiscard]] inline PreparedFx prepare_fx_full(graph::Graph graph, const ConfigValue& config, const std::string& file,
                                                const FlavourRules& rules, const QuantizerRegistry& registry,
                                                const exec::OpSet& ops) {
  detail::FxPreparation preparation(std::move(graph), file, rules, ops);
  PreparedFx prepared =
      preparation.run(config, registry,
                      [&](const ConfigValue& value, const NetworkNames& names, const PreparedFx& result,
                          Diagnostics& out) { return from_fx_json(value, file, result.layers, names, rules, out); });
  const Diagnostics findings = check_fx_network(prepared);
  findings.throw_if_errors();
  for (const Finding& finding : findings.all()) {
    prepared.diagnostics.warning(finding.code, finding.where, finding.message);
  }
  return prepared;
}

}  // namespace amct::flow
