// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/capacity.hpp>
#include <amct/graph/composites.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/element_types.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/group_composites.hpp>
#include <amct/graph/quantizable_rules.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// A layer of a quantizable type that stays float, and why.
struct FloatLayer {
  std::string name{};
  std::string op_type{};
  std::string reason{};
};

/// The layers of a network sorted by whether they can be quantized, both in model order.
struct QuantizableLayers {
  LayerTable layers;
  std::vector<FloatLayer> left_float;
};

namespace detail {

/// What a config needs to know of a layer with weights: their axes decide whether four bits can be packed along the
/// input channels, two a byte.
[[nodiscard]] inline LayerInfo describe_weighted(const Node& node, LayerKind kind, const Shape& weight) {
  const auto groups = node.attribute_or<std::int64_t>("group", 1);
  const bool rows_are_inputs = node.op_type == "ConvTranspose" || node.op_type == "MatMul" ||
                               (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) == 0);
  const bool recurrent = kind == LayerKind::lstm || kind == LayerKind::gru;
  const std::int64_t inputs_per_group = rows_are_inputs ? weight[0] / groups : weight[recurrent ? 2 : 1];
  return {.name = node.name,
          .kind = kind,
          .op_type = node.op_type,
          .packs_int4 = groups == 1 && inputs_per_group % 2 == 0,
          .depthwise = groups > 1 && inputs_per_group == 1};
}

/// A layer without weights.
[[nodiscard]] inline LayerInfo describe_data(const Node& node, const Uses& uses) {
  return {.name = node.name,
          .kind = node.op_type == "AveragePool" ? LayerKind::avg_pool2d : LayerKind::other,
          .op_type = node.op_type,
          .activation_inputs = static_cast<int>(data_inputs(node, uses).size())};
}

class QuantizableFinder {
 public:
  QuantizableFinder(const Graph& graph, const FlavourRules& rules, const Capacity& capacity)
      : graph_(graph),
        rules_(rules),
        capacity_(capacity),
        uses_(graph),
        types_(element_types(graph)),
        composites_(graph, uses_, composite_types()) {}

  [[nodiscard]] QuantizableLayers run() {
    for (const auto& node : graph_.nodes) visit(node);
    return std::move(result_);
  }

 private:
  void visit(const Node& node) {
    if (const Composite* composite = composites_.of(node)) {
      if (composite->root == &node) result_.layers.push_back(describe(*composite));
    } else if (is_data_layer(node)) {
      LayerInfo layer = describe_data(node, uses_);
      std::string reason = refuse_type(node);
      if (reason.empty()) reason = refuse_data(node, layer, graph_, uses_, rules_);
      add(node, std::move(layer), std::move(reason));
    } else if (is_weighted(node)) {
      std::string reason = refuse_weighted(node, graph_, uses_, rules_);
      LayerInfo layer;
      if (reason.empty()) {
        const Shape& weight = graph_.value(node.input(kWeightInput)).initializer->shape();
        layer = describe_weighted(node, *layer_kind(node, weight.rank()), weight);
      }
      add(node, std::move(layer), std::move(reason));
    }
  }

  [[nodiscard]] std::vector<std::string_view> composite_types() const {
    std::vector<std::string_view> types(rules_.data_operators.begin(), rules_.data_operators.end());
    types.insert(types.end(), capacity_.data_operators.begin(), capacity_.data_operators.end());
    return types;
  }

  /// A product with a constant on its right is a fully connected layer.
  [[nodiscard]] bool is_data_layer(const Node& node) const {
    if (node.outputs.empty() || node.outputs[0] == kNoValue) return false;
    if (capacity_.has(node)) return true;
    const bool grouped = node.domain == kCompositeDomain;
    if ((!node.domain.empty() && !grouped) || !is_one_of(rules_.data_operators, node.op_type)) return false;
    return node.op_type != "MatMul" || uses_.constant(node.input(kWeightInput)) == nullptr;
  }

  [[nodiscard]] static bool is_weighted(const Node& node) {
    static constexpr std::string_view kWeighted[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU"};
    return node.domain.empty() && is_one_of(kWeighted, node.op_type);
  }

  /// Arithmetic on shapes and indices is no layer.
  [[nodiscard]] std::string refuse_type(const Node& node) const {
    const auto type = node.input(0) == kNoValue ? std::nullopt : types_[static_cast<std::size_t>(node.input(0))];
    const bool floating =
        !type || *type == ElementType::float32 || *type == ElementType::float16 || *type == ElementType::float64;
    return floating ? "" : std::string("its data are ") + name_of(*type);
  }

  [[nodiscard]] static LayerInfo describe(const Composite& composite) {
    return {.name = composite.root->name, .kind = LayerKind::other, .op_type = composite.op_type};
  }

  void add(const Node& node, LayerInfo layer, std::string reason) {
    if (reason.empty()) result_.layers.push_back(std::move(layer));
    else result_.left_float.push_back({node.name, node.op_type, std::move(reason)});
  }

  const Graph& graph_;
  const FlavourRules& rules_;
  const Capacity& capacity_;
  Uses uses_;
  std::vector<std::optional<ElementType>> types_;
  CompositeIndex composites_;
  QuantizableLayers result_;
};

}  // namespace detail

/// Finds the layers that a flavour quantizes: those with constant float32 weights (Conv, ConvTranspose, Gemm, MatMul,
/// LSTM, GRU), the operators that the flavour quantizes in their data alone, and composites of several nodes, which
/// have the name of their last node. quantizable_rules.hpp has the constraints. \param capacity  operators that a user
/// adds
[[nodiscard]] inline QuantizableLayers find_quantizable(const Graph& graph,
                                                        const FlavourRules& rules = rules_of(Flavour::pytorch),
                                                        const Capacity& capacity = {}) {
  return detail::QuantizableFinder(graph, rules, capacity).run();
}

/// Moves the layers of some kinds to those that stay float.
inline void leave_float(QuantizableLayers& found, std::span<const LayerKind> kinds, const std::string& reason) {
  for (const auto& layer : found.layers) {
    if (contains(kinds, layer.kind)) found.left_float.push_back({layer.name, layer.op_type, reason});
  }
  std::erase_if(found.layers, [&](const LayerInfo& layer) { return contains(kinds, layer.kind); });
}

}  // namespace amct::graph
