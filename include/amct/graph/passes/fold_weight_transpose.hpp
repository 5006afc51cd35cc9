// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// A MatMul whose weight is the Transpose of a float32 matrix initializer gets the transposed matrix as its own
/// initializer `<layer>.weight_transposed`: exporters write a Linear layer of more than two axes so.
inline PassReport fold_weight_transpose(Graph& graph) {
  const Uses uses(graph);
  UniqueNames names(graph);
  PassReport report;
  for (auto& node : graph.nodes) {
    const Node* transpose = uses.producer(node.input(kWeightInput));
    if (node.op_type != "MatMul" || transpose == nullptr || transpose->op_type != "Transpose") continue;
    const auto& weight = graph.value(transpose->input(0)).initializer;
    if (!weight || weight->type() != ElementType::float32 || weight->shape().rank() != 2) continue;
    using Axes = std::vector<std::int64_t>;
    if (transpose->attribute_or<Axes>("perm", {1, 0}) != Axes{1, 0}) continue;
    node.inputs[kWeightInput] =
        add_initializer(graph, names.value(node.name + ".weight_transposed"), transposed(*weight));
    report.change(node.name, "has the transposed weight as its own");
  }
  remove_unused(graph);
  return report;
}

}  // namespace amct::graph
