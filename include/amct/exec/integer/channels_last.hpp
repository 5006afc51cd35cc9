// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/axis_order.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/ranks.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/permute.hpp>
#include <amct/graph/uses.hpp>

namespace amct::exec::integer {

/// Values whose axes were reordered: value of the graph -> the value of the network that it is, with channels last.
using ChannelsLastValues = std::map<graph::ValueId, graph::ValueId>;

namespace detail {

/// Goes through a network once. Each value exists as the network has it, with channels last, or both; the form that a
/// node needs is made of the other where it is missing.
class ChannelsLastPass {
 public:
  explicit ChannelsLastPass(graph::Graph& graph) : graph_(graph), names_(graph), uses_(graph), ranks_(graph) {
    for (const auto id : graph.inputs) plain_.insert(id);
  }

  ChannelsLastValues run() {
    for (graph::Node node : graph_.nodes) add(node);
    for (const auto id : graph_.outputs) need_plain(id);
    graph_.nodes = std::move(nodes_);
    ChannelsLastValues found;
    for (const auto& [plain, last] : last_) found.emplace(last.id, plain);
    return found;
  }

 private:
  struct Last {
    graph::ValueId id = graph::kNoValue;
    std::size_t rank = 0;
  };

  void add(graph::Node& node) {
    if (is_integer_layer(node) && node.op_type != "IntegerMatMul") return add_layer(node);
    const bool has_last = std::any_of(node.inputs.begin(), node.inputs.end(), [&](auto id) { return last(id); });
    if (has_last && node.captured == 0 && add_reordered(node)) return;
    for (const auto id : node.inputs) need_plain(id);
    for (const auto id : node.outputs) plain_.insert(id);
    nodes_.push_back(std::move(node));
  }

  /// Convolutions and poolings of codes.
  void add_layer(graph::Node& node) {
    const graph::ValueId weight = node.input(kWeightInput);
    const auto kernel = node.attribute_or<std::vector<std::int64_t>>("kernel_shape", {0, 0});
    const std::size_t axes =
        weight == graph::kNoValue ? kernel.size() + 2 : graph::known_rank(graph_.value(weight)).value_or(4);
    node.inputs[kCodesInput] = need_last(node.inputs[kCodesInput], axes);
    if (node.input(kResidualInput) != graph::kNoValue) {
      node.inputs[kResidualInput] = need_last(node.inputs[kResidualInput], axes);
    }
    emit_last(node, axes);
  }

  /// Tries to run a node on values with channels last.
  bool add_reordered(graph::Node& node) {
    if (is_standard(node, kElementWise) && node.outputs.size() == 1) return add_element_wise(node);
    if (is_standard(node, kBinary) && node.inputs.size() == 2 && graph_.opset >= 7) return add_binary(node);
    if (node.op_type == "Concat") return add_concat(node);
    if (!last(node.input(0))) return false;
    if (node.op_type == "Split") return with_axis(node, 0), add_first(node);
    if (node.op_type == "Transpose") return add_transpose(node);
    if (node.op_type == "Pad") return reorder_list(node, 1, true) && add_first(node);
    if (node.op_type == "Slice") return reorder_axes(node) && add_first(node);
    if (node.op_type == "Resize") return add_resize(node);
    constexpr std::string_view kPools[] = {"GlobalAveragePool", "MaxPool"};
    if (!is_standard(node, kPools) || node.outputs.size() != 1) return false;
    node.domain = kDomain;
    return add_first(node);
  }

  bool add_first(graph::Node& node) {
    const Last input = *last(node.inputs[0]);
    for (std::size_t i = 1; i < node.inputs.size(); ++i) need_plain(node.inputs[i]);
    node.inputs[0] = input.id;
    emit_last(node, input.rank);
    return true;
  }

  bool add_element_wise(graph::Node& node) { return last(node.input(0)) && add_first(node); }

