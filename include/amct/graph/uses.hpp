// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <amct/graph/ir.hpp>

namespace amct::graph {

/// Who makes and who reads each value, as it was when this was built. O(nodes) to build, O(1) to ask.
class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph), producers_(graph.values.size()), consumers_(graph.values.size()) {
    for (const auto& node : graph.nodes) {
      for (const ValueId id : node.outputs) {
        if (id != kNoValue) producers_[index(id)] = &node;
      }
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) consumers_[index(id)].push_back(&node);
      }
    }
  }

  /// The node that makes a value; null for graph inputs and initializers.
  [[nodiscard]] const Node* producer(ValueId id) const noexcept {
    return id == kNoValue ? nullptr : producers_[index(id)];
  }
  /// The nodes that read a value, once for each input that does.
  [[nodiscard]] const std::vector<const Node*>& consumers(ValueId id) const noexcept { return consumers_[index(id)]; }
  [[nodiscard]] bool is_graph_output(ValueId id) const noexcept {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
  }
  /// True if one node reads the value and nothing else needs it.
  [[nodiscard]] bool has_single_use(ValueId id) const noexcept {
    return consumers(id).size() == 1 && !is_graph_output(id);
  }
  /// The data of a constant value: an initializer or the output of a Constant node; null otherwise.
  [[nodiscard]] const Tensor* constant(ValueId id) const noexcept {
    if (id == kNoValue) return nullptr;
    const auto& initializer = graph_.value(id).initializer;
    if (initializer) return &*initializer;
    const Node* node = producer(id);
    return node != nullptr && node->op_type == "Constant" ? node->attribute<Tensor>("value") : nullptr;
  }

 private:
  static std::size_t index(ValueId id) noexcept { return static_cast<std::size_t>(id); }

  const Graph& graph_;
  std::vector<const Node*> producers_;
  std::vector<std::vector<const Node*>> consumers_;
};

}  // namespace amct::graph
