// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/element_types.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

/// A node that gives one of its inputs on unchanged.
struct NoOp {
  std::size_t input = 0;
  std::string text{};  ///< what it does, for the report
};

class NoOpFinder {
 public:
  explicit NoOpFinder(const Graph& graph) : graph_(graph), uses_(graph), types_(element_types(graph)) {}

  [[nodiscard]] std::optional<NoOp> find(const Node& node) const {
    static constexpr std::string_view kVariadic[] = {"Concat", "Sum", "Max", "Min", "Mean"};
    if (!node.domain.empty() || node.outputs.empty() || node.input(0) == kNoValue) return {};
    const std::string& op = node.op_type;
    if (op == "Identity") return NoOp{0, "Identity"};
    if (op == "Dropout") return is_inference(node) ? std::optional(NoOp{0, "Dropout in inference"}) : std::nullopt;
    if (op == "Cast") return same_type(node);
    if (op == "Add" || op == "Mul" || op == "Sub" || op == "Div") return neutral_operand(node);
    if (op == "Slice") return whole_slice(node);
    if (op == "Reshape") return same_shape(node);
    if (op == "Transpose") return same_order(node);
    if (is_one_of(kVariadic, op) && node.inputs.size() == 1) return NoOp{0, op + " of one tensor"};
    return {};
  }

 private:
  using Ints = std::vector<std::int64_t>;

  /// Up to opset 6 an attribute says whether the network is trained, from opset 12 an input does.
  [[nodiscard]] bool is_inference(const Node& node) const {
    if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) return false;
    if (graph_.opset < 7) return node.attribute_or<std::int64_t>("is_test", 0) != 0;
    return node.input(2) == kNoValue || scalar_value(uses_.constant(node.input(2))) == 0.0;
  }

  [[nodiscard]] std::optional<NoOp> same_type(const Node& node) const {
    const auto from = types_[static_cast<std::size_t>(node.input(0))];
    const auto to = onnx_element_type(node.attribute_or<std::int64_t>("to", 0));
    if (!from || !to || *from != *to) return {};
    return NoOp{0, std::string("Cast from ") + name_of(*to) + " to " + name_of(*to)};
  }

  /// x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1.
  [[nodiscard]] std::optional<NoOp> neutral_operand(const Node& node) const {
    const bool multiplies = node.op_type == "Mul" || node.op_type == "Div";
    const bool commutes = node.op_type == "Add" || node.op_type == "Mul";
    for (const std::size_t operand : {std::size_t{1}, std::size_t{0}}) {
      if (operand == 0 && !commutes) continue;
      const Tensor* constant = uses_.constant(node.input(operand));
      if (constant == nullptr || !all_equal(*constant, multiplies ? 1.0 : 0.0)) continue;
      if (!keeps_shape(graph_.value(node.input(1 - operand)), constant->shape())) continue;
      static constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
          {"Add", "x + 0"}, {"Sub", "x - 0"}, {"Mul", "x * 1"}, {"Div", "x / 1"}};
      const auto* text = std::find_if(std::begin(kTexts), std::end(kTexts),
                                      [&](const auto& row) { return row.first == node.op_type; });
      return NoOp{1 - operand, std::string(text->second)};
    }
    return {};
  }

  /// Whether broadcasting against a constant leaves the shape of a value as it is.
  [[nodiscard]] static bool keeps_shape(const Value& value, const Shape& constant) {
    if (constant.rank() == 0) return true;
    const auto rank = known_rank(value);
    if (!rank || *rank < constant.rank()) return false;
    for (std::size_t i = 0; i < constant.rank(); ++i) {
      const auto from_end = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(constant.rank());
      if (constant[i] != 1 && constant[i] != known_size(value, from_end)) return false;
    }
    return true;
  }

  /// Integers that are an attribute in old opsets and a constant input in new ones; empty if neither is known.
  [[nodiscard]] std::optional<Ints> integers(const Node& node, std::string_view attribute, std::size_t index) const {
    if (const auto* values = node.attribute<Ints>(attribute)) return *values;
    return integer_values(uses_.constant(node.input(index)));
  }

  [[nodiscard]] std::optional<NoOp> whole_slice(const Node& node) const {
    const auto starts = integers(node, "starts", 1);
    const auto ends = integers(node, "ends", 2);
    if (!starts || !ends || starts->size() != ends->size()) return {};
    Ints axes(starts->size());
    std::iota(axes.begin(), axes.end(), 0);
    if (node.attribute<Ints>("axes") != nullptr || node.input(3) != kNoValue) {
      const auto given = integers(node, "axes", 3);
      if (!given || given->size() != starts->size()) return {};
      axes = *given;
    }
    if (node.input(4) != kNoValue) {
      const Tensor* steps = uses_.constant(node.input(4));
      if (steps == nullptr || !all_equal(*steps, 1.0)) return {};
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t size = known_size(graph_.value(node.input(0)), axes[i]);
      const bool to_end = (size >= 0 && (*ends)[i] >= size) || (*ends)[i] >= std::numeric_limits<std::int32_t>::max();
      if ((*starts)[i] != 0 || !to_end) return {};
    }
    return NoOp{0, "slice of everything"};
  }

  /// A target shape that equals the shape of the input; one axis may be left to be computed, since it has no choice.
  [[nodiscard]] std::optional<NoOp> same_shape(const Node& node) const {
    const auto target = integers(node, "shape", 1);
    const Value& value = graph_.value(node.input(0));
    if (!target || known_rank(value) != target->size()) return {};
    const bool zero_is_size = node.attribute_or<std::int64_t>("allowzero", 0) != 0;
    std::size_t computed = 0;
    for (std::size_t i = 0; i < target->size(); ++i) {
      const std::int64_t size = known_size(value, static_cast<std::int64_t>(i));
      if (size > 0 && (*target)[i] == size) continue;
      if ((*target)[i] == 0 && !zero_is_size) continue;
      if ((*target)[i] != -1) return {};
      ++computed;
    }
    return computed > 1 ? std::nullopt : std::optional(NoOp{0, "Reshape to the same shape"});
  }

  [[nodiscard]] std::optional<NoOp> same_order(const Node& node) const {
    const auto* order = node.attribute<Ints>("perm");
    if (order == nullptr) return {};
    for (std::size_t i = 0; i < order->size(); ++i) {
      if ((*order)[i] != static_cast<std::int64_t>(i)) return {};
    }
    return NoOp{0, "Transpose to the same order"};
  }

  const Graph& graph_;
  Uses uses_;
  std::vector<std::optional<ElementType>> types_;
};

}  // namespace detail

