// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include <amct/core/flavour.hpp>
#include <amct/graph/composites.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/balance_layers.hpp>
#include <amct/graph/passes/group_composites.hpp>
#include <amct/graph/passes/insert_dequant.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/passes/merge_requant.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/passes/quantize_bias.hpp>
#include <amct/graph/passes/quantize_weights.hpp>
#include <amct/graph/passes/to_fake_quant.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// What a deployed network may have beyond the layers of the open AMCT. The defaults give its files.
struct DeployOptions {
  std::span<const std::string_view> composites{};  ///< types of layers of several nodes (LayerNorm, GELU ...)
  bool merge_requant = false;  ///< AscendDequant and the AscendQuant behind it become one AscendReQuant
  graph::RequantRule requant_rule = graph::RequantRule::two_products;
};

/// The options of a flavour.
[[nodiscard]] inline DeployOptions deploy_options(const FlavourRules& rules) {
  return {.composites = rules.data_operators, .merge_requant = rules.merges_requant};
}

/// The network as AMCT deploys it: AscendQuant, integer weights and biases, AscendDequant around each layer of the
/// record that computes in integers, AscendQuant and AscendAntiQuant in front of others. docs/deploy.md describes the
/// nodes. Weights of 4 bits are one code a byte; files have two (graph::pack_int4_weights).
/// \param graph  a prepared float network (see prepare), which the record fits
/// \throws Error numeric naming the layer if a bias does not fit int32, record_value for factors that the layer cannot
///         have
[[nodiscard]] inline graph::Graph deploy(graph::Graph graph, const Record& record, const DeployOptions& options = {}) {
  if (!options.composites.empty()) graph::group_composites(graph, options.composites);
  graph::normalize_gemm(graph, graph::GemmForm::deployed, &record);
  graph::balance_layers(graph, record);
  graph::quantize_bias(graph, record);
  graph::quantize_weights(graph, record);
  graph::insert_quant(graph, record);
  graph::insert_dequant(graph, record);
  graph::expand_composites(graph);
  if (options.merge_requant) graph::merge_requant(graph, options.requant_rule);
  return graph;
}

/// The same network in standard ONNX operators on float tensors that hold integers; any ONNX runtime can run it.
[[nodiscard]] inline graph::Graph fake_quant(graph::Graph deployed) {
  graph::to_fake_quant(deployed);
  return deployed;
}

}  // namespace amct::flow
