// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/element_types.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/offline.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/passes/chunk_to_split.hpp>
#include <amct/graph/passes/constant_matmul.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/fuse_pool_pad.hpp>
#include <amct/graph/passes/inline_branches.hpp>
#include <amct/graph/passes/keep_reduced_dims.hpp>
#include <amct/graph/passes/matmul_to_gemm.hpp>
#include <amct/graph/passes/promote_float16.hpp>
#include <amct/graph/passes/remove_no_ops.hpp>
#include <amct/graph/passes/swap_matmul_operands.hpp>
#include <amct/graph/uses.hpp>
#include <amct/graph/value_ranges.hpp>

namespace amct::graph {

namespace detail {

/// Reductions that the device has in one form only: with their axes kept.
inline constexpr std::string_view kReductionsWithAxes[] = {"ReduceMax"};

/// Runs the rewrite that takes out a kind of faults. What it changes are the faults that can be fixed, what it refuses
/// those that cannot, so that finding and fixing never disagree.
[[nodiscard]] inline PassReport rewrite(Graph& graph, FaultKind kind, const FaultSearch& search) {
  PassReport report;
  switch (kind) {
    case FaultKind::float16:
      if (promote_float16(graph)) report.change("", "is in float32");
      return report;
    case FaultKind::control_flow: return inline_branches(graph);
    case FaultKind::no_op:
    case FaultKind::same_cast: return remove_no_ops(graph);
    case FaultKind::chunk: return chunk_to_split(graph);
    case FaultKind::shape_arithmetic:
    case FaultKind::offline_conv: {
      const bool convolutions = kind == FaultKind::offline_conv;
      if (search.evaluate) report = fold_constants(graph, search.evaluate, {.fold_convolutions = convolutions});
      return report;
    }
    case FaultKind::constant_matmul:
    case FaultKind::wide_linear:
      // Weights may stand behind a Transpose or Identity.
      if (search.evaluate) (void)fold_constants(graph, search.evaluate, {.fold_shapes = false});
      return kind == FaultKind::wide_linear ? matmul_to_gemm(graph, search.wide_linear) : constant_matmul(graph);
    case FaultKind::pool_pad: return fuse_pool_pad(graph);
    case FaultKind::reduce_keepdims: return keep_reduced_dims(graph, kReductionsWithAxes);
    case FaultKind::wide_operand: return swap_matmul_operands(graph, wide_second_operands(graph, search.ranges));
    case FaultKind::siblings:
    case FaultKind::post_processing: break;
  }
  return report;
}

/// Finds the faults of one network. Each kind looks at a copy of it.
class FaultFinder {
 public:
  FaultFinder(const Graph& graph, const FaultSearch& search)
      : graph_(graph), search_(search), names_(graph), offline_(offline_nodes(graph)), types_(element_types(graph)) {}

  [[nodiscard]] std::vector<Fault> run() {
    for (const FaultRule& rule : kFaultRules) {
      if (!rule.needs_hand && matters(rule.kind)) find(rule.kind);
    }
    return std::move(faults_);
  }
  [[nodiscard]] std::vector<Fault> run(FaultKind kind) {
    if (!rule_of(kind).needs_hand && matters(kind)) find(kind);
    return std::move(faults_);
  }

 private:
  /// Whether the flavour quantizes what the fault keeps from being quantized.
  [[nodiscard]] bool matters(FaultKind kind) const {
    const FlavourRules& rules = search_.rules;
    const auto quantizes = [&](std::string_view op_type) { return is_one_of(rules.data_operators, op_type); };
    switch (kind) {
      case FaultKind::chunk: return quantizes("Split");
      case FaultKind::wide_linear: return !rules.biased_matmul_quantized;
      case FaultKind::wide_operand: return quantizes("MatMul");
      case FaultKind::pool_pad: return quantizes("GlobalAveragePool");
      case FaultKind::reduce_keepdims: return quantizes("ReduceMax");
      default: return true;
    }
  }

  void find(FaultKind kind) {
    const bool has_any =
        std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) { return is_suspect(kind, node); });
    if (!has_any && kind != FaultKind::float16) return;
    Graph copy = graph_;
    const PassReport report = rewrite(copy, kind, search_);
    if (kind == FaultKind::float16) {
      if (!report.changed.empty())
        faults_.push_back({.kind = kind, .text = "the model is in float16", .fixable = true});
    } else if (kind == FaultKind::control_flow || kind == FaultKind::shape_arithmetic ||
               kind == FaultKind::offline_conv) {
      add_suspects(kind, report);
    } else {
      for (const auto& note : report.changed) add(kind, note, true);
      for (const auto& note : report.refused) add(kind, note, false);
    }
  }

