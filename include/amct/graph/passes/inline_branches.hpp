// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

/// Puts the nodes of a body in place of the If that has it.
class BranchInliner {
 public:
  BranchInliner(Graph& graph, UniqueNames& names, std::vector<Node>& nodes)
      : graph_(graph), names_(names), nodes_(nodes) {}

  void run(const Node& node, const Graph& body) {
    std::vector<ValueId> here(body.values.size(), kNoValue);  // by value of the body: the value that stands for it
    const std::size_t first = node.inputs.size() - node.captured;
    for (std::size_t i = 0; i < node.captured; ++i) here[index(body.inputs[i])] = node.inputs[first + i];
    for (std::size_t v = 0; v < here.size(); ++v) {
      if (here[v] != kNoValue) continue;
      Value value = body.values[v];
      value.name = names_.value(value.name);
      here[v] = graph_.add_value(std::move(value));
    }
    for (const Node& inner : body.nodes) {
      Node copy = inner;
      copy.name = names_.node(inner.name);
      for (auto* ids : {&copy.inputs, &copy.outputs}) {
        for (ValueId& id : *ids) id = id == kNoValue ? kNoValue : here[index(id)];
      }
      nodes_.push_back(std::move(copy));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      nodes_.push_back({.op_type = "Identity",
                        .name = names_.node(node.name + ".output" + std::to_string(i)),
                        .inputs = {here[index(body.outputs[i])]},
                        .outputs = {node.outputs[i]}});
    }
  }

 private:
  static std::size_t index(ValueId id) noexcept { return static_cast<std::size_t>(id); }

  Graph& graph_;
  UniqueNames& names_;
  std::vector<Node>& nodes_;
};

/// The branch that an If always takes; null if its condition is not a constant.
[[nodiscard]] inline const Body* constant_branch(const Node& node, const Uses& uses) {
  const auto condition = scalar_value(uses.constant(node.input(0)));
  return condition ? node.attribute<Body>(*condition != 0.0 ? "then_branch" : "else_branch") : nullptr;
}

}  // namespace detail

/// Replaces each If whose condition is a constant by the nodes of the branch that it takes; an Identity makes each of
/// its results. If inside a branch is replaced too.
inline PassReport inline_branches(Graph& graph) {
  PassReport report;
  UniqueNames names(graph);
  constexpr int kDeepest = 32;
  bool found = true;
  for (int depth = 0; found && depth < kDeepest; ++depth) {
    found = false;
    const Uses uses(graph);
    const std::vector<Node> before = std::move(graph.nodes);  // whose elements stay where they are
    std::vector<Node> nodes;
    for (const Node& node : before) {
      const bool is_if = node.op_type == "If" && node.domain.empty();
      const Body* branch = is_if ? detail::constant_branch(node, uses) : nullptr;
      if (branch == nullptr || *branch == nullptr || (*branch)->inputs.size() != node.captured) {
        nodes.push_back(node);
        continue;
      }
      detail::BranchInliner(graph, names, nodes).run(node, **branch);
      report.change(node.name, "gives way to the branch that is always taken");
      found = true;
    }
    graph.nodes = std::move(nodes);
  }
  if (!report.changed.empty()) remove_unused(graph);
  return report;
}

}  // namespace amct::graph
