// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/share.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// True for operators that move data without computing (kSharingOperators), so that codes pass through them as they
/// are. None is a MaxPool whose indices are used, since equal codes may stand for different numbers, and an operator
/// that chooses from a constant, which is quantized better where it is used.
[[nodiscard]] inline bool moves_data(const Node& node, const Uses& uses) {
  if (!node.domain.empty() || !is_one_of(kSharingOperators, node.op_type)) return false;
  if (node.captured != 0 || node.input(0) == kNoValue || node.outputs.empty() || node.outputs[0] == kNoValue) {
    return false;
  }
  if (node.op_type != "Concat" && uses.constant(node.inputs[0]) != nullptr) return false;
  const bool has_indices = node.op_type == "MaxPool" && node.outputs.size() > 1 && node.outputs[1] != kNoValue;
  return !has_indices || (uses.consumers(node.outputs[1]).empty() && !uses.is_graph_output(node.outputs[1]));
}

namespace detail {

/// True if quantizing what the AntiQuant made gives the codes back. The quotient of two roundings is off by less than
/// 2^-6 of a step, so it rounds to the code, unless the scale makes a product subnormal or infinite.
[[nodiscard]] inline bool undoes(const Node& anti, const Node& quant) {
  constexpr float kSmallest = 0x1p-100F;
  const AntiQuantSource source = anti_quant_source(anti);
  const QuantTarget target = quant_target(quant);
  return source.scale >= kSmallest && source.scale <= 1.0F / kSmallest && target.scale == 1.0F / source.scale &&
         target.offset == source.offset && target.range == range_attribute(anti);
}

class CodeMover {
 public:
  explicit CodeMover(Graph& graph) : graph_(graph), uses_(graph), names_(graph) {}

