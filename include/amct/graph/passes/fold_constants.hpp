// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// Computes a node from its inputs, null where an optional one is not given; one tensor an output. Empty if it cannot.
using Evaluator = std::function<std::optional<std::vector<Tensor>>(const Graph& graph, const Node& node,
                                                                   std::span<const Tensor* const> inputs)>;

struct FoldOptions {
  /// A result may have these bytes, or eight times those of its inputs.
  std::size_t most_bytes = std::size_t{1} << 20;
  /// Whether sizes of declared shapes are constants. They are not if the network shall run with other sizes.
  bool fold_shapes = true;
  /// Whether convolutions of constants are computed too.
  bool fold_convolutions = false;
};

namespace detail {

/// Kept although their inputs may be constants: quantized weights, and what is different in every run.
inline constexpr std::string_view kNotFolded[] = {
    "Constant",          "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "AscendQuant",
    "AscendDequant",     "RandomNormal",   "RandomUniform",    "RandomNormalLike",      "Multinomial",
    "RandomUniformLike", "Bernoulli",      "Dropout"};
/// Kept too unless the caller wants otherwise, since users must see them to take them out of the quantization.
inline constexpr std::string_view kConvolutions[] = {"Conv", "ConvTranspose"};

class ConstantFolder {
 public:
  ConstantFolder(Graph& graph, const Evaluator& evaluate, const FoldOptions& options)
      : graph_(graph), uses_(graph), merge_(graph), evaluate_(evaluate), options_(options) {}

