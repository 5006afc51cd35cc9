// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/emitter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>

namespace amct::graph {

namespace detail {

/// Why a reduction does not get keepdims = 1; empty if it can.
[[nodiscard]] inline std::string refuse_keeping(const Node& node, std::int64_t opset) {
  if (node.attribute_or<std::int64_t>("noop_with_empty_axes", 0) != 0) return "has noop_with_empty_axes";
  if (node.input(1) != kNoValue && opset < 13) return "has its axes as an input, which Squeeze has since opset 13";
  return {};
}

}  // namespace detail

/// Gives reductions keepdims = 1 and a Squeeze behind them that takes the axes out: on the device a reduction keeps
/// its axes. The layer keeps its name. \param op_types  the reductions, such as ReduceMax
inline PassReport keep_reduced_dims(Graph& graph, std::span<const std::string_view> op_types) {
  PassReport report;
  UniqueNames names(graph);
  std::vector<Node> nodes;
  Emitter emit(graph, names, nodes);
  for (Node& node : graph.nodes) {
    const bool drops = node.domain.empty() && is_one_of(op_types, node.op_type) && !node.outputs.empty() &&
                       node.attribute_or<std::int64_t>("keepdims", 1) == 0;
    const std::string reason = drops ? detail::refuse_keeping(node, graph.opset) : "";
    if (!reason.empty()) report.refuse(node.name, reason);
    if (!drops || !reason.empty()) {
      nodes.push_back(std::move(node));
      continue;
    }
    report.change(node.name, "keeps its axes, and a Squeeze takes them out");
    const ValueId output = node.outputs[0];
    node.outputs[0] = graph.add_value({.name = names.value(node.name + ".output0"), .type = graph.value(output).type});
    node.set_attribute("keepdims", std::int64_t{1});
    std::vector<ValueId> inputs{node.outputs[0]};
    Emitter::Attributes attributes;
    const auto* axes = node.attribute<std::vector<std::int64_t>>("axes");
    if (axes != nullptr && axes->empty()) axes = nullptr;  // means all, of which Squeeze is not sure
    if (node.input(1) != kNoValue) {
      inputs.push_back(node.input(1));
    } else if (axes != nullptr && graph.opset < 13) {
      attributes.emplace_back("axes", *axes);
    } else if (axes != nullptr) {
      inputs.push_back(add_initializer(graph, names.value(node.name + ".axes"), int64_tensor(*axes)));
    }
    const std::string name = node.name;
    nodes.push_back(std::move(node));
    emit.node("Squeeze", name + ".squeeze", std::move(inputs), std::move(attributes), output);
  }
  graph.nodes = std::move(nodes);
  return report;
}

}  // namespace amct::graph