  /// Whether a node can have part in a fault, so that a network without any is not copied.
  [[nodiscard]] bool is_suspect(FaultKind kind, const Node& node) const {
    const auto is = [&](std::string_view op_type) { return node.op_type == op_type && node.domain.empty(); };
    switch (kind) {
      case FaultKind::float16: return false;
      case FaultKind::control_flow: return is("If") || is("Loop") || is("Scan");
      case FaultKind::no_op: return !is("Cast");
      case FaultKind::same_cast: return is("Cast");
      case FaultKind::chunk: return is("Slice");
      case FaultKind::shape_arithmetic: return is("Shape");
      case FaultKind::offline_conv: return (is("Conv") || is("ConvTranspose")) && offline_.contains(&node);
      case FaultKind::pool_pad: return is("Pad");
      case FaultKind::reduce_keepdims: return is("ReduceMax");
      default: return is("MatMul");
    }
  }

  void add(FaultKind kind, const PassNote& note, bool fixable) {
    const Node* node = graph_.find_node(note.node);
    const bool removes = kind == FaultKind::no_op || kind == FaultKind::same_cast;
    if (removes && (node == nullptr || !is_suspect(kind, *node) || !is_on_data(*node))) return;
    std::string text = fixable && !removes ? "when fixed, it " + note.text : note.text;
    faults_.push_back({kind, names_.key(note.node), note.node, std::move(text), fixable});
  }

  /// Kinds of which the report names other nodes too: a suspect that the rewrite took out is fixable.
  void add_suspects(FaultKind kind, const PassReport& report) {
    const auto changed = report.changed_nodes();
    for (const Node& node : graph_.nodes) {
      if (!is_suspect(kind, node)) continue;
      const bool fixable = std::find(changed.begin(), changed.end(), node.name) != changed.end();
      Fault fault{kind, names_.key(node.name), node.name, describe(kind, node, fixable), fixable};
      if (kind == FaultKind::offline_conv) fault.skip = {fault.layer};
      faults_.push_back(std::move(fault));
    }
  }

  [[nodiscard]] std::string describe(FaultKind kind, const Node& node, bool fixable) const {
    if (kind == FaultKind::offline_conv) return "all its inputs are constants";
    if (kind == FaultKind::shape_arithmetic) {
      const std::string& name = graph_.value(node.input(0)).name;
      return fixable ? "the sizes of " + name + " are declared, so that what is computed of them is constant"
                     : "the sizes of " + name + " are not all declared";
    }
    std::size_t layers = 0;
    for (const auto& [name, value] : node.attributes) {
      if (const auto* body = std::get_if<Body>(&value)) layers += (*body)->nodes.size();
    }
    return node.op_type + " with " + std::to_string(layers) + " nodes inside" +
           (fixable ? ", whose condition is a constant" : "");
  }

  /// Arithmetic on shapes and on constants is no layer.
  [[nodiscard]] bool is_on_data(const Node& node) const {
    if (offline_.contains(&node) || node.input(0) == kNoValue) return false;
    const auto type = types_[static_cast<std::size_t>(node.input(0))];
    return !type || *type == ElementType::float32 || *type == ElementType::float16 || *type == ElementType::float64;
  }

  const Graph& graph_;
  const FaultSearch& search_;
  ModuleNames names_;
  std::set<const Node*> offline_;
  std::vector<std::optional<ElementType>> types_;
  std::vector<Fault> faults_;
};

}  // namespace detail

/// The faults of a network as it was read, in the order of FaultKind. Those that a configuration decides are found by
/// find_siblings and find_post_processing. O(kinds * size of the network): each kind of which there is a suspect takes
/// a copy of the network.
[[nodiscard]] inline std::vector<Fault> find_faults(const Graph& graph, const FaultSearch& search) {
  return detail::FaultFinder(graph, search).run();
}

/// What one rewrite did.
struct FaultFix {
  FaultKind kind = FaultKind::no_op;
  PassReport report{};
};

/// Takes out of a network the faults that a rewrite can take out; what it computes stays equal up to rounding.
/// find_faults says what is left. What one rewrite brings to light, such as a Reshape to the shape that is there,
/// others take out in a second round.
inline std::vector<FaultFix> fix_faults(Graph& graph, const FaultSearch& search) {
  constexpr int kRounds = 3;
  std::vector<FaultFix> fixes;
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (const FaultRule& rule : kFaultRules) {
      const auto faults = detail::FaultFinder(graph, search).run(rule.kind);
      const auto fixable = [](const Fault& fault) { return fault.fixable; };
      if (std::none_of(faults.begin(), faults.end(), fixable)) continue;
      fixes.push_back({rule.kind, detail::rewrite(graph, rule.kind, search)});
      changed = true;
    }
  }
  return fixes;
}

}  // namespace amct::graph
