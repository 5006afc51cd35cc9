// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/share.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// The range of a tensor: the one that is given, or what follows from the operator that makes it (Softmax, Sigmoid,
/// Tanh, Clip ...), also through operators that only move data. Empty if neither is known.
[[nodiscard]] inline std::optional<TensorRange> range_of(ValueId id, const Graph& graph, const Uses& uses,
                                                         const std::map<std::string, TensorRange>& given) {
  static constexpr std::string_view kFromZero[] = {"Softmax", "Sigmoid", "HardSigmoid"};
  static constexpr std::string_view kBothSigns[] = {"Tanh", "Softsign", "Sin", "Cos"};
  constexpr int kFarthest = 64;
  for (int step = 0; step < kFarthest && id != kNoValue; ++step) {
    if (const auto found = given.find(graph.value(id).name); found != given.end()) return found->second;
    const Node* node = uses.producer(id);
    if (node == nullptr || !node->domain.empty()) return {};
    if (is_one_of(kFromZero, node->op_type)) return TensorRange{0.0, 1.0};
    if (is_one_of(kBothSigns, node->op_type)) return TensorRange{-1.0, 1.0};
    if (node->op_type == "Clip") {
      const auto bound = [&](std::string_view key, std::size_t input) -> std::optional<double> {
        if (const float* value = node->attribute<float>(key)) return static_cast<double>(*value);
        return scalar_value(uses.constant(node->input(input)));
      };
      const auto lowest = bound("min", 1);
      const auto highest = bound("max", 2);
      if (lowest && highest) return TensorRange{*lowest, *highest};
      return {};
    }
    if (!is_one_of(kSharingOperators, node->op_type) || node->op_type == "Concat") return {};
    id = node->input(0);
  }
  return {};
}

/// The products of two data tensors whose second operand has a range more than four times as wide as the first: two
/// bits that it lacks and the other could spare. On the device the first may have more than 8 bits and an offset.
[[nodiscard]] inline std::vector<std::string> wide_second_operands(const Graph& graph,
                                                                   const std::map<std::string, TensorRange>& given) {
  constexpr double kWider = 4.0;
  const Uses uses(graph);
  std::vector<std::string> found;
  for (const Node& node : graph.nodes) {
    if (node.op_type != "MatMul" || !node.domain.empty() || node.inputs.size() != 2) continue;
    if (uses.constant(node.inputs[0]) != nullptr || uses.constant(node.inputs[1]) != nullptr) continue;
    const auto first = range_of(node.inputs[0], graph, uses, given);
    const auto second = range_of(node.inputs[1], graph, uses, given);
    if (first && second && second->width() > kWider * first->width()) found.push_back(node.name);
  }
  return found;
}

}  // namespace amct::graph
