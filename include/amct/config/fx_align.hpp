// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <amct/config/fx_plan.hpp>
#include <amct/config/network.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// Gives layers that only move data (kNoCommandOperators) the quantizer of the layer behind them, as check_network asks
/// of a config; so a Transpose before a product of two tensors has offset 0 as well. Layers that the config names, or
/// whose types it names, stay as they are, and so do those before a float layer. O(nodes + tensors).
inline void align_no_command_layers(FxPlan& plan, const Network& network) {
  std::unordered_map<std::string_view, FxLayerPlan*> layers;
  for (FxLayerPlan& layer : plan.layers) layers.emplace(layer.name, &layer);
  const auto find = [&](const NetworkNode& node) {
    const auto found = layers.find(node.name);
    return found == layers.end() ? nullptr : found->second;
  };
  // The first layer behind each tensor, and which of its inputs reads it.
  std::unordered_map<std::string_view, std::pair<const FxLayerPlan*, std::size_t>> next;
  for (const NetworkNode& node : network) {
    const FxLayerPlan* const layer = find(node);
    if (layer == nullptr) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) next.try_emplace(node.inputs[i], layer, i);
  }
  const auto align = [&](FxLayerPlan& layer, const QuantizerSpec& wanted) {
    for (QuantizerSpec& spec : layer.activations) {
      spec = wanted;
      if (spec.arg("object_layer") != nullptr) spec.set("object_layer", layer.name);
    }
  };
  // From the end, so that a chain of such layers gets what stands behind it.
  for (auto node = network.rbegin(); node != network.rend(); ++node) {
    FxLayerPlan* const layer = find(*node);
    if (layer == nullptr || layer->named || !layer->quant_enable || !is_no_command(node->op_type)) continue;
    for (const std::string& tensor : node->outputs) {
      const auto found = next.find(tensor);
      if (found == next.end()) continue;
      const auto& [behind, input] = found->second;
      if (behind->quant_enable && input < behind->activations.size()) align(*layer, behind->activations[input]);
      break;
    }
  }
}

}  // namespace amct