  PassReport run() {
    std::vector<char> folded(graph_.nodes.size(), 0);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) folded[n] = fold(graph_.nodes[n]) ? 1 : 0;
    std::size_t n = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return folded[n++] != 0; });
    merge_.apply(graph_);
    adopt_weights();
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  [[nodiscard]] const Tensor* constant(ValueId id) const { return uses_.constant(merge_.find(id)); }

  /// A weight made by a Constant node becomes an initializer, since layers are quantized by their initializers.
  void adopt_weights() {
    static constexpr std::string_view kWeighted[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU"};
    const Uses uses(graph_);
    for (const auto& node : graph_.nodes) {
      if (!node.domain.empty() || !is_one_of(kWeighted, node.op_type)) continue;
      const ValueId id = node.input(1);
      const Tensor* data = uses.constant(id);
      if (data == nullptr || graph_.value(id).initializer || uses.is_graph_output(id)) continue;
      report_.change(uses.producer(id)->name, "is the weight of " + node.name);
      set_constant(id, Tensor(*data));
    }
    std::erase_if(graph_.nodes, [&](const Node& node) {
      return node.op_type == "Constant" && !node.outputs.empty() &&
             graph_.value(node.outputs[0]).initializer.has_value();
    });
  }

  bool fold(const Node& node) {
    if (!node.domain.empty() || is_one_of(kNotFolded, node.op_type) || node.inputs.empty() || has_body(node)) {
      return false;
    }
    if (!options_.fold_convolutions && is_one_of(kConvolutions, node.op_type)) return false;
    if (node.outputs.empty() || node.outputs[0] == kNoValue) return false;
    if (fold_shape(node)) return true;
    if (!all_constant(node)) return false;
    if (makes_graph_output(node)) {
      report_.refuse(node.name, "makes a graph output");
      return false;
    }
    if (node.op_type == "Identity") {
      merge_.merge(node.outputs[0], node.inputs[0]);
      report_.change(node.name, "is a constant");
      return true;
    }
    return reuse(node) || compute(node);
  }

  [[nodiscard]] static bool has_body(const Node& node) {
    for (const auto& [name, value] : node.attributes) {
      if (std::holds_alternative<Body>(value)) return true;
    }
    return false;
  }

  [[nodiscard]] bool all_constant(const Node& node) const {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && constant(id) == nullptr) return false;
    }
    return true;
  }

  [[nodiscard]] bool makes_graph_output(const Node& node) const {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue && uses_.is_graph_output(id)) return true;
    }
    return false;
  }

  /// Shape of a value whose sizes are declared, and Gather of sizes out of a Shape, of which others may be unknown.
  bool fold_shape(const Node& node) {
    if (!options_.fold_shapes || node.input(0) == kNoValue || makes_graph_output(node)) return false;
    if (node.op_type == "Shape") {
      return set_sizes(node, shape_sizes(node, graph_.value(merge_.find(node.input(0)))), 1);
    }
    if (node.op_type != "Gather") return false;
    const Node* shape = uses_.producer(node.input(0));
    const auto indices = integer_values(constant(node.input(1)));
    if (shape == nullptr || shape->op_type != "Shape" || !shape->domain.empty() || !indices) return false;
    const auto sizes = shape_sizes(*shape, graph_.value(merge_.find(shape->input(0))));
    return set_sizes(node, gather_sizes(sizes, *indices), constant(node.input(1))->shape().rank());
  }

  bool set_sizes(const Node& node, std::vector<std::int64_t> sizes, std::size_t rank) {
    if (sizes.empty() || rank > 1 || *std::min_element(sizes.begin(), sizes.end()) < 0) return false;
    Tensor data = rank == 0 ? Tensor::scalar(sizes[0]) : int64_tensor(sizes);
    set_constant(node.outputs[0], std::move(data));
    report_.change(node.name, "is a constant of the declared shape");
    return true;
  }

  /// Two nodes that compute the same share the result, so that shared weights stay shared.
  bool reuse(const Node& node) {
    const auto equal = done_.find({node.op_type, merged_inputs(node)});
    if (equal == done_.end()) return false;
    for (const Node* other : equal->second) {
      if (!has_outputs_of(node, *other) || !same_attributes(node, *other)) continue;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoValue) merge_.merge(node.outputs[i], other->outputs[i]);
      }
      report_.change(node.name, "equals " + other->name);
      return true;
    }
    return false;
  }

  /// Whether `other` makes all outputs that `node` makes.
  [[nodiscard]] static bool has_outputs_of(const Node& node, const Node& other) {
    if (node.outputs.size() != other.outputs.size()) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && other.outputs[i] == kNoValue) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<ValueId> merged_inputs(const Node& node) const {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(merge_.find(id));
    return inputs;
  }

  /// Tensors are not compared; nodes that carry some count as different.
  [[nodiscard]] static bool same_attributes(const Node& a, const Node& b) {
    if (a.attributes.size() != b.attributes.size()) return false;
    for (const auto& [name, value] : a.attributes) {
      const bool same = std::visit(
          [&, &key = name]<class T>(const T& mine) {
            if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Body>) return false;
            else return b.attribute<T>(key) != nullptr && *b.attribute<T>(key) == mine;
          },
          value);
      if (!same) return false;
    }
    return true;
  }

  bool compute(const Node& node) {
    std::vector<const Tensor*> inputs;
    std::size_t most = 0;
    for (const ValueId id : node.inputs) {
      inputs.push_back(constant(id));
      if (inputs.back() != nullptr) most += inputs.back()->bytes();
    }
    auto results = evaluate_(graph_, node, inputs);
    if (!results || results->size() != node.outputs.size()) {
      report_.refuse(node.name, node.op_type + " of constants cannot be computed");
      return false;
    }
    std::size_t bytes = 0;
    for (const Tensor& result : *results) bytes += result.bytes();
    if (bytes > std::max(8 * most, options_.most_bytes)) {
      report_.refuse(node.name, "would be a constant of " + std::to_string(bytes) + " bytes");
      return false;
    }
    for (std::size_t i = 0; i < results->size(); ++i) {
      if (node.outputs[i] != kNoValue) set_constant(node.outputs[i], std::move((*results)[i]));
    }
    done_[{node.op_type, merged_inputs(node)}].push_back(&node);
    report_.change(node.name, "is a constant");
    return true;
  }

  void set_constant(ValueId id, Tensor data) { replace_initializer(graph_, id, std::move(data)); }

  Graph& graph_;
  Uses uses_;
  ValueMerge merge_;
  const Evaluator& evaluate_;
  FoldOptions options_;
  std::map<std::pair<std::string, std::vector<ValueId>>, std::vector<const Node*>> done_;  // computed nodes
  PassReport report_;
};

}  // namespace detail

/// Replaces nodes that only depend on constants by initializers: weights behind Identity, Transpose, Cast, Reshape, and
/// arithmetic on shapes that are declared. Weights in Constant nodes become initializers; other Constant nodes stay.
/// What two nodes read stays one value.
///
/// Left alone: quantized weights (QuantizeLinear, DequantizeLinear), random operators, convolutions of constants,
/// control flow, graph outputs, results above a limit, and what `evaluate` cannot do.
/// \param evaluate  computes a node, usually exec::node_evaluator()
inline PassReport fold_constants(Graph& graph, const Evaluator& evaluate, const FoldOptions& options = {}) {
  return detail::ConstantFolder(graph, evaluate, options).run();
}

}  // namespace amct::graph
