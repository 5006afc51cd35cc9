// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/codebook.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/graph/weight_levels.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// How the channels of a layer's weight are scaled: as many as its record has weight scales.
[[nodiscard]] inline ChannelLayout scale_layout(const Node& node, const Tensor& weight, std::size_t scales) {
  return scales == 1 ? ChannelLayout::per_tensor(weight.size()) : weight_layout(node, weight.shape());
}

namespace detail {

/// A weight as one layer reads it: the same data with the same scales, width, levels and channels have the same codes.
struct WeightUse {
  ValueId id = kNoValue;
  std::vector<float> scales{};
  int bits = 8;
  WeightLevels levels{};
  std::array<std::size_t, 4> layout{};

  friend auto operator<=>(const WeightUse&, const WeightUse&) = default;
};

[[nodiscard]] inline WeightUse weight_use(const Node& node, const Tensor& weight, const LayerRecord& layer) {
  const ChannelLayout layout = scale_layout(node, weight, layer.scale_w.size());
  return {.id = node.input(kWeightInput),
          .scales = layer.scale_w,
          .bits = code_bits_of_weights(layer),
          .levels = weight_levels(layer),
          .layout = {layout.groups, layout.outer, layout.channels_per_group, layout.inner}};
}

/// Codes at the levels of one channel: the nearest one of each weight, or of its INT8 code.
inline void to_levels(std::span<const float> weights, float scale, const WeightLevels& levels, std::size_t channel,
                      std::span<std::int8_t> codes) {
  const auto list = levels.of(channel);
  if (levels.of_codes) quantize<DivideAddRound>(weights, codes, {scale, 0}, Int8::range);
  std::vector<float> places(list.size());
  std::transform(list.begin(), list.end(), places.begin(),
                 [&](std::int32_t code) { return static_cast<float>(code) * (levels.of_codes ? 1.0F : scale); });
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float value = levels.of_codes ? static_cast<float>(codes[i]) : weights[i];
    codes[i] = static_cast<std::int8_t>(list[nearest_level(places, value)]);
  }
}

[[nodiscard]] inline Tensor weight_codes(const Node& node, const Tensor& weight, const WeightUse& use) {
  Tensor codes(ElementType::int8, weight.shape());
  for_each_run(scale_layout(node, weight, use.scales.size()),
               [&](std::size_t channel, std::size_t first, std::size_t count) {
                 const auto from = weight.data<float>().subspan(first, count);
                 const auto to = codes.data<std::int8_t>().subspan(first, count);
                 const float scale = use.scales[channel];
                 if (use.levels.empty()) quantize<DivideAddRound>(from, to, {scale, 0}, CodeRange{use.bits});
                 else to_levels(from, scale, use.levels, channel, to);
               });
  return codes;
}

}  // namespace detail

/// Replaces the float weights of the record's layers by codes of their width in int8: round(w / scale_w), saturated.
/// The codes of a non-uniform layer are its levels (weight_levels.hpp). Layers that share a weight and its scales share
/// the codes; whoever reads the weight otherwise still sees floats, and the codes are a new initializer
/// `<weight>_quantized`. Layers without weights are left alone.
/// \pre the record fits the graph: each layer has 1 or Cout usable weight scales
/// \throws Error record_value for a width or levels that weights cannot have
inline void quantize_weights(Graph& graph, const Record& record) {
  const Uses uses(graph);
  UniqueNames names(graph);
  std::map<detail::WeightUse, std::vector<Node*>> layers;
  for (const auto& layer : record) {
    Node* node = graph.find_node(layer.name);
    const Tensor* weight = node == nullptr ? nullptr : layer_weight(*node, graph);
    if (weight == nullptr || layer.scale_w.empty()) continue;
    layers[detail::weight_use(*node, *weight, layer)].push_back(node);
  }
  for (const auto& [use, nodes] : layers) {
    Tensor codes = detail::weight_codes(*nodes.front(), *graph.value(use.id).initializer, use);
    if (uses.consumers(use.id).size() == nodes.size() && !uses.is_graph_output(use.id)) {
      replace_initializer(graph, use.id, std::move(codes));
      continue;
    }
    const ValueId own = add_initializer(graph, names.value(graph.value(use.id).name + "_quantized"), std::move(codes));
    for (Node* node : nodes) node->inputs[kWeightInput] = own;
  }
  remove_unused(graph);
}

}  // namespace amct::graph
