// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include <amct/graph/ir.hpp>

namespace amct::graph {

/// Hands out names that no value or node of a graph has yet.
class UniqueNames {
 public:
  explicit UniqueNames(const Graph& graph) {
    for (const auto& value : graph.values) values_.taken.insert(value.name);
    for (const auto& node : graph.nodes) nodes_.taken.insert(node.name);
  }

  /// `wanted`, or `wanted`_2, _3 ... if it is taken.
  [[nodiscard]] std::string value(const std::string& wanted) { return take(values_, wanted); }
  [[nodiscard]] std::string node(const std::string& wanted) { return take(nodes_, wanted); }

 private:
  struct Names {
    std::set<std::string> taken;
    std::map<std::string, int> last_number;  ///< tried for a name, so that many equal names take no quadratic time
  };

  static std::string take(Names& names, const std::string& wanted) {
    if (names.taken.insert(wanted).second) return wanted;
    int& number = names.last_number.try_emplace(wanted, 1).first->second;
    std::string name;
    do name = wanted + '_' + std::to_string(++number);
    while (!names.taken.insert(name).second);
    return name;
  }

  Names values_;
  Names nodes_;
};

}  // namespace amct::graph
