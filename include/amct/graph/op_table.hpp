// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/shape.hpp>
#include <amct/graph/ir.hpp>

/// \file
/// What quantization must know of an operator: which input is the weight, where its channels lie, how results are
/// scaled back. Everything that distinguishes Conv from Gemm here stands in this file.

namespace amct::graph {

inline constexpr std::size_t kWeightInput = 1;
inline constexpr std::size_t kBiasInput = 2;

/// The layer kind of an operator with a weight of this rank; empty if AMCT does not quantize such a layer.
[[nodiscard]] inline std::optional<LayerKind> layer_kind(const Node& node, std::size_t weight_rank) {
  if (node.op_type == "Conv") {
    if (weight_rank == 3) return LayerKind::conv1d;
    if (weight_rank == 4) return LayerKind::conv2d;
    if (weight_rank == 5) return LayerKind::conv3d;
  }
  if (node.op_type == "ConvTranspose") {
    if (weight_rank == 3) return LayerKind::conv_transpose1d;
    if (weight_rank == 4) return LayerKind::conv_transpose2d;
  }
  if ((node.op_type == "Gemm" || node.op_type == "MatMul") && weight_rank == 2) return LayerKind::linear;
  if (node.op_type == "MatMul" && weight_rank == 1) return LayerKind::linear;
  if (node.op_type == "LSTM" && weight_rank == 3) return LayerKind::lstm;
  if (node.op_type == "GRU" && weight_rank == 3) return LayerKind::gru;
  return std::nullopt;
}

/// Where the output channels of a weight lie.
/// Conv [Cout, Cin/g, ...]; ConvTranspose [Cin, Cout/g, ...]; MatMul and Gemm [K, N], or [N, K] with transB; LSTM and
/// GRU [1, gates * hidden, K]. A vector [K] of MatMul has one channel.
[[nodiscard]] inline ChannelLayout weight_layout(const Node& node, const Shape& weight) {
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(weight[axis]); };
  const auto inner = [&](std::size_t first) { return static_cast<std::size_t>(weight.count(first, weight.rank())); };
  if (node.op_type == "ConvTranspose") {
    const auto groups = static_cast<std::size_t>(node.attribute_or<std::int64_t>("group", 1));
    return {groups, extent(0) / groups, extent(1), inner(2)};
  }
  if (weight.rank() == 1) return ChannelLayout::per_tensor(extent(0));
  if (node.op_type == "LSTM" || node.op_type == "GRU") return {1, 1, extent(1), inner(2)};
  const bool channels_last =
      node.op_type == "MatMul" || (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) == 0);
  if (channels_last) return {1, extent(0), extent(1), 1};
  return {1, 1, extent(0), inner(1)};
}

/// Where the input channels of a weight lie, whatever its output channels are: Conv has them in each of its groups.
[[nodiscard]] inline ChannelLayout weight_input_layout(const Node& node, const Shape& weight) {
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(weight[axis]); };
  const auto inner = [&](std::size_t first) { return static_cast<std::size_t>(weight.count(first, weight.rank())); };
  if (node.op_type == "Conv") {
    const auto groups = static_cast<std::size_t>(node.attribute_or<std::int64_t>("group", 1));
    return {groups, extent(0) / groups, extent(1), inner(2)};
  }
  if (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) != 0) return {1, extent(0), extent(1), 1};
  return {1, 1, extent(0), inner(1)};
}

/// Where the input channels of a layer's data lie: axis 1 of a convolution's, the last one otherwise.
/// \pre data of a rank that the layer can read
[[nodiscard]] inline ChannelLayout data_input_layout(const Node& node, const Shape& data) {
  const auto count = [&](std::size_t first, std::size_t last) {
    return static_cast<std::size_t>(data.count(first, last));
  };
  const bool convolves = node.op_type == "Conv" || node.op_type == "ConvTranspose";
  const std::size_t axis = convolves ? 1 : data.rank() - 1;
  return {1, count(0, axis), count(axis, axis + 1), count(axis + 1, data.rank())};
}

/// The axis of a weight along which its output channels lie; those of one group for ConvTranspose.
[[nodiscard]] inline std::size_t channel_axis(const Node& node) {
  const bool first =
      node.op_type == "Conv" || (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) != 0);
  return first ? 0 : 1;
}

/// Shape in which `channels` scales multiply the output of a layer: [1, C, 1, 1] behind a 2-D convolution, [1, C]
/// behind Gemm, MatMul and AveragePool, [] behind a MatMul by a vector, whose output lacks the axis.
[[nodiscard]] inline Shape output_scale_shape(LayerKind kind, std::size_t channels, std::size_t weight_rank = 2) {
  if (kind == LayerKind::linear && weight_rank == 1) return {};
  std::vector<std::int64_t> dims{1, static_cast<std::int64_t>(channels)};
  switch (kind) {
    case LayerKind::conv1d:
    case LayerKind::conv_transpose1d: dims.resize(3, 1); break;
    case LayerKind::conv2d:
    case LayerKind::conv_transpose2d: dims.resize(4, 1); break;
    case LayerKind::conv3d: dims.resize(5, 1); break;
    case LayerKind::linear:
    case LayerKind::lstm:
    case LayerKind::gru:
    case LayerKind::avg_pool2d:
    case LayerKind::other: break;
  }
  return Shape(std::move(dims));
}

}  // namespace amct::graph
