// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

/// The values by which a constant multiplies or shifts each channel (axis 1) of a tensor; empty if it is not constant
/// along the other axes, or broadcasting would change the tensor's shape. A scalar needs no known rank.
[[nodiscard]] inline std::optional<std::vector<float>> channel_constant(const Tensor* constant, const Value& value,
                                                                        std::size_t channels) {
  if (constant == nullptr || constant->type() != ElementType::float32) return {};
  const Shape& shape = constant->shape();
  const auto data = constant->data<float>();
  if (shape.rank() == 0) return std::vector<float>(channels, data[0]);
  const auto rank = known_rank(value);
  if (!rank || shape.rank() > *rank) return {};
  if (data.size() == 1) return std::vector<float>(channels, data[0]);
  const std::size_t missing = *rank - shape.rank();  // axes that the constant lacks in front
  if (missing > 1 || data.size() != channels || shape[1 - missing] != static_cast<std::int64_t>(channels)) return {};
  return std::vector<float>(data.begin(), data.end());
}

AMCT_EXACT_BEGIN

/// BatchNormalization then * factor: gamma and beta take it in. Then + factor: beta does.
inline void take_in(bool multiply, const std::vector<float>& factors, std::span<float> gamma, std::span<float> beta) {
  for (std::size_t c = 0; c < factors.size(); ++c) {
    if (multiply) {
      gamma[c] = gamma[c] * factors[c];
      beta[c] = beta[c] * factors[c];
    } else {
      beta[c] = beta[c] + factors[c];
    }
  }
}

AMCT_EXACT_END

/// A BatchNormalization that takes in the arithmetic behind it, one node after the other.
class NormAffineFuser {
 public:
  explicit NormAffineFuser(Graph& graph) : graph_(graph), uses_(graph), names_(graph) {}

  PassReport run() {
    for (auto& node : graph_.nodes) {
      if (node.op_type == "BatchNormalization" && node.domain.empty()) fuse(node);
    }
    std::erase_if(graph_.nodes, [&](const Node& node) { return absorbed_.contains(node.name); });
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  void fuse(Node& norm) {
    const Tensor* first = uses_.constant(norm.input(1));
    if (first == nullptr) return;
    const auto parameters = batch_norm_of(norm, first->size(), uses_);
    if (!parameters) return;
    Tensor gamma = *uses_.constant(norm.input(1));
    Tensor beta = *uses_.constant(norm.input(2));
    bool changed = false;
    while (const Node* next = affine_behind(norm.outputs[0])) {
      const std::size_t data = next->input(0) == norm.outputs[0] ? 0 : 1;
      const auto factors =
          channel_constant(uses_.constant(next->input(1 - data)), graph_.value(norm.outputs[0]), first->size());
      if (!factors) {
        report_.refuse(norm.name, next->name + " has no operand that is known to be one constant a channel");
        break;
      }
      Tensor new_gamma = gamma;
      Tensor new_beta = beta;
      take_in(next->op_type == "Mul", *factors, new_gamma.data<float>(), new_beta.data<float>());
      if (!all_finite(new_gamma.data<float>()) || !all_finite(new_beta.data<float>())) {
        report_.refuse(norm.name, "with " + next->name + " the result would not be finite");
        break;
      }
      gamma = std::move(new_gamma);
      beta = std::move(new_beta);
      norm.outputs[0] = next->outputs[0];
      absorbed_.insert(next->name);
      report_.change(norm.name, "takes in " + next->name);
      changed = true;
    }
    if (!changed) return;
    norm.inputs[1] = add_initializer(graph_, names_.value(norm.name + ".scale"), std::move(gamma));
    norm.inputs[2] = add_initializer(graph_, names_.value(norm.name + ".bias"), std::move(beta));
  }

  /// The Mul or Add that alone reads a value.
  [[nodiscard]] const Node* affine_behind(ValueId id) const {
    if (!uses_.has_single_use(id)) return nullptr;
    const Node* next = uses_.consumers(id).front();
    const bool affine = next->domain.empty() && (next->op_type == "Mul" || next->op_type == "Add");
    return affine && next->inputs.size() == 2 ? next : nullptr;
  }

  Graph& graph_;
  Uses uses_;
  UniqueNames names_;
  std::set<std::string> absorbed_;
  PassReport report_;
};

}  // namespace detail

/// Folds a Mul or Add by one constant a channel, or one for all, into the BatchNormalization in front of it, as
/// flavours do whose fold set says `standalone`. Of a constant that is no scalar it must be known, from declared
/// shapes, that it lies along the channels.
inline PassReport fuse_norm_affine(Graph& graph) { return detail::NormAffineFuser(graph).run(); }

}  // namespace amct::graph