  bool add_binary(graph::Node& node) {
    std::size_t rank = 0;
    for (const auto id : node.inputs) {
      if (const Last* found = last(id)) rank = found->rank;
    }
    std::vector<graph::ValueId> inputs;
    for (const auto id : node.inputs) {
      const auto reordered = operand(id, rank);
      if (!reordered) return false;
      inputs.push_back(*reordered);
    }
    node.inputs = std::move(inputs);
    emit_last(node, rank);
    return true;
  }

  /// An operand of a binary node with channels last; empty if its axes are not known.
  std::optional<graph::ValueId> operand(graph::ValueId id, std::size_t rank) {
    if (const Last* found = last(id)) return found->rank == rank ? std::optional(found->id) : std::nullopt;
    const Tensor* constant = uses_.constant(id);
    if (constant == nullptr) return ranks_.of(id) == rank ? std::optional(need_last(id, rank)) : std::nullopt;
    if (constant->shape().rank() > rank) return std::nullopt;
    if (constant->size() == 1) {
      need_plain(id);
      return id;
    }
    std::vector<std::int64_t> dims(rank - constant->shape().rank(), 1);
    dims.insert(dims.end(), constant->shape().begin(), constant->shape().end());
    Tensor full = *constant;
    full.reshape(Shape(std::move(dims)));
    return new_constant(graph_.value(id).name, graph::permuted(full, to_channels_last(rank)));
  }

  bool add_concat(graph::Node& node) {
    std::size_t rank = 0;
    for (const auto id : node.inputs) {
      if (const Last* found = last(id)) rank = found->rank;
    }
    for (const auto id : node.inputs) {
      const Last* found = last(id);
      if (found != nullptr ? found->rank != rank : ranks_.of(id) != rank || uses_.constant(id) != nullptr) return false;
    }
    with_axis(node, 1, rank);
    for (auto& id : node.inputs) id = need_last(id, rank);
    emit_last(node, rank);
    return true;
  }

  /// A Transpose of what has channels last is another Transpose, or none.
  bool add_transpose(graph::Node& node) {
    const Last input = *last(node.inputs[0]);
    const auto* order = node.attribute<std::vector<std::int64_t>>("perm");
    if (order == nullptr || order->size() != input.rank) return false;
    const auto back = from_channels_last(input.rank);
    std::vector<std::int64_t> composed;
    for (const std::int64_t axis : *order) {
      if (axis < 0 || axis >= static_cast<std::int64_t>(input.rank)) return false;
      composed.push_back(back[static_cast<std::size_t>(axis)]);
    }
    node.inputs[0] = input.id;
    node.set_attribute("perm", std::move(composed));
    plain_.insert(node.outputs[0]);
    nodes_.push_back(std::move(node));
    return true;
  }

  /// Only Resize that copies elements: the others' sums would run in another order.
  bool add_resize(graph::Node& node) {
    if (node.attribute_or<std::string>("mode", "nearest") != "nearest" || node.inputs.size() < 3) return false;
    if (node.attribute<std::vector<std::int64_t>>("axes") != nullptr) return false;
    if (node.attribute_or<std::string>("coordinate_transformation_mode", "") == "tf_crop_and_resize") return false;
    for (const std::size_t input : {2U, 3U}) {
      if (has_elements(node.input(input)) && !reorder_list(node, input, false)) return false;
    }
    return add_first(node);
  }
  [[nodiscard]] bool has_elements(graph::ValueId id) const {
    const Tensor* constant = uses_.constant(id);
    return id != graph::kNoValue && (constant == nullptr || constant->size() != 0);
  }

  /// Reorders a constant input with one entry an axis, or two (all begins, all ends).
  bool reorder_list(graph::Node& node, std::size_t input, bool pairs) {
    const std::size_t rank = last(node.inputs[0])->rank;
    const Tensor* list = uses_.constant(node.input(input));
    if (list == nullptr || list->size() != (pairs ? 2 * rank : rank) || node.input(pairs ? 3 : 4) != graph::kNoValue) {
      return false;
    }
    Tensor result = list_with_channels_last(*list, rank);
    node.inputs[input] = new_constant(graph_.value(node.inputs[input]).name, std::move(result));
    return true;
  }

