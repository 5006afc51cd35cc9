// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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

/// Makes the operator of one node, with what it needs from the node's attributes and constant inputs made ready.
/// \throws Error naming the node if it cannot be executed
using OpFactory = std::function<Op(const graph::Graph&, const graph::Node&)>;

/// Operators by ONNX name (`domain:name` outside the default domain), each in the forms that it has had since some
/// version of its domain. A row is an operator, or a factory that makes one for each node. The built-in ones are in
/// builtin_ops.hpp; users add rows of their own.
class OpSet {
 public:
  /// \param since  the first version of the domain in which the operator has this form
  void add(const std::string& name, std::int64_t since, Op op) { ops_[name][since] = {std::move(op), {}}; }
  /// An operator whose form never changed, or that handles all its forms.
  void add(const std::string& name, Op op) { add(name, 1, std::move(op)); }
  /// An operator that is made once a node, when the interpreter is.
  void add_factory(const std::string& name, std::int64_t since, OpFactory factory) {
    ops_[name][since] = {{}, std::move(factory)};
  }

  /// The form of an operator at a version of its domain; null if there is none, or if a factory makes it.
  [[nodiscard]] const Op* find(const std::string& name, std::int64_t version) const {
    const Form* form = find_form(name, version);
    return form == nullptr || form->op == nullptr ? nullptr : &form->op;
  }
  [[nodiscard]] const Op* find(const graph::Graph& graph, const graph::Node& node) const {
    return find(full_name(node), version_of(graph, node));
  }
  /// The operator that runs a node.
  /// \throws Error model_unsupported if the set has none, and what a factory throws
  [[nodiscard]] Op make(const graph::Graph& graph, const graph::Node& node) const {
    const Form* form = find_form(full_name(node), version_of(graph, node));
    if (form == nullptr) {
      throw Error(ErrorCode::model_unsupported, {.layer = node.name},
                  "operators that cannot be executed: " + full_name(node));
    }
    return form->factory ? form->factory(graph, node) : form->op;
  }

  /// A set in which wrap(op) stands for each operator, also for those that factories make.
  template <class Wrap>
  [[nodiscard]] OpSet wrapped(const Wrap& wrap) const {
    OpSet result = *this;
    for (auto& [name, forms] : result.ops_) {
      for (auto& [since, form] : forms) {
        if (form.op != nullptr) form.op = wrap(std::move(form.op));
        if (form.factory == nullptr) continue;
        form.factory = [wrap, make = std::move(form.factory)](const graph::Graph& graph,
                                                              const graph::Node& node) -> Op {
          return wrap(make(graph, node));
        };
      }
    }
    return result;
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
      if (find_form(full_name(node), version_of(graph, node)) == nullptr) {
        found.try_emplace(full_name(node), node.name);
      }
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
  /// One of both.
  struct Form {
    Op op;
    OpFactory factory;
  };

  [[nodiscard]] const Form* find_form(const std::string& name, std::int64_t version) const {
    const auto forms = ops_.find(name);
    if (forms == ops_.end()) return nullptr;
    const auto later = forms->second.upper_bound(version);
    return later == forms->second.begin() ? nullptr : &std::prev(later)->second;
  }

  std::map<std::string, std::map<std::int64_t, Form>> ops_;
};

}  // namespace amct::exec
