// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <amct/core/layer_table.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec::integer {

/// Operators of one input that compute each element from that element alone.
inline constexpr std::string_view kElementWise[] = {
    "Abs",      "AscendQuant", "Cast",        "Ceil",      "Celu",           "Clip",      "Elu",     "Erf",
    "Exp",      "Floor",       "HardSigmoid", "HardSwish", "Identity",       "LeakyRelu", "Log",     "Mish",
    "Neg",      "Reciprocal",  "Relu",        "Round",     "Selu",           "Shrink",    "Sigmoid", "Sign",
    "Softplus", "Softsign",    "Sqrt",        "Tanh",      "ThresholdedRelu"};

/// Operators of two inputs that meet element by element, by numpy's rules of broadcasting.
inline constexpr std::string_view kBinary[] = {"Add", "Div", "Max", "Min", "Mul", "Pow", "PRelu", "Sub"};

/// Whether a node is one of the operators of ONNX or of deployed networks.
[[nodiscard]] inline bool is_standard(const graph::Node& node, std::span<const std::string_view> types) noexcept {
  return node.domain.empty() && is_one_of(types, node.op_type);
}

/// The number of axes of values, as far as it follows from declared shapes, weights and the operators between.
class Ranks {
 public:
  /// O(nodes)
  explicit Ranks(const graph::Graph& graph) : ranks_(graph.values.size()) {
    for (std::size_t v = 0; v < ranks_.size(); ++v) ranks_[v] = graph::known_rank(graph.values[v]);
    for (const auto& node : graph.nodes) {
      const auto rank = result_rank(graph, node);
      for (const auto id : node.outputs) {
        if (id != graph::kNoValue && rank && !of(id)) ranks_[static_cast<std::size_t>(id)] = rank;
      }
    }
  }

  [[nodiscard]] std::optional<std::size_t> of(graph::ValueId id) const noexcept {
    const auto index = static_cast<std::size_t>(id);
    return id != graph::kNoValue && index < ranks_.size() ? ranks_[index] : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> result_rank(const graph::Graph& graph, const graph::Node& node) const {
    constexpr std::string_view kKeep[] = {"AveragePool",
                                          "BatchNormalization",
                                          "ConvTranspose",
                                          "Conv",
                                          "GlobalAveragePool",
                                          "GlobalMaxPool",
                                          "MaxPool",
                                          "Pad",
                                          "Resize",
                                          "Slice",
                                          "Split",
                                          "Concat",
                                          "Transpose",
                                          "Softmax"};
    if (is_integer_layer(node) && node.op_type != "IntegerMatMul" && node.input(kWeightInput) != graph::kNoValue) {
      return graph::known_rank(graph.value(node.input(kWeightInput)));
    }
    if (is_integer_layer(node) || is_standard(node, kKeep) || is_standard(node, kElementWise)) return of(node.input(0));
    if (!is_standard(node, kBinary) || node.inputs.size() != 2) return std::nullopt;
    const auto a = of(node.inputs[0]);
    const auto b = of(node.inputs[1]);
    return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  }

  std::vector<std::optional<std::size_t>> ranks_;
};

}  // namespace amct::exec::integer
