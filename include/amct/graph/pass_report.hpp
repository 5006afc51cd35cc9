// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace amct::graph {

/// What a pass says of one node.
struct PassNote {
  std::string node{};
  std::string text{};     ///< what became of it, or why nothing did
  std::string took_in{};  ///< the node that is part of it now, if there is one

  friend bool operator==(const PassNote&, const PassNote&) = default;
};

/// What a pass did, and where it found its pattern and did nothing. Nodes without the pattern are not mentioned.
struct PassReport {
  std::vector<PassNote> changed{};
  std::vector<PassNote> refused{};

  void change(std::string node, std::string text, std::string took_in = {}) {
    changed.push_back({std::move(node), std::move(text), std::move(took_in)});
  }
  void refuse(std::string node, std::string text) { refused.push_back({std::move(node), std::move(text), {}}); }

  [[nodiscard]] std::vector<std::string> changed_nodes() const {
    std::vector<std::string> names;
    for (const auto& note : changed) names.push_back(note.node);
    return names;
  }
};

}  // namespace amct::graph
