// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/graph/composites.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// Domain of nodes that stand for a composite. Their attribute `body` holds the nodes inside.
inline constexpr std::string_view kCompositeDomain = "amct.composite";

namespace detail {

/// Moves the nodes of a composite into a body and gives the node that stands for them.
class CompositeGrouper {
 public:
  CompositeGrouper(Graph& graph, const Composite& composite) : graph_(graph), composite_(composite) {
    body_.opset = graph.opset;
    body_.domains = graph.domains;
  }

  [[nodiscard]] Node run() {
    (void)outside(composite_.input);  // the data come first
    for (const Node* node : composite_.nodes) add(*node);
    const ValueId result = composite_.root->outputs[0];
    body_.outputs = {ids_.at(result)};
    return {composite_.op_type,
            std::string(kCompositeDomain),
            composite_.root->name,
            std::move(inputs_),
            {result},
            {{"body", Body(std::make_shared<Graph>(std::move(body_)))}}};
  }

 private:
  void add(const Node& node) {
    Node inner = node;
    for (ValueId& id : inner.inputs) id = outside(id);
    for (ValueId& id : inner.outputs) id = inside(id);
    body_.nodes.push_back(std::move(inner));
  }

  /// An input of a node: what the body made before, or else an input of the body.
  ValueId outside(ValueId id) {
    if (id == kNoValue) return id;
    const auto [entry, is_new] = ids_.try_emplace(id);
    if (!is_new) return entry->second;
    const Value& value = graph_.value(id);
    entry->second = body_.add_value({.name = value.name, .type = value.type, .shape = value.shape});
    body_.inputs.push_back(entry->second);
    inputs_.push_back(id);
    return entry->second;
  }

  /// A result of a node. What does not leave the body gives up its name outside.
  ValueId inside(ValueId id) {
    if (id == kNoValue) return id;
    Value& value = graph_.value(id);
    const bool leaves = id == composite_.root->outputs[0];
    const ValueId inner =
        body_.add_value({.name = leaves ? value.name : std::exchange(value.name, {}), .shape = value.shape});
    ids_[id] = inner;
    return inner;
  }

  Graph& graph_;
  const Composite& composite_;
  Graph body_;
  std::map<ValueId, ValueId> ids_;  // outside -> inside
  std::vector<ValueId> inputs_;
};

}  // namespace detail

/// Makes one node of each composite, so that every pass sees one layer with one input that carries data: op_type of the
/// composite, domain amct.composite, name of the last node. expand_composites() undoes it.
/// \param types  op_types of the composites that are grouped
inline PassReport group_composites(Graph& graph, std::span<const std::string_view> types) {
  PassReport report;
  const Uses uses(graph);
  const CompositeIndex index(graph, uses, types);
  std::vector<Node> nodes;
  for (auto& node : graph.nodes) {
    const Composite* composite = index.of(node);
    if (composite == nullptr) {
      nodes.push_back(node);
    } else if (composite->root == &node) {
      report.change(node.name,
                    "is a " + composite->op_type + " of " + std::to_string(composite->nodes.size()) + " nodes");
      nodes.push_back(detail::CompositeGrouper(graph, *composite).run());
    }
  }
  graph.nodes = std::move(nodes);
  return report;
}

namespace detail {

/// What is inside a node of group_composites(); null for other nodes, which a file may have called the same.
[[nodiscard]] inline const Graph* composite_body(const Node& node) {
  const Body* body = node.domain == kCompositeDomain ? node.attribute<Body>("body") : nullptr;
  if (body == nullptr || (*body)->outputs.size() != 1 || node.outputs.size() != 1) return nullptr;
  return (*body)->inputs.size() == node.inputs.size() ? body->get() : nullptr;
}

}  // namespace detail

/// Puts the nodes of each composite back, under their names.
inline void expand_composites(Graph& graph) {
  UniqueNames names(graph);
  std::vector<Node> nodes;
  for (auto& node : graph.nodes) {
    const Graph* body = detail::composite_body(node);
    if (body == nullptr) {
      nodes.push_back(std::move(node));
      continue;
    }
    const Graph& inner = *body;
    std::vector<ValueId> ids(inner.values.size(), kNoValue);  // inside -> outside
    for (std::size_t i = 0; i < inner.inputs.size(); ++i)
      ids[static_cast<std::size_t>(inner.inputs[i])] = node.input(i);
    ids[static_cast<std::size_t>(inner.outputs[0])] = node.outputs[0];
    for (Node part : inner.nodes) {
      const bool last = std::find(part.outputs.begin(), part.outputs.end(), inner.outputs[0]) != part.outputs.end();
      part.name = last ? node.name : names.node(part.name);
      for (ValueId& id : part.inputs) id = id == kNoValue ? id : ids[static_cast<std::size_t>(id)];
      for (ValueId& id : part.outputs) {
        if (id == kNoValue) continue;
        ValueId& outer = ids[static_cast<std::size_t>(id)];
        if (outer == kNoValue) {
          const Value& value = inner.value(id);
          outer = graph.add_value({.name = names.value(value.name), .shape = value.shape});
        }
        id = outer;
      }
      nodes.push_back(std::move(part));
    }
  }
  graph.nodes = std::move(nodes);
}

}  // namespace amct::graph