  /// The constant axes of a Slice.
  bool reorder_axes(graph::Node& node) {
    constexpr std::size_t kAxes = 3;
    const std::size_t rank = last(node.inputs[0])->rank;
    const Tensor* axes = uses_.constant(node.input(kAxes));
    if (axes == nullptr) return false;
    Tensor wide = amct::cast(*axes, ElementType::int64);
    for (std::int64_t& axis : wide.data<std::int64_t>()) axis = axis_with_channels_last(axis, rank);
    node.inputs[kAxes] = new_constant(graph_.value(node.inputs[kAxes]).name, std::move(wide));
    return true;
  }

  void with_axis(graph::Node& node, std::int64_t otherwise) { with_axis(node, otherwise, last(node.inputs[0])->rank); }
  void with_axis(graph::Node& node, std::int64_t otherwise, std::size_t rank) {
    node.set_attribute("axis", axis_with_channels_last(node.attribute_or<std::int64_t>("axis", otherwise), rank));
  }

  [[nodiscard]] const Last* last(graph::ValueId id) const noexcept {
    const auto found = last_.find(id);
    return found == last_.end() ? nullptr : &found->second;
  }

  /// The node's results have channels last.
  void emit_last(graph::Node& node, std::size_t rank) {
    for (auto& id : node.outputs) {
      if (id != graph::kNoValue) id = new_last(id, rank);
    }
    nodes_.push_back(std::move(node));
  }

  graph::ValueId new_last(graph::ValueId id, std::size_t rank) {
    const auto added = graph_.add_value({.name = names_.value(graph_.value(id).name + ".channels_last")});
    last_[id] = {added, rank};
    return added;
  }
  graph::ValueId new_constant(const std::string& name, Tensor data) {
    return graph::add_initializer(graph_, names_.value(name + ".channels_last"), std::move(data));
  }

  graph::ValueId need_last(graph::ValueId id, std::size_t rank) {
    if (const Last* found = last(id)) return found->id;
    const std::string name = graph_.value(id).name;
    const auto added = new_last(id, rank);
    transpose(name + ".to_channels_last", id, added, to_channels_last(rank));
    return added;
  }

  /// Makes a value in the network's own order if it is there with channels last alone.
  void need_plain(graph::ValueId id) {
    const Last* found = last(id);
    if (found == nullptr || !plain_.insert(id).second) return;
    transpose(graph_.value(id).name + ".from_channels_last", found->id, id, from_channels_last(found->rank));
  }

  void transpose(const std::string& name, graph::ValueId from, graph::ValueId to, std::vector<std::int64_t> order) {
    nodes_.push_back({"Transpose", "", names_.node(name), {from}, {to}, {{"perm", std::move(order)}}});
  }

  graph::Graph& graph_;
  graph::UniqueNames names_;
  graph::Uses uses_;
  Ranks ranks_;
  std::vector<graph::Node> nodes_;
  std::map<graph::ValueId, Last> last_;  ///< by value of the network
  std::set<graph::ValueId> plain_;       ///< values that exist in the network's own order
};

}  // namespace detail

/// Makes the codes and results of integer convolutions and poolings channels-last, and with them those of the operators
/// between that can compute so: element-wise ones, binary ones, Concat, Split, Slice, Pad, MaxPool, GlobalAveragePool
/// and nearest Resize. Transpose nodes are inserted where the order changes, in front of what is left. \return the
/// values that have channels last
inline ChannelsLastValues make_channels_last(graph::Graph& graph) { return detail::ChannelsLastPass(graph).run(); }

}  // namespace amct::exec::integer
