// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/layers.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/kernel/row_source.hpp>

namespace amct::exec::integer {

/// How large the accumulators of a layer can become.
struct LayerRange {
  std::string layer;
  std::int64_t largest = 0;  ///< sum |w| * max |x - offset| + |bias|, of the worst output channel

  [[nodiscard]] bool fits_int32() const noexcept { return largest <= std::numeric_limits<std::int32_t>::max(); }
  /// Whether the fake-quant model, which sums in float32, is exact: no sum of some of the products is beyond 2^24.
  [[nodiscard]] bool fits_float32() const noexcept { return largest <= std::int64_t{1} << 24; }
};

namespace detail {

/// The sum of the absolute weights of each output channel.
[[nodiscard]] inline std::vector<std::int64_t> absolute_sums(const graph::Node& layer, const Tensor& weight) {
  graph::Node named = layer;  // as weight_layout() knows it
  if (layer.op_type == "IntegerConvTranspose") named.op_type = "ConvTranspose";
  if (layer.op_type == "IntegerConv") named.op_type = "Conv";
  if (layer.op_type == "IntegerMatMul") named.op_type = "Gemm";
  const ChannelLayout layout = graph::weight_layout(named, weight.shape());
  std::vector<std::int64_t> sums(layout.channels(), 0);
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    for (const std::int8_t code : weight.data<std::int8_t>().subspan(first, count)) sums[channel] += std::abs(code);
  });
  return sums;
}

[[nodiscard]] inline std::int64_t largest_sum(const graph::Graph& graph, const graph::Node& layer,
                                              const graph::QuantTarget& codes) {
  const std::int64_t code = CodeLimits{codes.lowest, codes.highest}.largest(codes.offset);
  if (layer.op_type == "IntegerAveragePool") {
    std::int64_t taps = 1;
    for (const auto size : layer.attribute_or<std::vector<std::int64_t>>("kernel_shape", {})) taps *= size;
    return taps * code;
  }
  const auto sums = absolute_sums(layer, *graph.value(layer.input(kWeightInput)).initializer);
  const graph::ValueId bias = layer.input(kBiasInput);
  std::int64_t largest = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    std::int64_t added = 0;
    if (bias != graph::kNoValue && graph.value(bias).initializer) {
      const auto values = graph.value(bias).initializer->data<std::int32_t>();
      added = std::abs(std::int64_t{values[values.size() == 1 ? 0 : c]});
    }
    largest = std::max(largest, sums[c] * code + added);
  }
  return largest;
}

}  // namespace detail

/// The ranges of the layers of a deployed network whose weights are constants, in execution order. O(weights)
[[nodiscard]] inline std::vector<LayerRange> accumulator_ranges(graph::Graph deployed) {
  const detail::CodeValues codes(deployed);
  join_layers(deployed);
  std::vector<LayerRange> ranges;
  for (const auto& node : deployed.nodes) {
    const auto* input = is_integer_layer(node) ? codes.find(node.input(kCodesInput)) : nullptr;
    const graph::ValueId weight = node.input(kWeightInput);
    if (input == nullptr || (weight != graph::kNoValue && !deployed.value(weight).initializer)) continue;
    ranges.push_back({node.name, detail::largest_sum(deployed, node, *input)});
  }
  return ranges;
}

}  // namespace amct::exec::integer
