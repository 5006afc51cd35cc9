// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
[[nodiscard]] inline std::string refuse_weighted(const Node& node, const Graph& graph, const Uses& uses) {
  const ValueId weight = node.input(kWeightInput);
  if (weight == kNoValue || !graph.value(weight).initializer) return "its weight is not an initializer";
  const Tensor& data = *graph.value(weight).initializer;
  if (data.type() != ElementType::float32) return "its weight is not float32";
  if (data.size() == 0) return "its weight is empty";
  if (!layer_kind(node, data.shape().rank())) return "its weight has " + std::to_string(data.shape().rank()) + " axes";
  if (uses.consumers(weight).size() > 1) return "its weight is shared with another node";
  const ValueId bias = node.input(kBiasInput);
  if (bias != kNoValue && uses.constant(bias) == nullptr) return "its bias is not a constant";
  if (bias != kNoValue && uses.consumers(bias).size() > 1) return "its bias is shared with another node";
  if (uses.constant(node.input(0)) != nullptr) return "its input is a constant";
  return node.op_type == "Gemm" ? refuse_gemm(node, uses) : refuse_groups(node, data.shape());
}

}  // namespace detail

/// Finds the layers that AMCT's flavour pytorch quantizes: Conv (1-D to 3-D), ConvTranspose (1-D, 2-D), Gemm and MatMul
/// with constant float32 weights of their own, and 2-D AveragePool.
[[nodiscard]] inline QuantizableLayers find_quantizable(const Graph& graph) {
  const Uses uses(graph);
  QuantizableLayers result;
  for (const auto& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    std::string reason;
    std::optional<LayerKind> kind;
    if (node.op_type == "AveragePool") {
      reason = detail::refuse_pool(node);
      kind = LayerKind::avg_pool2d;
    } else if (node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm" ||
               node.op_type == "MatMul") {
      reason = detail::refuse_weighted(node, graph, uses);
      if (reason.empty()) kind = layer_kind(node, graph.value(node.input(kWeightInput)).initializer->shape().rank());
    } else {
      continue;
    }
    if (reason.empty()) {
      result.layers.push_back({node.name, *kind});
    } else {
      result.left_float.push_back({node.name, node.op_type, reason});
    }
  }
  return result;
}

}  // namespace amct::graph
