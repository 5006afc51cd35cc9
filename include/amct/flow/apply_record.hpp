// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/layer_references.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/passes/promote_float16.hpp>
#include <amct/graph/record_layers.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// A float network and the factors that an earlier calibration, or another program, found for it.
struct Recorded {
  graph::Graph graph;       ///< ready for deploy()
  Record record;            ///< the layers that have factors, called as the network's nodes are
  Origins origins;          ///< names of changed nodes in the user's file
  Diagnostics diagnostics;  ///< warnings about the record
};

/// Which BatchNormalization is folded beside the record's own word (`skip_fusion` of a layer).
struct FusionChoice {
  bool fold = true;
  std::vector<std::string> skip{};
};

namespace detail {

/// What the checks of record/check.hpp find, errors and warnings.
inline void check_against(const Record& record, const FlavourRules& rules, const graph::Graph& graph,
                          Diagnostics& out) {
  const RecordModel model = graph::describe_layers(graph, rules);
  for (const auto& layer : record) {
    for (const auto& finding : check_record(layer, rules, model)) {
      Where where{.layer = layer.name, .field = finding.field};
      if (finding.is_error) {
        out.error(finding.code, std::move(where), finding.message);
      } else {
        out.warning(finding.code, std::move(where), finding.message);
      }
    }
  }
}

}  // namespace detail

/// Makes a float network ready for deploy() with a record, as calibration made it ready: float16 becomes float32, what
/// depends on constants alone a constant, BatchNormalization is folded unless the layer's entry says skip_fusion.
/// Layers may be called by any of their names (graph::ModuleNames); those without factors stay float. \param ops  the
/// operators that compute constants, usually exec::builtin_ops() \throws Error record_value for a layer that the
/// network does not have, and what check_record() finds;
///         config_layer for a name that may mean several layers
[[nodiscard]] inline Recorded apply_record(graph::Graph graph, Record record, const FlavourRules& rules,
                                           const exec::OpSet& ops, FusionChoice fusion = {}) {
  Recorded result;
  graph::promote_float16(graph);
  const graph::ModuleNames names(graph);
  for (const auto& [key, name] : graph::name_layers(graph, names)) result.origins[key] = {name};
  const LayerNamer namer = graph::layer_namer(names, result.diagnostics);
  for (auto& name : fusion.skip) name = namer(name, {.field = "skip_fusion_layers"});
  for (auto& layer : record) {
    layer.name = namer(layer.name, {.layer = layer.name});
    if (layer.skip_fusion.value_or(false)) fusion.skip.push_back(layer.name);
  }
  result.diagnostics.throw_if_errors();
  (void)detail::bring_into_form(graph, fusion.fold, fusion.skip, rules, ops, result.origins);

  std::erase_if(record, [](const LayerRecord& layer) { return inputs_of(layer).empty() && layer.scale_w.empty(); });
  detail::check_against(record, rules, graph, result.diagnostics);
  result.diagnostics.throw_if_errors();
  if (record.empty()) throw Error(ErrorCode::record_value, {}, "has no layer with factors");
  result.graph = std::move(graph);
  result.record = std::move(record);
  return result;
}

}  // namespace amct::flow