  [[nodiscard]] PassReport run() {
    for (const Node& node : graph_.nodes) {
      if (moves_data(node, uses_)) movers_.insert(&node);
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      for (const ValueId id : node->outputs) {
        if (const Node* wanted = id == kNoValue ? nullptr : find_wanted(id)) wanted_[id] = wanted;
      }
    }
    for (Node& node : graph_.nodes) visit(node);
    graph_.nodes = std::move(nodes_);
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  /// Codes that stand for a float value, and the AntiQuant between the two.
  struct Source {
    ValueId codes = kNoValue;
    Node anti{};
  };

  [[nodiscard]] static std::size_t moved_inputs(const Node& node) noexcept {
    return node.op_type == "Concat" ? node.inputs.size() : 1;
  }
  [[nodiscard]] static std::size_t moved_outputs(const Node& node) noexcept {
    return node.op_type == "Split" ? node.outputs.size() : 1;
  }
  [[nodiscard]] bool is_unused(ValueId id) const {
    return id == kNoValue || (uses_.consumers(id).empty() && !uses_.is_graph_output(id));
  }

  // What the readers of a value want. Walked from the last node to the first.

  /// Keeps in `wanted` the one format that all want, if there is one.
  [[nodiscard]] static bool agree(const Node*& wanted, const Node* format) {
    if (format == nullptr) return false;
    if (wanted == nullptr) wanted = format;
    return quant_target(*format) == quant_target(*wanted);
  }

  /// The quant node whose equals are all that read a value, directly or behind operators that move it; null if somebody
  /// needs the value as it is.
  [[nodiscard]] const Node* find_wanted(ValueId id) const {
    if (uses_.is_graph_output(id)) return nullptr;
    const Node* wanted = nullptr;
    for (const Node* reader : uses_.consumers(id)) {
      if (!agree(wanted, is_inner_quant(*reader) ? reader : wanted_behind(*reader, id))) return nullptr;
    }
    return wanted;
  }
  [[nodiscard]] bool is_inner_quant(const Node& node) const {
    return is_op(node, kQuantOp) && !uses_.is_graph_output(node.outputs[0]);
  }
  [[nodiscard]] const Node* wanted_behind(const Node& mover, ValueId id) const {
    if (!movers_.contains(&mover)) return nullptr;
    for (std::size_t i = moved_inputs(mover); i < mover.inputs.size(); ++i) {
      if (mover.inputs[i] == id) return nullptr;  // as a shape or index
    }
    return wanted_of_results(mover);
  }
  [[nodiscard]] const Node* wanted_of_results(const Node& mover) const {
    const Node* wanted = nullptr;
    for (std::size_t i = 0; i < moved_outputs(mover); ++i) {
      if (is_unused(mover.outputs[i])) continue;
      const auto found = wanted_.find(mover.outputs[i]);
      if (found == wanted_.end() || !agree(wanted, found->second)) return nullptr;
    }
    return wanted;
  }

  // The new list of nodes. Walked from the first node to the last.

  void visit(Node& node) {
    const bool moves = movers_.contains(&node);
    for (ValueId& id : node.inputs) {
      if (const auto other = replaced_.find(id); other != replaced_.end()) id = other->second;
    }
    if (moves) {
      if (const Source* source = common_source(node)) return move_below(node, source->anti);
      if (const Node* quant = wanted_of_results(node)) return move_above(node, *quant);
    }
    if (is_op(node, kQuantOp)) return visit_quant(node);
    if (is_op(node, kAntiQuantOp)) sources_[node.outputs[0]] = {node.inputs[0], node};
    nodes_.push_back(std::move(node));
  }

  /// Drops the node if there are such codes already.
  void visit_quant(Node& node) {
    const ValueId codes = find_codes(node.inputs[0], node);
    if (codes != kNoValue && !uses_.is_graph_output(node.outputs[0])) {
      replaced_[node.outputs[0]] = codes;
      return report_.change(node.name, "is gone: its codes are there already");
    }
    quantized_.try_emplace(key(node.inputs[0], node), node.outputs[0]);
    nodes_.push_back(std::move(node));
  }

  using Key = std::tuple<ValueId, float, std::int32_t, int>;
  [[nodiscard]] static Key key(ValueId id, const Node& quant) {
    const QuantTarget target = quant_target(quant);
    return {id, target.scale, target.offset, target.range.bits};
  }

  /// The value that holds a value's codes in the format of a quant node; kNoValue if there is none yet.
  [[nodiscard]] ValueId find_codes(ValueId id, const Node& quant) const {
    if (coded_.contains(id)) return id;
    if (const auto source = sources_.find(id); source != sources_.end() && undoes(source->second.anti, quant)) {
      return source->second.codes;
    }
    const auto made = quantized_.find(key(id, quant));
    return made == quantized_.end() ? kNoValue : made->second;
  }

  /// The AntiQuant in front of all inputs of an operator, if they are equal; else null.
  [[nodiscard]] const Source* common_source(const Node& mover) const {
    const Source* common = nullptr;
    for (std::size_t i = 0; i < moved_inputs(mover); ++i) {
      const auto found = sources_.find(mover.inputs[i]);
      if (found == sources_.end()) return nullptr;
      const Source& source = found->second;
      if (common == nullptr) common = &source;
      if (anti_quant_source(source.anti) != anti_quant_source(common->anti) ||
          range_attribute(source.anti) != range_attribute(common->anti)) {
        return nullptr;
      }
    }
    return common;
  }

  /// AntiQuant, operator -> operator, AntiQuant.
  void move_below(Node& mover, const Node& anti) {
    std::vector<Node> behind;
    for (std::size_t i = 0; i < moved_inputs(mover); ++i) mover.inputs[i] = sources_.at(mover.inputs[i]).codes;
    for (std::size_t i = 0; i < moved_outputs(mover); ++i) {
      const ValueId real = mover.outputs[i];
      if (real == kNoValue) continue;
      mover.outputs[i] =
          graph_.add_value({.name = names_.value(mover.name + ".codes"), .shape = graph_.value(real).shape});
      Node& back = behind.emplace_back(anti);
      back.name = names_.node(anti.name);
      back.inputs = {mover.outputs[i]};
      back.outputs = {real};
    }
    report_.change(mover.name, "moves codes of " + anti.name);
    nodes_.push_back(std::move(mover));
    for (Node& back : behind) {
      sources_[back.outputs[0]] = {back.inputs[0], back};
      nodes_.push_back(std::move(back));
    }
  }

  /// operator, Quant -> Quant, operator. The operator's results are codes now.
  void move_above(Node& mover, const Node& quant) {
    for (std::size_t i = 0; i < moved_inputs(mover); ++i) mover.inputs[i] = codes_for(mover.inputs[i], quant);
    coded_.insert(mover.outputs.begin(), mover.outputs.begin() + static_cast<std::ptrdiff_t>(moved_outputs(mover)));
    report_.change(mover.name, "moves codes of " + quant.name);
    nodes_.push_back(std::move(mover));
  }

  /// Codes of a value; a quant node is added if there are none. The first one added for a node takes its name.
  ValueId codes_for(ValueId id, const Node& quant) {
    if (const ValueId codes = find_codes(id, quant); codes != kNoValue) return codes;
    Node added = quant;
    std::string name = std::exchange(graph_.value(quant.outputs[0]).name, {});
    if (name.empty()) {
      added.name = names_.node(quant.name);
      name = names_.value(added.name + ".output0");
    }
    const ValueId codes = graph_.add_value({.name = std::move(name), .shape = graph_.value(id).shape});
    added.inputs = {id};
    added.outputs = {codes};
    quantized_[key(id, quant)] = codes;
    nodes_.push_back(std::move(added));
    return codes;
  }

  Graph& graph_;
  Uses uses_;
  UniqueNames names_;
  std::set<const Node*> movers_;
  std::map<ValueId, const Node*> wanted_;
  std::map<ValueId, Source> sources_;    // by the float value
  std::map<ValueId, ValueId> replaced_;  // results of dropped nodes
  std::set<ValueId> coded_;              // results of move_above()
  std::map<Key, ValueId> quantized_;     // codes by what they were made of
  std::vector<Node> nodes_;
  PassReport report_;
};

}  // namespace detail

/// Lets codes flow through operators that move data (moves_data), as they cost a quarter of floats: AscendQuant goes up
/// in front of such an operator when all who read its results are equal quant nodes, AscendAntiQuant goes down behind
/// it when those in front of all its inputs are equal, and a quant node that would make codes that are there already
/// goes away. Every number stays what it was, since quantization is monotonic and works on each element alone; only
/// what becomes of NaN in a MaxPool may change. O(nodes).
/// \throws Error model_unsupported naming a quant node with attributes that AMCT's nodes cannot have
inline PassReport move_codes(Graph& graph) { return detail::CodeMover(graph).run(); }

}  // namespace amct::graph
