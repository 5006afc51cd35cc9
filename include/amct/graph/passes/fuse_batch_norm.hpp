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
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
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

/// True for a Conv whose weight and bias may be changed: constant float32, used nowhere else.
[[nodiscard]] inline bool owns_its_weights(const Node& node, const Graph& graph, const Uses& uses) {
  const ValueId weight = node.input(kWeightInput);
  if (node.op_type != "Conv" || !node.domain.empty() || weight == kNoValue) return false;
  const auto& data = graph.value(weight).initializer;
  if (!data || data->type() != ElementType::float32 || uses.consumers(weight).size() != 1) return false;
  if (node.input(kBiasInput) == kNoValue) return true;
  const Tensor* bias = uses.constant(node.input(kBiasInput));
  return bias != nullptr && bias->type() == ElementType::float32 &&
         bias->size() == weight_layout(node, data->shape()).channels();
}

[[nodiscard]] inline bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// Folds `norm` into the weights of `conv`; false if a result would not be finite, and nothing is changed then.
inline bool fold_into(Graph& graph, Node& conv, const BatchNorm& norm, const Uses& uses, UniqueNames& names) {
  const ValueId weight_id = conv.input(kWeightInput);
  Tensor weight = *graph.value(weight_id).initializer;
  const ChannelLayout layout = weight_layout(conv, weight.shape());
  Tensor bias(ElementType::float32, Shape{static_cast<std::int64_t>(layout.channels())});
  const auto values = bias.data<float>();
  std::fill(values.begin(), values.end(), 0.0F);
  const ValueId bias_id = conv.input(kBiasInput);
  if (const Tensor* old = uses.constant(bias_id))
    std::copy_n(old->data<float>().begin(), values.size(), values.begin());

  fold_batch_norm(norm, layout, weight.data<float>(), values);
  if (!all_finite(weight.data<float>()) || !all_finite(values)) return false;

  replace_initializer(graph, weight_id, std::move(weight));
  const bool own_bias = bias_id != kNoValue && graph.value(bias_id).initializer && uses.consumers(bias_id).size() == 1;
  if (own_bias) {
    replace_initializer(graph, bias_id, std::move(bias));
  } else {
    conv.inputs.resize(kBiasInput + 1, kNoValue);
    conv.inputs[kBiasInput] = add_initializer(graph, names.value(conv.name + ".bias"), std::move(bias));
  }
  return true;
}

}  // namespace detail

/// Folds each BatchNormalization that alone reads the result of a Conv with constant weights into that Conv. A Conv
/// without bias gets one named `<layer>.bias`. Left alone: layers in `skip`, weights that are shared, and folds whose
/// result would not be finite.
/// \return the names of the Conv layers that took in a BatchNormalization
inline std::vector<std::string> fuse_batch_norm(Graph& graph, const std::vector<std::string>& skip) {
  const Uses uses(graph);
  UniqueNames names(graph);
  std::vector<std::string> fused;
  std::map<std::string, ValueId> new_output;  // Conv name -> the value its BatchNormalization made
  std::set<std::string> absorbed;
  for (auto& node : graph.nodes) {
    if (!detail::owns_its_weights(node, graph, uses) || !uses.has_single_use(node.outputs[0])) continue;
    if (std::find(skip.begin(), skip.end(), node.name) != skip.end()) continue;
    const Node& next = *uses.consumers(node.outputs[0]).front();
    const auto& weight = *graph.value(node.input(kWeightInput)).initializer;
    const auto norm = detail::batch_norm_of(next, weight_layout(node, weight.shape()).channels(), uses);
    if (!norm || next.input(0) != node.outputs[0] || !detail::fold_into(graph, node, *norm, uses, names)) continue;
    new_output[node.name] = next.outputs[0];
    absorbed.insert(next.name);
    fused.push_back(node.name);
  }
  std::erase_if(graph.nodes, [&](const Node& node) { return absorbed.contains(node.name); });
  for (auto& node : graph.nodes) {
    if (const auto found = new_output.find(node.name); found != new_output.end()) node.outputs[0] = found->second;
  }
  remove_unused(graph);
  return fused;
}

}  // namespace amct::graph
