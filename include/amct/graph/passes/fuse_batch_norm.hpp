// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/granularity.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// The learned and the measured numbers of a BatchNormalization, one each a channel.
struct BatchNorm {
  std::span<const float> gamma{}, beta{}, mean{}, variance{};
  float epsilon = 1e-5F;
};

AMCT_EXACT_BEGIN

/// Folds a BatchNormalization into the weight and bias before it, in AMCT's order of float32 operations:
/// k = 1/sqrt(var + eps); w = w * (gamma * k); b = (b - mean) * k * gamma + beta.
inline void fold_batch_norm(const BatchNorm& norm, const ChannelLayout& layout, std::span<float> weight,
                            std::span<float> bias) {
  std::vector<float> inverse_deviation(bias.size());
  for (std::size_t c = 0; c < bias.size(); ++c) {
    inverse_deviation[c] = 1.0F / std::sqrt(norm.variance[c] + norm.epsilon);
    bias[c] = (bias[c] - norm.mean[c]) * inverse_deviation[c] * norm.gamma[c] + norm.beta[c];
  }
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    const float factor = norm.gamma[channel] * inverse_deviation[channel];
    for (float& w : weight.subspan(first, count)) w = w * factor;
  });
}

AMCT_EXACT_END

namespace detail {

/// The constants of a BatchNormalization in inference form with `channels` channels; empty if the node is not one.
[[nodiscard]] inline std::optional<BatchNorm> batch_norm_of(const Node& node, std::size_t channels, const Uses& uses) {
  if (node.op_type != "BatchNormalization" || node.attribute_or<std::int64_t>("training_mode", 0) != 0) return {};
  BatchNorm norm{.epsilon = node.attribute_or<float>("epsilon", 1e-5F)};
  std::span<const float>* const parts[] = {&norm.gamma, &norm.beta, &norm.mean, &norm.variance};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const Tensor* data = uses.constant(node.input(i + 1));
    if (data == nullptr || data->type() != ElementType::float32 || data->size() != channels) return {};
    *parts[i] = data->data<float>();
  }
  return norm;
}

/// Whether a flavour folds into nodes like this at all.
[[nodiscard]] inline bool is_in_fold_set(const FoldSet& fold, const Node& node) {
  if (!node.domain.empty()) return false;
  if (node.op_type == "Conv") return node.attribute_or<std::int64_t>("group", 1) == 1 ? fold.conv : fold.grouped;
  if (node.op_type == "ConvTranspose") return fold.transposed;
  return node.op_type == "Gemm" && fold.linear;
}

/// Why a BatchNormalization behind this node is not folded into it; empty if it may be.
[[nodiscard]] inline std::string refuse_fold(const Node& node, const Graph& graph, const Uses& uses,
                                             const FlavourRules& rules) {
  if (!is_in_fold_set(rules.fold, node)) {
    return "flavour " + std::string(rules.name) + " does not fold into " +
           (node.attribute_or<std::int64_t>("group", 1) == 1 ? "" : "a grouped ") + node.op_type;
  }
  if (!uses.has_single_use(node.outputs[0])) return "its result has other readers";
  const ValueId weight = node.input(kWeightInput);
  const Tensor* data =
      weight == kNoValue || !graph.value(weight).initializer ? nullptr : &*graph.value(weight).initializer;
  if (data == nullptr || data->type() != ElementType::float32) return "its weight is not a float32 initializer";
  if (!layer_kind(node, data->shape().rank()))
    return "its weight has " + std::to_string(data->shape().rank()) + " axes";
  const auto groups = node.attribute_or<std::int64_t>("group", 1);
  if (groups < 1 || data->shape()[0] % groups != 0) return "its groups do not divide its channels";
  if (uses.consumers(weight).size() != 1) return "its weight is shared with another node";
  if (node.input(kBiasInput) == kNoValue) return {};
  const Tensor* bias = uses.constant(node.input(kBiasInput));
  if (bias == nullptr || bias->type() != ElementType::float32) return "its bias is not a float32 constant";
  const std::size_t channels = weight_layout(node, data->shape()).channels();
  if (bias->size() != channels) {
    return "its bias has " + std::to_string(bias->size()) + " values, expected " + std::to_string(channels);
  }
  if (node.attribute_or<float>("beta", 1.0F) != 1.0F) return "its beta is not 1";
  return {};
}

