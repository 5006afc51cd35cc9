// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/flavour.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

namespace detail {

AMCT_EXACT_BEGIN

/// What a BatchNormalization multiplies the weights of each channel with, in AMCT's order of float32 operations.
[[nodiscard]] inline std::vector<float> fold_factors(const graph::BatchNorm& norm) {
  std::vector<float> factors(norm.gamma.size());
  for (std::size_t c = 0; c < factors.size(); ++c) {
    factors[c] = norm.gamma[c] * (1.0F / std::sqrt(norm.variance[c] + norm.epsilon));
  }
  return factors;
}

/// The scales of weights that were multiplied: scale * |factor|, one a channel, kept from becoming too small as the
/// flavour has it.
[[nodiscard]] inline std::vector<float> folded_scales(std::span<const float> scales, std::span<const float> factors,
                                                      DegenerateScale rule, std::span<const float> bias) {
  const ClampToEpsilon clamp{weight_epsilon(bias)};
  std::vector<float> folded(factors.size());
  for (std::size_t c = 0; c < factors.size(); ++c) {
    const float scale = (scales.size() == 1 ? scales[0] : scales[c]) * std::fabs(factors[c]);
    folded[c] = rule == DegenerateScale::one ? ReplaceByOne{}(scale) : clamp(scale);
  }
  return folded;
}

AMCT_EXACT_END

/// Turns the lists of levels of channels whose weights changed their sign. One list for all channels becomes one each.
inline void fold_levels(LayerRecord& entry, std::span<const float> factors) {
  const bool turned = std::any_of(factors.begin(), factors.end(), [](float factor) { return factor < 0.0F; });
  if (entry.params.empty() || !turned) return;
  const std::size_t per_list = std::size_t{1} << std::clamp(weight_bits(entry), 2, 8);
  const bool one_a_channel = entry.params.size() == per_list * factors.size() && factors.size() > 1;
  const auto spread = [&]<class T>(const std::vector<T>& levels, T most) {
    std::vector<T> result;
    for (std::size_t c = 0; c < factors.size(); ++c) {
      const std::size_t first = one_a_channel ? c * per_list : 0;
      std::vector<T> list(
          levels.begin() + static_cast<std::ptrdiff_t>(first),
          one_a_channel ? levels.begin() + static_cast<std::ptrdiff_t>(first + per_list) : levels.end());
      if (factors[c] < 0.0F) {
        std::reverse(list.begin(), list.end());
        for (T& level : list) level = std::min(static_cast<T>(-level), most);
      }
      list.resize(per_list, list.back());
      result.insert(result.end(), list.begin(), list.end());
    }
    return result;
  };
  entry.params = spread(entry.params, std::int32_t{Int8::max});
  if (!entry.centroids.empty()) entry.centroids = spread(entry.centroids, std::numeric_limits<float>::max());
}

}  // namespace detail

/// Folds BatchNormalization into convolutions that were calibrated with it behind them, as the static graph of
/// hotwheels does when it saves: the weight scale of a channel is multiplied by |gamma / sqrt(variance + eps)|, so one
/// scale becomes one a channel, and the codes stay what they were but for their sign. Levels (`params`, `centroids`) of
/// a channel whose factor is negative are negated; -128, which has no opposite, becomes 127.
/// \param graph   the float network, BatchNormalization in place
/// \param record  its factors; layers with skip_fusion keep their BatchNormalization
/// \return what was folded, and what was not and why
/// \throws Error record_value for another number of weight scales than one, or one a channel
inline graph::PassReport fold_when_saving(graph::Graph& graph, Record& record, const FlavourRules& rules,
                                          std::vector<std::string> skip = {}) {
  for (const LayerRecord& layer : record) {
    if (layer.skip_fusion.value_or(false)) skip.push_back(layer.name);
  }
  std::map<std::string, std::vector<float>> factors;  // by layer
  {
    const graph::Uses uses(graph);
    for (const auto& node : graph.nodes) {
      const graph::Node* next = graph::detail::batch_norm_behind(node, uses);
      const Tensor* weight = next == nullptr ? nullptr : uses.constant(node.input(graph::kWeightInput));
      if (weight == nullptr || !graph::layer_kind(node, weight->shape().rank())) continue;
      const std::size_t channels = graph::weight_layout(node, weight->shape()).channels();
      if (const auto norm = graph::detail::batch_norm_of(*next, channels, uses)) {
        factors.emplace(node.name, detail::fold_factors(*norm));
      }
    }
  }
  graph::PassReport report = graph::fuse_batch_norm(graph, skip, rules);
  const graph::Uses uses(graph);
  for (const auto& change : report.changed) {
    const auto entry =
        std::find_if(record.begin(), record.end(), [&](const auto& one) { return one.name == change.node; });
    if (entry == record.end() || entry->scale_w.empty()) continue;
    const std::vector<float>& by = factors.at(change.node);
    if (entry->scale_w.size() != 1 && entry->scale_w.size() != by.size()) {
      throw Error(ErrorCode::record_value, {.layer = entry->name, .field = "scale_w"},
                  "got " + std::to_string(entry->scale_w.size()) + " values, expected 1, or " +
                      std::to_string(by.size()) + ": one an output channel");
    }
    const Tensor* bias = uses.constant(graph.find_node(change.node)->input(graph::kBiasInput));
    detail::fold_levels(*entry, by);
    entry->scale_w = detail::folded_scales(entry->scale_w, by, rules.degenerate_scale,
                                           bias == nullptr ? std::span<const float>() : bias->data<float>());
    entry->offset_w.assign(entry->scale_w.size(), 0);
  }
  return report;
}

}  // namespace amct::flow
