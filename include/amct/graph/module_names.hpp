// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/nearest.hpp>
#include <amct/graph/composites.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Names of layers as users of torch know them. An exported node is called "/layer1/layer1.0/conv1/Conv", its weight
/// "layer1.0.conv1.weight", and configs say "layer1.0.conv1".

namespace amct::graph {

/// The module path in a node name: "/layer1/layer1.0/conv1/Conv" gives "layer1.0.conv1". A module in a Sequential
/// repeats the name of the container. Empty for names that are no path, and for operators outside modules ("/Add").
[[nodiscard]] inline std::string module_path(std::string_view node_name) {
  if (!node_name.starts_with('/')) return {};
  std::string path;
  std::string_view last;  // the component before
  std::size_t begin = 1;
  for (std::size_t end = node_name.find('/', begin); end != std::string_view::npos; end = node_name.find('/', begin)) {
    const std::string_view part = node_name.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) return {};
    const bool repeats =
        !last.empty() && part.size() > last.size() && part.starts_with(last) && part[last.size()] == '.';
    if (!path.empty()) path += '.';
    path += repeats ? part.substr(last.size() + 1) : part;
    last = part;
  }
  return path;
}

/// The module that a weight belongs to: "layer1.0.conv1.weight" gives "layer1.0.conv1". Empty for other names.
[[nodiscard]] inline std::string module_of_weight(std::string_view value_name) {
  for (const std::string_view suffix : {".weight", ".weight_transposed"}) {
    if (value_name.size() > suffix.size() && value_name.ends_with(suffix)) {
      return std::string(value_name.substr(0, value_name.size() - suffix.size()));
    }
  }
  return {};
}

/// The names of a network's layers: for each node the key that configs and records use, and for each name that a user
/// may give its node.
class ModuleNames {
 public:
  explicit ModuleNames(const Graph& graph) {
    const Uses uses(graph);
    for (const auto& node : graph.nodes) {
      if (node.op_type != "Constant") nodes_.insert(node.name);
    }
    collect(graph, uses);
    for (const auto& [path, nodes] : paths_) {
      if (nodes.size() == 1) give_key(nodes.front(), path);
    }
    for (const auto& [module, nodes] : weights_) {
      if (!paths_.contains(module) && nodes.size() == 1 && !keys_.contains(nodes.front()))
        give_key(nodes.front(), module);
    }
  }

  /// What configs and records call a node: its module path, or the prefix of its weight, where that means this node
  /// alone; else its own name. Keys are unique.
  [[nodiscard]] const std::string& key(const std::string& node_name) const {
    const auto found = keys_.find(node_name);
    return found == keys_.end() ? node_name : found->second;
  }

  /// The nodes whose key is not their name.
  [[nodiscard]] const std::map<std::string, std::string>& keys() const noexcept { return keys_; }

  /// The nodes that a user may mean by a node name, a module path or the prefix of a weight's name, with or without the
  /// "module." that torch's DataParallel puts in front; the first kind of name that fits counts. Empty if none does.
  [[nodiscard]] std::vector<std::string> meant_by(const std::string& name) const {
    static constexpr std::string_view kParallel = "module.";
    for (const std::string& form : {name, name.starts_with(kParallel) ? name.substr(kParallel.size()) : std::string(),
                                    std::string(kParallel) + name}) {
      if (auto nodes = candidates(form); !nodes.empty()) return nodes;
    }
    return {};
  }

  /// The one node that a user means.
  /// \throws Error config_layer, with the nearest names, if there is none, and with the candidates if there are several
  [[nodiscard]] std::string resolve(const std::string& name) const {
    const auto nodes = meant_by(name);
    if (nodes.size() == 1) return nodes.front();
    throw Error(ErrorCode::config_layer, {.layer = name},
                nodes.empty() ? "there is no such layer in the model" + nearest(name) : ambiguity(nodes));
  }

