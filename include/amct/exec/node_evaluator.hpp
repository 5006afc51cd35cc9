// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/fold_constants.hpp>

namespace amct::exec {

/// What graph::fold_constants computes nodes with. Operators that `ops` lacks, or that refuse their inputs, give
/// nothing. `ops` must outlive the evaluator.
[[nodiscard]] inline graph::Evaluator node_evaluator(const OpSet& ops) {
  return [&ops](const graph::Graph& graph, const graph::Node& node,
                std::span<const Tensor* const> inputs) -> std::optional<std::vector<Tensor>> {
    const Op* op = ops.find(graph, node);
    if (op == nullptr) return std::nullopt;
    std::vector<Tensor> outputs(node.outputs.size());
    try {
      (*op)({.node = node, .opset = OpSet::version_of(graph, node), .inputs = inputs, .outputs = outputs});
    } catch (const Error&) {
      return std::nullopt;
    }
    return outputs;
  };
}

}  // namespace amct::exec
