// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Which tensors must have the same quantization parameters. They are sets, so that no order of visits matters and
/// there are no cycles.

namespace amct::graph {

/// Operators that move data without computing: what comes out has the parameters of what goes in.
inline constexpr std::string_view kSharingOperators[] = {
    "Concat",  "DepthToSpace", "Expand",       "Flatten", "Gather",  "GlobalMaxPool", "Identity",  "MaxPool",
    "Reshape", "Slice",        "SpaceToDepth", "Split",   "Squeeze", "Tile",          "Transpose", "Unsqueeze"};

/// Sets of values that share parameters.
class SharingGroups {
 public:
  /// O(nodes).
  explicit SharingGroups(const Graph& graph) : parent_(graph.values.size()) {
    for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<ValueId>(i);
    const Uses uses(graph);
    for (const auto& node : graph.nodes) {
      if (!node.domain.empty() || !is_one_of(kSharingOperators, node.op_type)) continue;
      join_node(node, uses);
    }
  }

  [[nodiscard]] bool same(ValueId a, ValueId b) const noexcept { return find(a) == find(b); }

  /// The value with the lowest number in the set of `id`, which stands for the set.
  [[nodiscard]] ValueId representative(ValueId id) const noexcept { return find(id); }

  /// The sets with more than one value, each in ascending order.
  [[nodiscard]] std::vector<std::vector<ValueId>> groups() const {
    std::map<ValueId, std::vector<ValueId>> sets;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      sets[find(static_cast<ValueId>(i))].push_back(static_cast<ValueId>(i));
    }
    std::vector<std::vector<ValueId>> found;
    for (auto& [first, members] : sets) {
      if (members.size() > 1) found.push_back(std::move(members));
    }
    return found;
  }

 private:
  [[nodiscard]] ValueId find(ValueId id) const noexcept {
    while (parent_[static_cast<std::size_t>(id)] != id) id = parent_[static_cast<std::size_t>(id)];
    return id;
  }

  /// The lower number becomes the parent; paths are cut short on the way.
  void join(ValueId a, ValueId b) noexcept {
    const ValueId low = std::min(find(a), find(b));
    for (ValueId id : {a, b}) {
      while (id != low) id = std::exchange(parent_[static_cast<std::size_t>(id)], low);
    }
  }

  void join_node(const Node& node, const Uses& uses) {
    if (node.outputs.empty() || node.outputs[0] == kNoValue) return;
    const std::size_t data_inputs =
        node.op_type == "Concat" ? node.inputs.size() : std::min<std::size_t>(node.inputs.size(), 1);
    for (std::size_t i = 0; i < data_inputs; ++i) {
      if (node.inputs[i] != kNoValue && uses.constant(node.inputs[i]) == nullptr) join(node.inputs[i], node.outputs[0]);
    }
    const std::size_t data_outputs = node.op_type == "Split" ? node.outputs.size() : 1;
    for (std::size_t i = 1; i < data_outputs; ++i) {
      if (node.outputs[i] != kNoValue) join(node.outputs[i], node.outputs[0]);
    }
  }

  std::vector<ValueId> parent_;
};

/// One data input of a quantized layer.
struct LayerInput {
  std::string layer{};
  std::size_t input = 0;

  friend bool operator==(const LayerInput&, const LayerInput&) = default;
};

/// The data inputs of layers that must be quantized alike: those that read one tensor, and those whose tensors only
/// differ by operators that move data. Groups of two and more, in model order.
/// \param layers  that are quantized; those whose name is no node of the graph are passed over
[[nodiscard]] inline std::vector<std::vector<LayerInput>> sharing_inputs(const Graph& graph, const LayerTable& layers) {
  const SharingGroups groups(graph);
  const Uses uses(graph);
  std::map<std::string_view, const LayerInfo*> by_name;
  for (const auto& layer : layers) by_name.emplace(layer.name, &layer);
  std::vector<std::vector<LayerInput>> found;
  std::map<ValueId, std::size_t> group_of;
  for (const auto& node : graph.nodes) {
    const auto layer = by_name.find(node.name);
    if (layer == by_name.end()) continue;
    int data_inputs = 0;
    for (std::size_t i = 0; i < node.inputs.size() && data_inputs < layer->second->activation_inputs; ++i) {
      if (node.inputs[i] == kNoValue || uses.constant(node.inputs[i]) != nullptr) continue;
      ++data_inputs;
      const auto [entry, is_new] = group_of.try_emplace(groups.representative(node.inputs[i]), found.size());
      if (is_new) found.emplace_back();
      found[entry->second].push_back({node.name, i});
    }
  }
  std::erase_if(found, [](const auto& group) { return group.size() < 2; });
  return found;
}

}  // namespace amct::graph
