// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
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

[[nodiscard]] inline std::string refuse_pool(const Node& node) {
  const auto* kernel = node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (kernel == nullptr || kernel->size() != 2) return "only 2-D average pooling is quantized";
  return {};
}

[[nodiscard]] inline std::string refuse_groups(const Node& node, const Shape& weight) {
  const auto groups = node.attribute_or<std::int64_t>("group", 1);
  if (groups < 1 || weight[0] % groups != 0)
    return "its " + std::to_string(groups) + " groups do not divide its channels";
  return {};
}

[[nodiscard]] inline std::string refuse_gemm(const Node& node, const Uses& uses) {
  if (node.attribute_or<std::int64_t>("transA", 0) != 0) return "transA is set";
  if (node.input(kBiasInput) != kNoValue && uses.constant(node.input(kBiasInput)) == nullptr) {
    return "its bias is not a constant";
  }
  return {};
}

/// Empty if the layer can be quantized.
[[nodiscard]] inline std::string refuse_weighted(const Node& node, const Graph& graph, const Uses& uses,
                                                 const FlavourRules& rules) {
  const ValueId weight = node.input(kWeightInput);
  if (weight == kNoValue || !graph.value(weight).initializer) return "its weight is not an initializer";
  const Tensor& data = *graph.value(weight).initializer;
  if (data.type() != ElementType::float32) return "its weight is not float32";
  if (data.size() == 0) return "its weight is empty";
  if (!layer_kind(node, data.shape().rank())) return "its weight has " + std::to_string(data.shape().rank()) + " axes";
  const bool sharing = rules.shared_weights_quantized;
  if (!sharing && uses.consumers(weight).size() > 1) return "its weight is shared with another node";
  const ValueId bias = node.input(kBiasInput);
  if (bias != kNoValue && uses.constant(bias) == nullptr) return "its bias is not a constant";
  if (!sharing && bias != kNoValue && uses.consumers(bias).size() > 1) return "its bias is shared with another node";
  if (uses.constant(node.input(0)) != nullptr) return "its input is a constant";
  return node.op_type == "Gemm" ? refuse_gemm(node, uses) : refuse_groups(node, data.shape());
}

/// What a config needs to know of a layer with weights: their axes decide whether four bits can be packed along the
/// input channels, two a byte.
[[nodiscard]] inline LayerInfo describe_weighted(const Node& node, LayerKind kind, const Shape& weight) {
  const auto groups = node.attribute_or<std::int64_t>("group", 1);
  const bool rows_are_inputs = node.op_type == "ConvTranspose" || node.op_type == "MatMul" ||
                               (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) == 0);
  const std::int64_t inputs_per_group = rows_are_inputs ? weight[0] / groups : weight[1];
  return {.name = node.name,
          .kind = kind,
          .op_type = node.op_type,
          .packs_int4 = groups == 1 && inputs_per_group % 2 == 0,
          .depthwise = groups > 1 && inputs_per_group == 1};
}

/// A layer without weights. Arithmetic and Concat have data in all inputs that are no constants; elsewhere the inputs
/// behind the first are shapes, axes or scales.
[[nodiscard]] inline LayerInfo describe_data(const Node& node, const Uses& uses) {
  static constexpr std::string_view kAllInputsAreData[] = {"Add",    "Sub", "Mul", "Div",   "Pow",
                                                           "MatMul", "Max", "Min", "Concat"};
  const std::size_t candidates = is_one_of(kAllInputsAreData, node.op_type) ? node.inputs.size() : 1;
  int inputs = 0;
  for (std::size_t i = 0; i < candidates; ++i) {
    if (node.input(i) != kNoValue && uses.constant(node.input(i)) == nullptr) ++inputs;
  }
  return {.name = node.name,
          .kind = node.op_type == "AveragePool" ? LayerKind::avg_pool2d : LayerKind::other,
          .op_type = node.op_type,
          .activation_inputs = inputs};
}

[[nodiscard]] inline std::string refuse_data(const Node& node, const LayerInfo& layer, const Uses& uses,
                                             const FlavourRules& rules) {
  if (node.op_type == "AveragePool") return refuse_pool(node);
  if (layer.activation_inputs == 0) return "none of its inputs carries data";
  const Node* before = uses.producer(node.input(0));
  const bool behind_conv = before != nullptr && (before->op_type == "Conv" || before->op_type == "ConvTranspose");
  if (behind_conv && is_one_of(rules.fused_activations, node.op_type)) return "it stands directly behind a convolution";
  return {};
}

}  // namespace detail

/// Finds the layers that a flavour quantizes: Conv (1-D to 3-D), ConvTranspose (1-D, 2-D), Gemm and MatMul with
/// constant float32 weights, and the operators that the flavour quantizes in their data alone.
[[nodiscard]] inline QuantizableLayers find_quantizable(const Graph& graph,
                                                        const FlavourRules& rules = rules_of(Flavour::pytorch)) {
  const Uses uses(graph);
  QuantizableLayers result;
  for (const auto& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    std::string reason;
    LayerInfo layer;
    const bool data_only = is_one_of(rules.data_operators, node.op_type);
    if (data_only && (node.op_type != "MatMul" || uses.constant(node.input(kWeightInput)) == nullptr)) {
      layer = detail::describe_data(node, uses);
      reason = detail::refuse_data(node, layer, uses, rules);
    } else if (node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm" ||
               node.op_type == "MatMul") {
      reason = detail::refuse_weighted(node, graph, uses, rules);
      if (reason.empty()) {
        const Shape& weight = graph.value(node.input(kWeightInput)).initializer->shape();
        layer = detail::describe_weighted(node, *layer_kind(node, weight.rank()), weight);
      }
    } else {
      continue;
    }
    if (reason.empty()) {
      result.layers.push_back(std::move(layer));
    } else {
      result.left_float.push_back({node.name, node.op_type, reason});
    }
  }
  return result;
}

}  // namespace amct::graph
