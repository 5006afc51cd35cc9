// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/network_checks.hpp>
#include <amct/core/flavour.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/region.hpp>

namespace amct::graph {

namespace detail {

/// Operators with which applications pick results.
inline constexpr std::string_view kPicking[] = {
    "NonMaxSuppression", "TopK", "NonZero", "ArgMax", "ArgMin", "GatherND", "ScatterND", "ScatterElements", "Compress"};

/// The nodes behind the last layers of the matrix unit.
[[nodiscard]] inline std::vector<const Node*> tail_of(const Graph& graph) {
  static constexpr std::string_view kRecurrent[] = {"LSTM", "GRU", "RNN"};
  const auto is_matrix = [](const Node& node) {
    return is_matrix_operator(node.op_type) || is_one_of(kRecurrent, node.op_type);
  };
  MarkedValues behind(graph);  // values that a matrix layer has a part in
  MarkedValues before(graph);  // values that have a part in one
  for (const Node& node : graph.nodes) {
    if (is_matrix(node) || behind.any(node.inputs)) behind.mark(node.outputs);
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (is_matrix(*node) || before.any(node->outputs)) before.mark(node->inputs);
  }
  std::vector<const Node*> tail;
  for (const Node& node : graph.nodes) {
    if (!is_matrix(node) && behind.any(node.inputs) && !before.any(node.outputs)) tail.push_back(&node);
  }
  return tail;
}

}  // namespace detail

/// Small layers behind the last layers of the matrix unit that are quantized: four or more that compute, or any among
/// operators with which applications pick results (TopK, NonMaxSuppression ...). At most one fault.
/// \param graph  with the names and in the form that configurations speak of
/// \param quantized  the names of the layers that are quantized
[[nodiscard]] inline std::vector<Fault> find_post_processing(const Graph& graph,
                                                             const std::set<std::string>& quantized) {
  constexpr std::size_t kMany = 4;
  std::vector<std::string> layers;
  std::size_t computing = 0;
  bool picks = false;
  for (const Node* node : detail::tail_of(graph)) {
    picks = picks || (node->domain.empty() && is_one_of(detail::kPicking, node->op_type));
    if (!quantized.contains(node->name)) continue;
    layers.push_back(node->name);
    if (!is_no_command(node->op_type)) ++computing;
  }
  if (layers.empty() || (computing < kMany && !picks)) return {};
  Fault fault{.kind = FaultKind::post_processing, .layer = layers.front(), .node = layers.front()};
  fault.text = std::to_string(layers.size()) + (layers.size() == 1 ? " layer" : " layers") +
               " from here to the end, behind the last layer of the matrix unit" +
               (picks ? ", among operators that pick results" : "");
  fault.skip = std::move(layers);
  return {fault};
}

}  // namespace amct::graph
