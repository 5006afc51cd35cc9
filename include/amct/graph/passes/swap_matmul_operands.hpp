// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/graph/edit.hpp>
#include <amct/graph/emitter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>

namespace amct::graph {

namespace detail {

/// The order of axes that exchanges the last two of `rank`.
[[nodiscard]] inline std::vector<std::int64_t> swapped_last_axes(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

/// Why the operands are not swapped; empty if they can be.
[[nodiscard]] inline std::string refuse_swap(const Node* node, const Graph& graph) {
  if (node == nullptr || node->op_type != "MatMul" || !node->domain.empty()) return "is no MatMul of the model";
  if (node->inputs.size() != 2) return "has not two operands";
  for (const ValueId id : node->inputs) {
    if (id == kNoValue) return "lacks an operand";
    const auto rank = known_rank(graph.value(id));
    if (!rank) return "the number of axes of " + graph.value(id).name + " is not known";
    if (*rank < 2) return graph.value(id).name + " is a vector";
  }
  return {};
}

}  // namespace detail

/// Computes A B as (B^T A^T)^T for some MatMul nodes: on the device the second operand has 8 bits only, so the one with
/// the wide range should be the first. The numbers of axes must be known.
/// \param names  of the MatMul nodes
inline PassReport swap_matmul_operands(Graph& graph, const std::vector<std::string>& names) {
  PassReport report;
  std::set<std::string> chosen;
  for (const auto& name : names) {
    std::string reason = detail::refuse_swap(graph.find_node(name), graph);
    if (reason.empty()) chosen.insert(name);
    else report.refuse(name, std::move(reason));
  }
  UniqueNames unique(graph);
  std::vector<Node> nodes;
  Emitter emit(graph, unique, nodes);
  for (auto& node : graph.nodes) {
    if (!chosen.contains(node.name)) {
      nodes.push_back(std::move(node));
      continue;
    }
    const auto transpose = [&](const char* what, ValueId id, std::size_t rank, ValueId output = kNoValue) {
      return emit.node("Transpose", node.name + what, {id}, {{"perm", detail::swapped_last_axes(rank)}}, output);
    };
    const std::size_t rank_a = *known_rank(graph.value(node.inputs[0]));
    const std::size_t rank_b = *known_rank(graph.value(node.inputs[1]));
    const ValueId b = transpose(".transpose_b", node.inputs[1], rank_b);
    const ValueId a = transpose(".transpose_a", node.inputs[0], rank_a);
    const ValueId product = emit.named("MatMul", node.name, {b, a}, std::move(node.attributes));
    transpose(".transpose_back", product, std::max(rank_a, rank_b), node.outputs[0]);
    report.change(node.name, "has its operands swapped");
  }
  graph.nodes = std::move(nodes);
  return report;
}

}  // namespace amct::graph