[[nodiscard]] inline bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// The BatchNormalization that normalizes the result of a layer with weights; null if there is none.
[[nodiscard]] inline const Node* batch_norm_behind(const Node& node, const Uses& uses) {
  static constexpr std::string_view kLayers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  if (!is_one_of(kLayers, node.op_type) || node.outputs.empty() || node.outputs[0] == kNoValue) return nullptr;
  for (const Node* next : uses.consumers(node.outputs[0])) {
    if (next->op_type == "BatchNormalization" && next->domain.empty() && next->input(0) == node.outputs[0]) return next;
  }
  return nullptr;
}

/// Folds `norm` into the weights of `layer`; false if a result would not be finite, and nothing is changed then.
inline bool fold_into(Graph& graph, Node& layer, const BatchNorm& norm, const Uses& uses, UniqueNames& names) {
  const ValueId weight_id = layer.input(kWeightInput);
  Tensor weight = *graph.value(weight_id).initializer;
  const ChannelLayout layout = weight_layout(layer, weight.shape());
  Tensor bias(ElementType::float32, Shape{static_cast<std::int64_t>(layout.channels())});
  const auto values = bias.data<float>();
  std::fill(values.begin(), values.end(), 0.0F);
  const ValueId bias_id = layer.input(kBiasInput);
  if (const Tensor* old = uses.constant(bias_id))
    std::copy_n(old->data<float>().begin(), values.size(), values.begin());

  fold_batch_norm(norm, layout, weight.data<float>(), values);
  if (!all_finite(weight.data<float>()) || !all_finite(values)) return false;

  replace_initializer(graph, weight_id, std::move(weight));
  const bool own_bias = bias_id != kNoValue && graph.value(bias_id).initializer && uses.consumers(bias_id).size() == 1;
  if (own_bias) {
    replace_initializer(graph, bias_id, std::move(bias));
  } else {
    layer.inputs.resize(kBiasInput + 1, kNoValue);
    layer.inputs[kBiasInput] = add_initializer(graph, names.value(layer.name + ".bias"), std::move(bias));
  }
  return true;
}

}  // namespace detail

/// Folds each BatchNormalization that alone reads the result of a layer of the flavour's fold set into that layer:
/// Conv, grouped and depthwise Conv, ConvTranspose, Gemm. A layer without bias gets one named `<layer>.bias`. Left
/// alone: layers in `skip`, weights that are shared, and folds whose result would not be finite.
/// \return the layers that took in a BatchNormalization, and those with one behind them that did not
inline PassReport fuse_batch_norm(Graph& graph, const std::vector<std::string>& skip,
                                  const FlavourRules& rules = rules_of(Flavour::pytorch)) {
  const Uses uses(graph);
  UniqueNames names(graph);
  PassReport report;
  std::map<std::string, ValueId> new_output;  // name of a layer -> the value its BatchNormalization made
  std::set<std::string> absorbed;
  for (auto& node : graph.nodes) {
    const Node* next = detail::batch_norm_behind(node, uses);
    if (next == nullptr) continue;
    std::string reason = detail::refuse_fold(node, graph, uses, rules);
    if (std::find(skip.begin(), skip.end(), node.name) != skip.end()) reason = "skipped by the configuration";
    if (reason.empty()) {
      const auto& weight = *graph.value(node.input(kWeightInput)).initializer;
      const auto norm = detail::batch_norm_of(*next, weight_layout(node, weight.shape()).channels(), uses);
      if (!norm) reason = next->name + " is in training form or has other parameters than one constant a channel";
      else if (!detail::fold_into(graph, node, *norm, uses, names)) reason = "the result would not be finite";
    }
    if (!reason.empty()) {
      report.refuse(node.name, std::move(reason));
      continue;
    }
    new_output[node.name] = next->outputs[0];
    absorbed.insert(next->name);
    report.change(node.name, "takes in " + next->name, next->name);
  }
  std::erase_if(graph.nodes, [&](const Node& node) { return absorbed.contains(node.name); });
  for (auto& node : graph.nodes) {
    if (const auto found = new_output.find(node.name); found != new_output.end()) node.outputs[0] = found->second;
  }
  remove_unused(graph);
  return report;
}

}  // namespace amct::graph
