// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/ir.hpp>

namespace amct::graph {

/// The nodes that depend on constants alone, so that a compiler computes them beforehand; Constant nodes are not
/// counted, nor what is different in every run. O(nodes)
[[nodiscard]] inline std::set<const Node*> offline_nodes(const Graph& graph) {
  static constexpr std::string_view kRandom[] = {"RandomNormal", "RandomUniform", "RandomNormalLike",
                                                 "Multinomial",  "Bernoulli",     "RandomUniformLike"};
  std::vector<char> constant(graph.values.size(), 0);
  for (std::size_t i = 0; i < graph.values.size(); ++i) constant[i] = graph.values[i].initializer ? 1 : 0;
  for (const ValueId id : graph.inputs) constant[static_cast<std::size_t>(id)] = 0;
  std::set<const Node*> found;
  for (const Node& node : graph.nodes) {
    const bool depends = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != kNoValue && constant[static_cast<std::size_t>(id)] == 0;
    });
    if (depends || is_one_of(kRandom, node.op_type)) continue;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) constant[static_cast<std::size_t>(id)] = 1;
    }
    if (node.op_type != "Constant") found.insert(&node);
  }
  return found;
}

}  // namespace amct::graph
