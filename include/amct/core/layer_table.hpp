// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amct {

/// Kinds of layers that AMCT quantizes. Layers that only have data to quantize (Add, MaxPool, Softmax ...) are `other`
/// and told apart by their operator.
enum class LayerKind : std::uint8_t {
  conv1d,
  conv2d,
  conv3d,
  conv_transpose1d,
  conv_transpose2d,
  linear,
  lstm,
  gru,
  avg_pool2d,
  other,
};

inline constexpr LayerKind kAllLayerKinds[] = {
    LayerKind::conv1d, LayerKind::conv2d, LayerKind::conv3d, LayerKind::conv_transpose1d, LayerKind::conv_transpose2d,
    LayerKind::linear, LayerKind::lstm,   LayerKind::gru,    LayerKind::avg_pool2d,       LayerKind::other};

/// The layer type as AMCT's PyTorch configs spell it.
[[nodiscard]] constexpr const char* type_name(LayerKind kind) noexcept {
  switch (kind) {
    case LayerKind::conv1d: return "Conv1d";
    case LayerKind::conv2d: return "Conv2d";
    case LayerKind::conv3d: return "Conv3d";
    case LayerKind::conv_transpose1d: return "ConvTranspose1d";
    case LayerKind::conv_transpose2d: return "ConvTranspose2d";
    case LayerKind::linear: return "Linear";
    case LayerKind::lstm: return "LSTM";
    case LayerKind::gru: return "GRU";
    case LayerKind::avg_pool2d: return "AvgPool2d";
    case LayerKind::other: return "other";
  }
  return "unknown";
}

[[nodiscard]] constexpr bool has_weights(LayerKind kind) noexcept {
  return kind != LayerKind::avg_pool2d && kind != LayerKind::other;
}

/// All that a configuration needs to know of a layer.
struct LayerInfo {
  std::string name{};
  LayerKind kind = LayerKind::conv2d;
  std::string op_type{};      ///< ONNX operator, or the name of a composite such as "LayerNorm"
  int activation_inputs = 1;  ///< inputs that carry data, constants not counted
  bool packs_int4 = true;     ///< weights of 4 bits can be packed: no groups, and an even number of input channels
  bool depthwise = false;     ///< a convolution with one input channel a group
};

/// What a message or table calls the layer's type: "Conv2d", or the operator of a layer without weights.
[[nodiscard]] inline std::string type_name(const LayerInfo& layer) {
  return layer.kind == LayerKind::other ? layer.op_type : type_name(layer.kind);
}

/// The quantizable layers of a network, in the order of the model.
using LayerTable = std::vector<LayerInfo>;

[[nodiscard]] inline const LayerInfo* find_layer(const LayerTable& table, std::string_view name) noexcept {
  for (const auto& layer : table) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

}  // namespace amct