  /// What to say of a name that may mean any of these nodes.
  [[nodiscard]] static std::string ambiguity(const std::vector<std::string>& nodes) {
    return "may be any of " + listed(nodes) + "; give the node's name";
  }

 private:
  void collect(const Graph& graph, const Uses& uses) {
    static constexpr std::string_view kWeighted[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"};
    std::map<std::string, std::vector<const Node*>> members;  // of each module
    std::set<std::string> containers;
    for (const auto& node : graph.nodes) {
      collect_weight(node, graph, uses);
      const std::string path = module_path(node.name);
      if (path.empty()) continue;
      for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
        containers.insert(path.substr(0, dot));
      }
      if (node.op_type != "Constant") members[path].push_back(&node);
    }
    const auto composites = find_composites(graph, uses);
    for (const auto& [path, nodes] : members) {
      std::vector<std::string> claims;
      for (const Node* node : nodes) {
        const bool has_weight =
            is_one_of(kWeighted, node->op_type) && uses.constant(weight_source(*node, uses)) != nullptr;
        if (has_weight) claims.push_back(node->name);
      }
      // Arithmetic that a container does between its modules has no name of its own.
      if (claims.empty() && containers.contains(path)) continue;
      if (claims.empty()) claims = without_insides(nodes, composites);
      paths_[path] = std::move(claims);
    }
  }

  /// A composite whose nodes are all of a module stands for the module.
  [[nodiscard]] static std::vector<std::string> without_insides(const std::vector<const Node*>& nodes,
                                                                const std::vector<Composite>& composites) {
    for (const auto& composite : composites) {
      if (composite.nodes == nodes) return {composite.root->name};
    }
    std::vector<std::string> names;
    for (const Node* node : nodes) names.push_back(node->name);
    return names;
  }

  /// The weight of a node, or the constant behind a Transpose, Identity or Cast of it.
  [[nodiscard]] static ValueId weight_source(const Node& node, const Uses& uses) {
    static constexpr std::string_view kPassing[] = {"Transpose", "Identity", "Cast"};
    ValueId id = node.input(1);
    for (int depth = 0; depth < 4; ++depth) {
      const Node* producer = uses.producer(id);
      if (producer == nullptr || !is_one_of(kPassing, producer->op_type)) break;
      id = producer->input(0);
    }
    return id;
  }

  void collect_weight(const Node& node, const Graph& graph, const Uses& uses) {
    const ValueId weight = weight_source(node, uses);
    if (weight == kNoValue || uses.constant(weight) == nullptr) return;
    const std::string module = module_of_weight(graph.value(weight).name);
    if (!module.empty()) weights_[module].push_back(node.name);
  }

  void give_key(const std::string& node, const std::string& key) {
    if (!nodes_.contains(key) && taken_.insert(key).second) keys_[node] = key;
  }

  /// The nodes that a name may mean; the first kind of name that fits counts.
  [[nodiscard]] std::vector<std::string> candidates(const std::string& name) const {
    if (name.empty()) return {};
    if (nodes_.contains(name)) return {name};
    if (const auto path = paths_.find(name); path != paths_.end()) return path->second;
    if (const auto weight = weights_.find(name); weight != weights_.end()) return weight->second;
    return {};
  }

  [[nodiscard]] static std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "\"" : ", \"") + names[i] + '"';
    return names.size() > kMost ? text + " ..." : text;
  }

  [[nodiscard]] std::string nearest(const std::string& name) const {
    std::set<std::string> known = nodes_;
    for (const auto& [path, nodes] : paths_) known.insert(path);
    for (const auto& [module, nodes] : weights_) known.insert(module);
    return did_you_mean(nearest_names(name, known));
  }

  std::set<std::string> nodes_;
  std::map<std::string, std::vector<std::string>> paths_;    ///< nodes by their module path
  std::map<std::string, std::vector<std::string>> weights_;  ///< nodes by the module that their weight names
  std::map<std::string, std::string> keys_;                  ///< by node name
  std::set<std::string> taken_;
};

}  // namespace amct::graph
