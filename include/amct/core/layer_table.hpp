// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amct {

/// Kinds of layers that AMCT quantizes, named in configs by `type_name`.
enum class LayerKind : std::uint8_t {
  conv1d,
  conv2d,
  conv3d,
  conv_transpose1d,
  conv_transpose2d,
  linear,
  avg_pool2d,
};

inline constexpr LayerKind kAllLayerKinds[] = {
    LayerKind::conv1d,           LayerKind::conv2d, LayerKind::conv3d,    LayerKind::conv_transpose1d,
    LayerKind::conv_transpose2d, LayerKind::linear, LayerKind::avg_pool2d};

/// The layer type as AMCT's PyTorch configs spell it.
[[nodiscard]] constexpr const char* type_name(LayerKind kind) noexcept {
  switch (kind) {
    case LayerKind::conv1d: return "Conv1d";
    case LayerKind::conv2d: return "Conv2d";
    case LayerKind::conv3d: return "Conv3d";
    case LayerKind::conv_transpose1d: return "ConvTranspose1d";
    case LayerKind::conv_transpose2d: return "ConvTranspose2d";
    case LayerKind::linear: return "Linear";
    case LayerKind::avg_pool2d: return "AvgPool2d";
  }
  return "unknown";
}

/// One scale per output channel is offered for (transposed) convolutions only.
[[nodiscard]] constexpr bool can_be_channel_wise(LayerKind kind) noexcept {
  return kind != LayerKind::linear && kind != LayerKind::avg_pool2d;
}

/// All that a configuration needs to know of a layer.
struct LayerInfo {
  std::string name{};
  LayerKind kind = LayerKind::conv2d;
};

/// The quantizable layers of a network, in the order of the model.
using LayerTable = std::vector<LayerInfo>;

[[nodiscard]] inline const LayerInfo* find_layer(const LayerTable& table, std::string_view name) noexcept {
  for (const auto& layer : table) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

}  // namespace amct
