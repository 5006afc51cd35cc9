// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/packed4.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/graph/weight_levels.hpp>
#include <amct/kernel/packed4.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

namespace detail {

/// Where the input channels of a layer are: an axis of its weight, and one of its data.
struct InputChannels {
  std::size_t weight_axis = 0;
  std::int64_t data_axis = 1;
};

/// Empty for layers whose weights are never packed: those with groups, recurrent ones.
[[nodiscard]] inline std::optional<InputChannels> packed_channels(const Node& node) {
  if (node.op_type == "Conv" || node.op_type == "ConvTranspose") {
    if (node.attribute_or<std::int64_t>("group", 1) != 1) return std::nullopt;
    return InputChannels{node.op_type == "Conv" ? 1U : 0U, 1};
  }
  if (node.op_type == "MatMul") return InputChannels{0, -1};
  if (node.op_type != "Gemm" || node.attribute_or<std::int64_t>("transA", 0) != 0) return std::nullopt;
  return InputChannels{node.attribute_or<std::int64_t>("transB", 0) == 0 ? 0U : 1U, 1};
}

/// The codes of a tensor, seen as two of them side by side along an axis of `length` codes.
[[nodiscard]] inline Packed4Layout packed_layout(const Shape& shape, std::size_t axis, std::int64_t length) {
  return {static_cast<std::size_t>(shape.count(0, axis)), static_cast<std::size_t>(length),
          static_cast<std::size_t>(shape.count(axis + 1, shape.rank()))};
}

[[nodiscard]] inline Tensor with_length(const Shape& shape, std::size_t axis, std::int64_t length) {
  Shape sizes = shape;
  sizes[axis] = length;
  return {ElementType::int8, std::move(sizes)};
}

[[nodiscard]] inline Tensor packed_along(const Tensor& codes, std::size_t axis) {
  const std::int64_t length = codes.shape()[axis];
  Tensor bytes = with_length(codes.shape(), axis, length / 2);
  pack4(codes.data<std::int8_t>(), bytes.data<std::int8_t>(), packed_layout(codes.shape(), axis, length));
  return bytes;
}

[[nodiscard]] inline Tensor unpacked_along(const Tensor& bytes, std::size_t axis) {
  const std::int64_t length = 2 * bytes.shape()[axis];
  Tensor codes = with_length(bytes.shape(), axis, length);
  unpack4(bytes.data<std::int8_t>(), codes.data<std::int8_t>(), packed_layout(bytes.shape(), axis, length));
  return codes;
}

/// An INT8 weight with input channels.
[[nodiscard]] inline bool has_channels(const Tensor* weight, const std::optional<InputChannels>& channels) {
  return weight != nullptr && weight->type() == ElementType::int8 && channels &&
         channels->weight_axis < weight->shape().rank();
}

}  // namespace detail

/// The deployed network with the codes of 4-bit weights packed as files have them: two a byte along the input channels,
/// the first in the low nibble. That axis is half as long then, the type stays INT8. Weights of layers with groups or
/// an odd number of input channels, those with levels of INT8, and those that another node reads in another form stay
/// as they are. \param record  the one that the network was deployed with
[[nodiscard]] inline Graph pack_int4_weights(Graph graph, const Record& record) {
  const Uses uses(graph);
  std::map<ValueId, std::vector<std::size_t>> axes;  // one a layer that reads the weight
  for (const auto& layer : record) {
    const Node* node = graph.find_node(layer.name);
    if (node == nullptr || layer.scale_w.empty() || code_bits_of_weights(layer) != Int4::width) continue;
    const auto channels = detail::packed_channels(*node);
    const Tensor* weight = layer_weight(*node, graph);
    if (!detail::has_channels(weight, channels) || weight->shape()[channels->weight_axis] % 2 != 0) continue;
    axes[node->inputs[kWeightInput]].push_back(channels->weight_axis);
  }
  for (const auto& [id, all] : axes) {
    const bool alike = std::count(all.begin(), all.end(), all[0]) == static_cast<std::ptrdiff_t>(all.size());
    if (!alike || all.size() != uses.consumers(id).size() || uses.is_graph_output(id)) continue;
    replace_initializer(graph, id, detail::packed_along(*graph.value(id).initializer, all[0]));
  }
  return graph;
}

/// Unpacks what pack_int4_weights() or AMCT packed: the weights of layers whose data have twice as many channels as the
/// weight. Data whose number of channels is not known (Value::shape) are taken to fit their weight.
inline void unpack_int4_weights(Graph& graph) {
  for (const auto& node : graph.nodes) {
    const auto channels = detail::packed_channels(node);
    const Tensor* weight = channels ? layer_weight(node, graph) : nullptr;
    if (!detail::has_channels(weight, channels)) continue;
    const std::int64_t size = known_size(graph.value(node.inputs[0]), channels->data_axis);
    if (size <= 0 || size != 2 * weight->shape()[channels->weight_axis]) continue;
    replace_initializer(graph, node.inputs[kWeightInput], detail::unpacked_along(*weight, channels->weight_axis));
  }
}

}  // namespace amct::graph
