// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/passes/move_codes.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// The real numbers between which a Relu or Clip keeps its results.
struct RealBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

namespace detail {

/// A bound of Clip: an attribute before opset 11, else a scalar constant. Empty if it is not known.
[[nodiscard]] inline std::optional<float> clip_bound(const Node& clip, const char* attribute, std::size_t port,
                                                     float otherwise, const Uses& uses) {
  if (const float* value = clip.attribute<float>(attribute)) return *value;
  if (clip.input(port) == kNoValue) return otherwise;
  const Tensor* constant = uses.constant(clip.input(port));
  if (constant == nullptr || constant->type() != ElementType::float32 || constant->size() != 1) return std::nullopt;
  return constant->data<float>()[0];
}

}  // namespace detail

/// The bounds of a Relu or of a Clip between constants; empty for other nodes.
[[nodiscard]] inline std::optional<RealBounds> real_bounds(const Node& node, const Uses& uses) {
  if (is_op(node, "Relu")) return RealBounds{.low = 0.0F};
  if (!is_op(node, "Clip")) return std::nullopt;
  const auto low = detail::clip_bound(node, "min", 1, RealBounds{}.low, uses);
  const auto high = detail::clip_bound(node, "max", 2, RealBounds{}.high, uses);
  if (!low || !high || std::isnan(*low) || std::isnan(*high)) return std::nullopt;
  return RealBounds{*low, *high};
}

namespace detail {

AMCT_EXACT_BEGIN

/// The code of a real number in the arithmetic of a ReQuant.
[[nodiscard]] inline std::int32_t code_of(float value, const QuantTarget& target, RequantRule rule) {
  const float scaled = value * target.scale;
  const auto offset = static_cast<float>(target.offset);
  const bool add_first = rule == RequantRule::one_product_add_then_round;
  const float placed =
      add_first ? AddThenRound::placed<HalfEven>(scaled, offset) : RoundThenAdd::placed<HalfEven>(scaled, offset);
  return amct::detail::saturate(placed, target.range, target.offset);
}

AMCT_EXACT_END

/// Makes a quant node's codes those of numbers that were kept within bounds before: clamping the codes to the codes of
/// the bounds is the same, since quantization is monotonic.
inline void narrow(QuantTarget& target, const RealBounds& bounds, RequantRule rule) {
  const std::int32_t low = code_of(bounds.low, target, rule);
  const std::int32_t high = code_of(bounds.high, target, rule);
  // As Clip has it, the upper bound counts if they cross.
  target.lowest = std::min(std::max(target.lowest, low), high);
  target.highest = std::min(std::max(target.highest, low), high);
}

/// A quant node behind a dequant node, with what is between them.
struct RequantPath {
  const Node* quant = nullptr;
  std::vector<const Node*> clamps{};  ///< Relu and Clip, in order
};

class RequantMerger {
 public:
  RequantMerger(Graph& graph, RequantRule rule) : graph_(graph), rule_(rule), uses_(graph), names_(graph) {}

