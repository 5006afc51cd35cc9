// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/balance_layers.hpp>
#include <amct/graph/uses.hpp>
#include <amct/graph/weight_levels.hpp>
#include <amct/quantize/bias_aware.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// A weight scale that bias_aware() chose anew.
struct ScaleChange {
  std::string layer{};
  std::optional<std::size_t> channel{};  ///< empty: the scale of the whole tensor
  float before = 1.0F;
  float after = 1.0F;
  ScaleReason reason = ScaleReason::kept;

  friend bool operator==(const ScaleChange&, const ScaleChange&) = default;
};

/// A sentence for the log: layer, channel, both scales and why.
[[nodiscard]] inline std::string describe(const ScaleChange& change) {
  std::string text = "layer \"" + change.layer + '"';
  if (change.channel) text += " channel " + std::to_string(*change.channel);
  text += ": scale_w " + shortest_text(change.before) + " becomes " + shortest_text(change.after);
  switch (change.reason) {
    case ScaleReason::kept: break;
    case ScaleReason::dead_channel: return text + ", since its weights are zero and its bias needs digits";
    case ScaleReason::small_weights: return text + ", the scale of its small weights";
    case ScaleReason::large_bias: return text + ", so that its bias fits int32";
  }
  return text;
}

/// A record under the policy `bias_aware`, and what differs from the one before.
struct BiasAware {
  Record record{};
  std::vector<ScaleChange> changes{};
};

namespace detail {

/// What each output channel of a layer adds up. `bias`: null, one value, or one a channel.
[[nodiscard]] inline std::vector<ChannelLoad> channel_loads(std::span<const float> weight, const ChannelLayout& layout,
                                                            const Tensor* bias) {
  std::vector<ChannelLoad> loads(layout.channels());
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    ChannelLoad& load = loads[channel];
    load.count += count;
    for (const float w : weight.subspan(first, count)) {
      load.min = std::min(load.min, w);
      load.max = std::max(load.max, w);
      load.sum += static_cast<double>(std::fabs(w));
    }
  });
  if (bias == nullptr) return loads;
  const auto values = bias->data<float>();
  if (values.size() != 1 && values.size() != loads.size()) return loads;
  for (std::size_t c = 0; c < loads.size(); ++c) loads[c].bias = values[values.size() == 1 ? 0 : c];
  return loads;
}

/// The codes that a layer reads on its first quantized input.
[[nodiscard]] inline DataCodes data_codes(const InputFactors& input) {
  const CodeRange range{std::clamp(input.bits, 2, 16)};
  return {input.scale, std::max(range.max() - input.offset, input.offset - range.min())};
}

/// Chooses the scales of one layer. Those of levels (SNQ, NUQ, LNQ) belong to their levels and stay.
inline void choose_scales(LayerRecord& entry, const graph::Node& node, const graph::Graph& network,
                          const graph::Uses& uses, std::vector<ScaleChange>& changes) {
  const Tensor* weight = graph::layer_weight(node, network);
  if (weight == nullptr || node.op_type == "LSTM" || node.op_type == "GRU") return;
  const graph::DeployedLayer layer = graph::deployed_layer(node, entry, network, uses);
  if (!layer.computes_in_integers || layer.inputs.empty() || !graph::weight_levels(entry).empty()) return;

  std::optional<Tensor> balanced;  // what is quantized of a balanced layer
  if (!entry.tensor_balance_factor.empty()) {
    balanced = graph::balanced_weight(node, *weight, entry.tensor_balance_factor);
    weight = &*balanced;
  }
  const ChannelLayout layout = graph::weight_layout(node, weight->shape());
  const bool whole_tensor = entry.scale_w.size() == 1;
  if (!whole_tensor && entry.scale_w.size() != layout.channels()) return;
  const graph::BiasPlace place = graph::bias_place(node, uses);
  const Tensor* bias = place.node == nullptr ? nullptr : uses.constant(place.node->input(place.input));
  if (bias != nullptr && bias->type() != ElementType::float32) return;
  const auto loads = channel_loads(weight->data<float>(), layout, bias);
  const DataCodes data = data_codes(layer.inputs.front().factors);
  const CodeRange range{graph::code_bits_of_weights(entry)};
  for (std::size_t c = 0; c < entry.scale_w.size(); ++c) {
    const auto sharers = whole_tensor ? std::span(loads) : std::span(loads).subspan(c, 1);
    const WeightScale choice = bias_aware_scale(entry.scale_w[c], sharers, data, range);
    if (choice.reason == ScaleReason::kept) continue;
    changes.push_back({.layer = entry.name,
                       .channel = whole_tensor ? std::nullopt : std::optional(c),
                       .before = entry.scale_w[c],
                       .after = choice.scale,
                       .reason = choice.reason});
    entry.scale_w[c] = choice.scale;
  }
}

}  // namespace detail

/// Applies the degenerate-range policy `bias_aware` to what a calibration found: weight scales of channels without
/// weights, with weights too small for AMCT, or with a bias that would overflow int32 (quantize/bias_aware.hpp). Other
/// scales, and layers that the network does not have or that do not compute in integers, stay as they are.
///
/// AMCT has no counterpart: under its own policy `amct`, the default of this library, such channels have scale 1, which
/// calibration warns of, and deploy() refuses a bias that does not fit.
/// \param record    of the network, after calibration
/// \param network   the float network as it was calibrated (Prepared::graph, or Recorded::graph)
/// \return the record with other scale_w, and the changes in its order. O(weights)
/// \throws Error record_value for factors that the layer cannot have
[[nodiscard]] inline BiasAware bias_aware(Record record, const graph::Graph& network) {
  BiasAware result{.record = std::move(record)};
  const graph::Uses uses(network);
  for (LayerRecord& entry : result.record) {
    const graph::Node* node = network.find_node(entry.name);
    if (node != nullptr) detail::choose_scales(entry, *node, network, uses, result.changes);
  }
  return result;
}

}  // namespace amct::flow
