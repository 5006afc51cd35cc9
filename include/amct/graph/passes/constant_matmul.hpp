// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/emitter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/passes/swap_matmul_operands.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

/// A float32 constant that is a matrix but for axes of size 1 in front, as a matrix.
[[nodiscard]] inline std::optional<Tensor> as_matrix(const Tensor& constant) {
  const std::size_t rank = constant.shape().rank();
  if (constant.type() != ElementType::float32 || rank < 2 || constant.size() == 0) return {};
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (constant.shape()[i] != 1) return {};
  }
  Tensor matrix = constant;
  matrix.reshape(Shape{constant.shape()[rank - 2], constant.shape()[rank - 1]});
  return matrix;
}

class ConstantMatMul {
 public:
  explicit ConstantMatMul(Graph& graph) : graph_(graph), uses_(graph), names_(graph) {}

  PassReport run() {
    for (const Node& node : graph_.nodes) {
      if (node.op_type != "MatMul" || !node.domain.empty() || node.inputs.size() != 2 || !rewrite(node)) {
        nodes_.push_back(node);
      }
    }
    graph_.nodes = std::move(nodes_);
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  /// \return whether other nodes stand for the product now
  bool rewrite(const Node& node) {
    const Tensor* first = uses_.constant(node.inputs[0]);
    const Tensor* second = uses_.constant(node.inputs[1]);
    const bool one_constant = (first == nullptr) != (second == nullptr);
    if (!one_constant || (second != nullptr && second->shape().rank() <= 2)) return false;
    const Tensor& constant = first != nullptr ? *first : *second;
    const auto matrix = as_matrix(constant);
    if (!matrix) {
      report_.refuse(node.name, "its constant operand is no matrix of float32");
      return false;
    }
    const auto rank = known_rank(graph_.value(node.inputs[first != nullptr ? 1 : 0]));
    if (!rank || *rank < constant.shape().rank()) {
      report_.refuse(node.name, rank ? "its constant operand has more axes than its data"
                                     : "the number of axes of its data is not known");
      return false;
    }
    if (first != nullptr) turn(node, *matrix, *rank);
    else flatten(node, *matrix);
    return true;
  }

  /// x W with a W of more axes.
  void flatten(const Node& node, const Tensor& matrix) {
    emit_.named("MatMul", node.name, {node.inputs[0], weight(node, matrix)}, {}, node.outputs[0]);
    report_.change(node.name, "has a matrix as its weight");
  }

  /// W x = (x^T W^T)^T
  void turn(const Node& node, const Tensor& matrix, std::size_t rank) {
    const auto transpose = [&](const char* suffix, ValueId id, ValueId output = kNoValue) {
      return emit_.node("Transpose", node.name + suffix, {id}, {{"perm", swapped_last_axes(rank)}}, output);
    };
    const ValueId data = transpose(".transpose", node.inputs[1]);
    const ValueId product = emit_.named("MatMul", node.name, {data, weight(node, transposed(matrix))}, {});
    transpose(".transpose_back", product, node.outputs[0]);
    report_.change(node.name, "has its constant as a weight on the right, between two Transpose nodes");
  }

  [[nodiscard]] ValueId weight(const Node& node, Tensor matrix) {
    return add_initializer(graph_, names_.value(node.name + ".weight"), std::move(matrix));
  }

  Graph& graph_;
  Uses uses_;
  UniqueNames names_;
  std::vector<Node> nodes_;
  Emitter emit_{graph_, names_, nodes_};
  PassReport report_;
};

}  // namespace detail

/// Makes a fully connected layer of a MatMul with a constant that is no plain weight yet: on its left side, or with
/// axes of size 1 in front. The layer keeps its name.
inline PassReport constant_matmul(Graph& graph) { return detail::ConstantMatMul(graph).run(); }

}  // namespace amct::graph
