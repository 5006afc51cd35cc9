// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include <amct/graph/ir.hpp>

namespace amct::graph {

/// Hands out names that no value or node of a graph has yet.
class UniqueNames {
 public:
  explicit UniqueNames(const Graph& graph) {
    for (const auto& value : graph.values) values_.insert(value.name);
    for (const auto& node : graph.nodes) nodes_.insert(node.name);
  }

  /// `wanted`, or `wanted`_2, _3 ... if it is taken.
  [[nodiscard]] std::string value(const std::string& wanted) { return take(values_, wanted); }
  [[nodiscard]] std::string node(const std::string& wanted) { return take(nodes_, wanted); }

 private:
  static std::string take(std::set<std::string>& taken, const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken.insert(name).second; ++i) name = wanted + '_' + std::to_string(i);
    return name;
  }

  std::set<std::string> values_;
  std::set<std::string> nodes_;
};

}  // namespace amct::graph