/// Removes nodes that do nothing: x * 1, x / 1, x + 0 (where torch's sum() starts), x - 0, slices of everything, Cast
/// to the same type, Identity, Dropout in inference, Reshape and Transpose to what is there, Concat and Sum of one
/// tensor. What depends on sizes is removed where they are declared. Graph inputs and outputs keep their names: a node
/// between the two stays and is reported.
inline PassReport remove_no_ops(Graph& graph) {
  const Uses uses(graph);
  const detail::NoOpFinder finder(graph);
  PassReport report;
  ValueMerge merge(graph);
  const auto is_named = [&](ValueId id) {  // by the user, or nothing that a node makes
    return uses.is_graph_output(id) || uses.producer(id) == nullptr;
  };
  std::vector<char> removed(graph.nodes.size(), 0);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const auto found = finder.find(node);
    if (!found) continue;
    const ValueId from = merge.find(node.inputs[found->input]);
    const ValueId to = node.outputs[0];
    if (!uses.is_graph_output(to)) {
      merge.merge(to, from);
    } else if (!is_named(from)) {
      merge.merge(from, to);
    } else {
      report.refuse(node.name, found->text + ", but stands between two values whose names must stay");
      continue;
    }
    removed[n] = 1;
    report.change(node.name, found->text);
  }
  std::size_t n = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return removed[n++] != 0; });
  merge.apply(graph);
  remove_unused(graph);
  return report;
}

}  // namespace amct::graph
