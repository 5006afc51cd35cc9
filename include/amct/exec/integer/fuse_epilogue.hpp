// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/ranks.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/merge_requant.hpp>
#include <amct/graph/uses.hpp>

namespace amct::exec::integer {

namespace detail {

/// Lets layers take in the nodes that read them alone.
class EpilogueFuser {
 public:
  explicit EpilogueFuser(graph::Graph& graph)
      : graph_(graph), uses_(graph), ranks_(graph), merged_(graph), readers_(graph.values.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const auto id : graph.nodes[n].inputs) {
        if (id != graph::kNoValue) readers_[static_cast<std::size_t>(id)].push_back(n);
      }
    }
  }

  void run() {
    nodes_.assign(graph_.nodes.begin(), graph_.nodes.end());
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const bool starts = nodes_[n] && is_integer_layer(*nodes_[n]) && !done_.contains(n);
      if (starts && !makes_codes(*nodes_[n])) take_in(n);
    }
    std::vector<graph::Node> kept;
    for (auto& node : nodes_) {
      if (node) kept.push_back(std::move(*node));
    }
    graph_.nodes = std::move(kept);
    merged_.apply(graph_);
  }

 private:
  [[nodiscard]] static bool makes_codes(const graph::Node& layer) noexcept {
    return layer.outputs.size() > kCodesOutput && layer.outputs[kCodesOutput] != graph::kNoValue;
  }
  [[nodiscard]] const std::vector<std::size_t>& readers(graph::ValueId id) const noexcept {
    return readers_[static_cast<std::size_t>(id)];
  }
  /// The position of the node that alone reads a value; none if there are others or it was taken in.
  [[nodiscard]] std::optional<std::size_t> only_reader(graph::ValueId id) const {
    if (readers(id).size() != 1 || uses_.is_graph_output(id) || !nodes_[readers(id)[0]]) return std::nullopt;
    return readers(id)[0];
  }

  /// The layer moves to the place of the last node it takes in, where all its inputs are there.
  void take_in(std::size_t at) {
    if (const auto add = only_reader(nodes_[at]->outputs[kRealOutput])) {
      const auto residual = residual_of(*nodes_[*add], nodes_[at]->outputs[kRealOutput]);
      if (residual != graph::kNoValue) {
        nodes_[at]->inputs.resize(kResidualInput + 1, graph::kNoValue);
        nodes_[at]->inputs[kResidualInput] = residual;
        at = move_to(*add, at);
      }
    }
    if (const auto clip = only_reader(nodes_[at]->outputs[kRealOutput])) {
      if (const auto bounds = graph::real_bounds(*nodes_[*clip], uses_); bounds && bounds->low <= bounds->high) {
        nodes_[at]->set_attribute(kClip, std::vector<float>{bounds->low, bounds->high});
        at = move_to(*clip, at);
      }
    }
    take_in_quant(*nodes_[at]);
    done_.insert(at);
  }

  [[nodiscard]] std::size_t move_to(std::size_t taken, std::size_t from) {
    nodes_[from]->outputs[kRealOutput] = nodes_[taken]->outputs[0];
    nodes_[taken] = std::exchange(nodes_[from], std::nullopt);
    return taken;
  }

  /// What an Add adds to `value`, if it is no constant and has as many axes.
  [[nodiscard]] graph::ValueId residual_of(const graph::Node& add, graph::ValueId value) const {
    const bool is_add = add.op_type == "Add" && add.domain.empty() && add.inputs.size() == 2 && graph_.opset >= 7;
    if (!is_add || add.inputs[0] == add.inputs[1]) return graph::kNoValue;
    const graph::ValueId other = add.inputs[add.inputs[0] == value ? 1 : 0];
    const bool fits = uses_.constant(other) == nullptr && ranks_.of(value) && ranks_.of(value) == ranks_.of(other);
    return fits ? other : graph::kNoValue;
  }

  /// Quant nodes that make the same codes of the result become the layer's second output.
  void take_in_quant(graph::Node& layer) {
    const graph::ValueId real = layer.outputs[kRealOutput];
    std::optional<graph::QuantTarget> target;
    std::size_t taken = 0;
    for (const std::size_t reader : readers(real)) {
      if (!nodes_[reader] || nodes_[reader]->op_type != graph::kQuantOp) continue;
      const auto wanted = graph::quant_target(*nodes_[reader]);
      if (target && (!(*target == wanted) || uses_.is_graph_output(nodes_[reader]->outputs[0]))) continue;
      if (target) {
        merged_.merge(nodes_[reader]->outputs[0], layer.outputs[kCodesOutput]);
      } else {
        target = wanted;
        set_next_codes(layer, wanted, nodes_[reader]->outputs[0]);
      }
      nodes_[reader].reset();
      ++taken;
    }
    if (taken == readers(real).size() && taken != 0 && !uses_.is_graph_output(real)) {
      layer.outputs[kRealOutput] = graph::kNoValue;
    }
  }

  graph::Graph& graph_;
  graph::Uses uses_;
  Ranks ranks_;
  graph::ValueMerge merged_;
  std::vector<std::vector<std::size_t>> readers_;  ///< by value: positions of the nodes that read it
  std::set<std::size_t> done_;                     ///< positions of layers that have taken in what they can
  std::vector<std::optional<graph::Node>> nodes_;  ///< those that are left, by position
};

}  // namespace detail

/// Lets each integer layer take in what follows it, as far as nobody else reads the values between: an Add of another
/// value with as many axes, a Relu or a Clip with constant ends (the lower not above the upper), and an AscendQuant.
/// The real values stay an output if somebody needs them. The results are the same bits as with separate nodes.
inline void fuse_epilogues(graph::Graph& graph) { detail::EpilogueFuser(graph).run(); }

}  // namespace amct::exec::integer
