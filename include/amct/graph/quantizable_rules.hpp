// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Why a layer of a quantizable type stays float. Each function gives an empty text if nothing speaks against it.

namespace amct::graph::detail {

// Layers with weights

[[nodiscard]] inline std::string refuse_convolution(const Node& node, const Shape& weight, LayerKind kind,
                                                    const FlavourRules& rules) {
  const auto groups = node.attribute_or<std::int64_t>("group", 1);
  if (groups < 1 || weight[0] % groups != 0) {
    return "its " + std::to_string(groups) + " groups do not divide its channels";
  }
  const auto* dilations = node.attribute<std::vector<std::int64_t>>("dilations");
  if (dilations == nullptr || dilations->empty()) return {};
  if (kind == LayerKind::conv3d && dilations->front() != 1) {
    return "its dilation along the depth is " + std::to_string(dilations->front()) + ", expected 1";
  }
  const bool dilated = std::any_of(dilations->begin(), dilations->end(), [](std::int64_t d) { return d != 1; });
  if (node.op_type == "ConvTranspose" && dilated && !rules.dilated_transposed_quantized) {
    return "it is a transposed convolution with dilations";
  }
  return {};
}

[[nodiscard]] inline std::string refuse_linear(const Node& node, const Uses& uses, const FlavourRules& rules) {
  if (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transA", 0) != 0) return "transA is set";
  if (node.op_type == "MatMul" && !rules.biased_matmul_quantized && bias_add(node, uses) != nullptr) {
    return "it is a fully connected layer with bias on data of more than two axes; make the data two-dimensional or "
           "use "
           "a 1x1 convolution";
  }
  return {};
}

/// AMCT replaces recurrent layers of one form only: one layer, one direction, states that come from outside.
[[nodiscard]] inline std::string refuse_recurrent(const Node& node, const Graph& graph, const Uses& uses) {
  constexpr std::size_t kRecurrence = 2;
  constexpr std::size_t kRecurrentBias = 3;
  constexpr std::size_t kFirstState = 5;
  if (node.attribute_or<std::string>("direction", "forward") != "forward") return "it does not run forward only";
  if (node.op_type == "GRU" && node.attribute_or<std::int64_t>("linear_before_reset", 0) == 0) {
    return "linear_before_reset is 0";
  }
  for (const std::size_t input : {kRecurrence, kRecurrentBias}) {
    const ValueId id = node.input(input);
    if (id != kNoValue && uses.constant(id) == nullptr) return "its recurrent weight or bias is not a constant";
  }
  const std::size_t states = node.op_type == "LSTM" ? 2 : 1;
  for (std::size_t i = 0; i < states; ++i) {
    const ValueId id = node.input(kFirstState + i);
    if (std::find(graph.inputs.begin(), graph.inputs.end(), id) == graph.inputs.end()) {
      return "its initial state is not a graph input";
    }
  }
  return {};
}

[[nodiscard]] inline std::string refuse_weighted(const Node& node, const Graph& graph, const Uses& uses,
                                                 const FlavourRules& rules) {
  const ValueId weight = node.input(kWeightInput);
  if (weight == kNoValue || !graph.value(weight).initializer) return "its weight is not an initializer";
  const Tensor& data = *graph.value(weight).initializer;
  if (data.type() != ElementType::float32) return "its weight is not float32";
  if (data.size() == 0) return "its weight is empty";
  const auto kind = layer_kind(node, data.shape().rank());
  if (!kind) return "its weight has " + std::to_string(data.shape().rank()) + " axes";
  if (!contains(rules.weighted_kinds, *kind)) {
    return "flavour " + std::string(rules.name) + " does not quantize " + type_name(*kind);
  }
  const bool sharing = rules.shared_weights_quantized;
  if (!sharing && uses.consumers(weight).size() > 1) return "its weight is shared with another node";
  const ValueId bias = node.input(kBiasInput);
  if (bias != kNoValue && uses.constant(bias) == nullptr) return "its bias is not a constant";
  if (!sharing && bias != kNoValue && uses.consumers(bias).size() > 1) return "its bias is shared with another node";
  if (uses.constant(node.input(0)) != nullptr) return "its input is a constant";
  if (*kind == LayerKind::lstm || *kind == LayerKind::gru) return refuse_recurrent(node, graph, uses);
  if (*kind == LayerKind::linear) return refuse_linear(node, uses, rules);
  return refuse_convolution(node, data.shape(), *kind, rules);
}

// Layers without weights

[[nodiscard]] inline std::string refuse_pool(const Node& node) {
  const auto* kernel = node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (kernel == nullptr || kernel->size() != 2) return "only 2-D average pooling is quantized";
  return {};
}

/// The node that makes a value once a BatchNormalization that the flavour folds is folded.
[[nodiscard]] inline const Node* producer_after_fold(ValueId id, const Graph& graph, const Uses& uses,
                                                     const FlavourRules& rules) {
  const Node* node = uses.producer(id);
  if (node == nullptr || node->op_type != "BatchNormalization") return node;
  const Node* before = uses.producer(node->input(0));
  if (before == nullptr || !is_in_fold_set(rules.fold, *before) || !refuse_fold(*before, graph, uses, rules).empty()) {
    return node;
  }
  const Shape& weight = graph.value(before->input(kWeightInput)).initializer->shape();
  return batch_norm_of(*node, weight_layout(*before, weight).channels(), uses) ? before : node;
}

/// torch's ReLU6; other clamps are quantized wherever they stand.
[[nodiscard]] inline bool is_relu6(const Node& node, const Uses& uses) {
  if (const float* most = node.attribute<float>("max"))
    return node.attribute_or<float>("min", -1.0F) == 0.0F && *most == 6.0F;
  return scalar_value(uses.constant(node.input(1))) == 0.0 && scalar_value(uses.constant(node.input(2))) == 6.0;
}

[[nodiscard]] inline std::string refuse_behind_convolution(const Node& node, const Graph& graph, const Uses& uses,
                                                           const FlavourRules& rules) {
  if (!is_one_of(rules.fused_activations, node.op_type)) return {};
  if (node.op_type == "Clip" && !is_relu6(node, uses)) return {};
  const Node* before = producer_after_fold(node.input(0), graph, uses, rules);
  const bool behind_conv = before != nullptr && (before->op_type == "Conv" || before->op_type == "ConvTranspose");
  return behind_conv ? "it stands directly behind a convolution" : "";
}

inline constexpr std::string_view kShapeOperators[] = {"Flatten", "Squeeze", "Unsqueeze", "Reshape"};

/// A chain of operators that only change the shape is quantized at its ends.
[[nodiscard]] inline std::string refuse_shape_operator(const Node& node, const Uses& uses) {
  if (!is_one_of(kShapeOperators, node.op_type)) return {};
  const auto computes = [](const Node& other) { return !is_one_of(kShapeOperators, other.op_type); };
  const Node* before = uses.producer(node.input(0));
  if (before != nullptr && computes(*before)) return {};
  for (const Node* after : uses.consumers(node.outputs[0])) {
    if (computes(*after)) return {};
  }
  return "it only changes the shape, and so do its neighbours";
}

/// torch.stack: a Concat along the axis that Unsqueeze nodes made for it. The Concat is the layer.
[[nodiscard]] inline std::string refuse_part_of_stack(const Node& node, const Uses& uses) {
  if (node.op_type != "Unsqueeze" || !uses.has_single_use(node.outputs[0])) return {};
  const Node& concat = *uses.consumers(node.outputs[0]).front();
  const auto axes_of = [&](const Node& unsqueeze) {
    const auto* axes = unsqueeze.attribute<std::vector<std::int64_t>>("axes");
    return axes != nullptr ? std::optional(*axes) : integer_values(uses.constant(unsqueeze.input(1)));
  };
  if (concat.op_type != "Concat" || !concat.domain.empty()) return {};
  for (const ValueId id : concat.inputs) {
    const Node* part = uses.producer(id);
    const bool stacked = part != nullptr && part->op_type == "Unsqueeze" &&
                         axes_of(*part) == std::vector{concat.attribute_or<std::int64_t>("axis", 0)};
    if (!stacked) return {};
  }
  return "it is a part of the stack " + concat.name;
}

/// The only form that the device has.
[[nodiscard]] inline bool is_warp(const Node& node) {
  return node.attribute_or<std::string>("mode", "bilinear") == "nearest" &&
         node.attribute_or<std::string>("padding_mode", "zeros") == "border" &&
         node.attribute_or<std::int64_t>("align_corners", 0) != 0;
}

[[nodiscard]] inline std::string refuse_data(const Node& node, const LayerInfo& layer, const Graph& graph,
                                             const Uses& uses, const FlavourRules& rules) {
  if (node.op_type == "AveragePool") return refuse_pool(node);
  if (layer.activation_inputs == 0) return "none of its inputs carries data";
  if (node.op_type == "MatMul" && layer.activation_inputs == 1) return "one of its operands is a constant";
  if (node.op_type == "ReduceMax" && node.attribute_or<std::int64_t>("keepdims", 1) == 0) return "keepdims is 0";
  if (node.op_type == "DepthToSpace" && node.attribute_or<std::string>("mode", "DCR") != "DCR")
    return "its mode is not DCR";
  if (node.op_type == "GridSample" && !is_warp(node)) return "it does not sample nearest, align_corners, border";
  if (node.op_type == "BatchNormalization" && producer_after_fold(node.outputs[0], graph, uses, rules) != &node) {
    return "it is folded into the layer before it";
  }
  for (std::string reason : {refuse_behind_convolution(node, graph, uses, rules), refuse_part_of_stack(node, uses),
                             refuse_shape_operator(node, uses)}) {
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace amct::graph::detail
