// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <amct/core/error.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// Operators by ONNX name (`domain:name` outside the default domain), each in the forms that it has had since some
/// version of its domain. The built-in ones are in builtin_ops.hpp; users add rows of their own.
class OpSet {
 public:
  /// \param since  the first version of the domain in which the operator has this form
  void add(const std::string& name, std::int64_t since, Op op) { ops_[name][since] = std::move(op); }
  /// An operator whose form never changed, or that handles all its forms.
  void add(const std::string& name, Op op) { add(name, 1, std::move(op)); }

  /// The form of an operator at a version of its domain; null if there is none.
  [[nodiscard]] const Op* find(const std::string& name, std::int64_t version) const {
    const auto forms = ops_.find(name);
    if (forms == ops_.end()) return nullptr;
    const auto later = forms->second.upper_bound(version);
    return later == forms->second.begin() ? nullptr : &std::prev(later)->second;
  }
  [[nodiscard]] const Op* find(const graph::Graph& graph, const graph::Node& node) const {
    return find(full_name(node), version_of(graph, node));
  }

  /// The names of all operators.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& [name, forms] : ops_) found.insert(name);
    return found;
  }

  /// The operators of a network that the set lacks, each with the name of the first node that uses it; bodies of
  /// control-flow nodes are included.
  [[nodiscard]] std::map<std::string, std::string> missing(const graph::Graph& graph) const {
    std::map<std::string, std::string> found;
    for (const auto& node : graph.nodes) {
      if (find(graph, node) == nullptr) found.try_emplace(full_name(node), node.name);
      for (const auto& [name, value] : node.attributes) {
        if (const auto* body = std::get_if<graph::Body>(&value)) found.merge(missing(**body));
      }
    }
    return found;
  }

  /// Refuses a network with operators outside the set, naming each once with a node that uses it.
  void require_all(const graph::Graph& graph) const {
    const auto lacking = missing(graph);
    if (lacking.empty()) return;
    std::string names;
    for (const auto& [op, node] : lacking) names += (names.empty() ? "" : ", ") + op;
    throw Error(ErrorCode::model_unsupported, {.layer = lacking.begin()->second},
                "operators that cannot be executed: " + names);
  }

  /// `domain:op_type`, or the type alone in the default domain.
  [[nodiscard]] static std::string full_name(const graph::Node& node) {
    return node.domain.empty() ? node.op_type : node.domain + ':' + node.op_type;
  }
  /// The version of the node's domain; 1 if the graph does not say.
  [[nodiscard]] static std::int64_t version_of(const graph::Graph& graph, const graph::Node& node) {
    if (node.domain.empty()) return graph.opset;
    const auto found = graph.domains.find(node.domain);
    return found == graph.domains.end() ? 1 : found->second;
  }

 private:
  std::map<std::string, std::map<std::int64_t, Op>> ops_;
};

}  // namespace amct::exec
