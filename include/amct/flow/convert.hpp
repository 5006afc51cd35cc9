// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/from_qdq.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// A network that came quantized, in AMCT's form.
struct Converted {
  graph::Graph graph;                         ///< float, ready for deploy()
  Record record;                              ///< its factors
  std::vector<graph::FloatLayer> left_float;  ///< layers that the file quantizes and the flavour cannot, and why
  std::vector<std::string> dropped;           ///< operators whose own quantization is left out
  Origins origins;                            ///< names of renamed nodes in the user's file
};

/// AMCT's convert_qat_model: a network with QuantizeLinear and DequantizeLinear becomes a float network and a record.
/// \throws Error model_unsupported if no layer is quantized in a form that can be deployed
[[nodiscard]] inline Converted convert_qat(graph::Graph graph, const FlavourRules& rules) {
  Converted result;
  for (const auto& [key, name] : graph::name_layers(graph, graph::ModuleNames(graph))) result.origins[key] = {name};
  graph::QdqLayers found = graph::from_qdq(graph);
  graph::fold_weight_transpose(graph);
  graph::normalize_gemm(graph, graph::GemmForm::calibrated);
  const auto layers = graph::find_quantizable(graph, rules);
  for (auto& entry : found.record) {
    const auto is_entry = [&](const auto& layer) { return layer.name == entry.name; };
    if (std::any_of(layers.layers.begin(), layers.layers.end(), is_entry)) {
      result.record.push_back(std::move(entry));
      continue;
    }
    const auto refused = std::find_if(layers.left_float.begin(), layers.left_float.end(), is_entry);
    found.refused.emplace(entry.name,
                          refused != layers.left_float.end() ? refused->reason : "this flavour does not quantize it");
  }
  for (const auto& [name, reason] : found.refused) {
    result.left_float.push_back({name, graph.find_node(name)->op_type, reason});
  }
  if (result.record.empty()) {
    std::string why = "expected layers between QuantizeLinear and DequantizeLinear";
    if (!result.left_float.empty()) why = '"' + result.left_float[0].name + "\": " + result.left_float[0].reason;
    throw Error(ErrorCode::model_unsupported, {}, "has no quantized layer that can be deployed; " + why);
  }
  result.dropped = std::move(found.dropped);
  result.graph = std::move(graph);
  return result;
}

}  // namespace amct::flow