  [[nodiscard]] PassReport run() {
    for (const Node& node : graph_.nodes) {
      nodes_.push_back(node);
      if (is_op(node, kDequantOp)) visit(node);
    }
    for (Node& node : nodes_) {
      for (ValueId& id : node.inputs) {
        if (const auto other = replaced_.find(id); other != replaced_.end()) id = other->second;
      }
    }
    graph_.nodes = std::move(nodes_);
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  static constexpr std::size_t kMostClamps = 8;  // one behind the other; real networks have one or two

  void visit(const Node& dequant) {
    std::vector<RequantPath> paths;
    const std::string reason = refuse(dequant, paths);
    if (paths.empty()) return;
    if (!reason.empty()) return report_.refuse(dequant.name, reason);
    std::vector<std::pair<QuantTarget, ValueId>> made;
    for (const RequantPath& path : paths) {
      QuantTarget target = quant_target(*path.quant);
      for (const Node* clamp : path.clamps) narrow(target, *real_bounds(*clamp, uses_), rule_);
      const auto same = std::find_if(made.begin(), made.end(), [&](const auto& one) { return one.first == target; });
      const ValueId codes = same != made.end() ? same->second : requantized(dequant, path, target);
      if (same == made.end()) made.emplace_back(target, codes);
      replaced_[path.quant->outputs[0]] = codes;
    }
  }

  /// Finds the quant nodes behind a dequant node, and why they cannot be merged with it.
  [[nodiscard]] std::string refuse(const Node& dequant, std::vector<RequantPath>& paths) const {
    std::string reason;
    std::vector<const Node*> clamps;
    collect(dequant.outputs[0], clamps, paths, reason);
    const Node* layer = uses_.producer(dequant.inputs[0]);
    if (layer == nullptr || is_op(*layer, "AveragePool")) return "what it reads is no sum of integers";
    return reason;
  }

  void collect(ValueId id, std::vector<const Node*>& clamps, std::vector<RequantPath>& paths,
               std::string& reason) const {
    if (uses_.is_graph_output(id)) reason = "its value is a graph output";
    for (const Node* reader : uses_.consumers(id)) {
      if (is_op(*reader, kQuantOp) && !uses_.is_graph_output(reader->outputs[0])) {
        paths.push_back({reader, clamps});
      } else if (clamps.size() < kMostClamps && real_bounds(*reader, uses_)) {
        clamps.push_back(reader);
        collect(reader->outputs[0], clamps, paths, reason);
        clamps.pop_back();
      } else {
        reason = reader->name + " reads its float value";
      }
    }
  }

  ValueId requantized(const Node& dequant, const RequantPath& path, const QuantTarget& target) {
    constexpr std::string_view kEnd = ".dequant";
    const bool ends = dequant.name.ends_with(kEnd);
    const std::string layer = dequant.name.substr(0, dequant.name.size() - (ends ? kEnd.size() : 0));
    Node node = *path.quant;
    node.op_type = kReQuantOp;
    node.name = names_.node(layer + ".requant");
    node.inputs = dequant.inputs;
    node.outputs = {graph_.add_value(
        {.name = names_.value(node.name + ".output0"), .shape = graph_.value(path.quant->inputs[0]).shape})};
    node.set_attribute("contract", std::string(name_of(rule_)));
    if (target.lowest != target.range.min()) node.set_attribute("code_min", std::int64_t{target.lowest});
    if (target.highest != target.range.max()) node.set_attribute("code_max", std::int64_t{target.highest});
    if (const auto* levels = dequant.attribute<std::vector<std::int64_t>>("weight_levels")) {
      node.set_attribute("weight_levels", *levels);
    }
    std::string text = "stands for " + dequant.name;
    std::vector<std::string> took_in;
    for (const Node* clamp : path.clamps) {
      text += ", " + clamp->name;
      took_in.push_back(clamp->name);
    }
    if (!took_in.empty()) node.set_attribute("took_in", std::move(took_in));
    report_.change(node.name, text + " and " + path.quant->name);
    nodes_.push_back(std::move(node));
    return nodes_.back().outputs[0];
  }

  Graph& graph_;
  RequantRule rule_;
  Uses uses_;
  UniqueNames names_;
  std::map<ValueId, ValueId> replaced_;  // results of quant nodes
  std::vector<Node> nodes_;
  PassReport report_;
};

}  // namespace detail

/// Merges AscendDequant and the AscendQuant nodes behind it into AscendReQuant nodes `<layer>.requant`, which read the
/// accumulator and the parameter of the dequant node; a Relu or a Clip between constants in between becomes bounds of
/// the codes. Operators that move data do not stand in the way (move_codes is run first). A dequant node stays when
/// somebody needs the float value, and behind AveragePool, whose result is a mean and no sum of integers.
/// With the rule two_products, the default, every code is what it was.
/// \throws Error model_unsupported naming a quant node with attributes that AMCT's nodes cannot have
inline PassReport merge_requant(Graph& graph, RequantRule rule = RequantRule::two_products) {
  PassReport report = move_codes(graph);
  PassReport merged = detail::RequantMerger(graph, rule).run();
  report.changed.insert(report.changed.end(), merged.changed.begin(), merged.changed.end());
  report.refused.insert(report.refused.end(), merged.refused.begin(), merged.refused.end());
  return report;
}

}  // namespace amct::graph
