// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>

namespace amct::flow {

/// What INT8 weights, symmetric from the largest magnitude on, cost a layer; found without data.
struct WeightCost {
  std::size_t channels = 0;
  std::size_t zero_channels = 0;  ///< output channels with zeros only
  std::size_t float_bytes = 0;    ///< as float32
  double lowest = 0.0;            ///< the range of all weights
  double highest = 0.0;
  double spread = 1.0;            ///< the widest channel by the median one
  double db_per_tensor = 0.0;     ///< signal to noise of the weights with one scale, in dB
  double db_per_channel = 0.0;    ///< with a scale a channel
  std::uint64_t largest_sum = 0;  ///< of |code of data - offset| * |code of weight| that any 8-bit data can make
};

namespace detail {

/// Signal to noise in dB; 0 noise is 200 dB.
[[nodiscard]] inline double decibels(double signal, double noise) {
  constexpr double kExact = 200.0;
  if (noise <= 0.0 || signal <= 0.0) return kExact;
  return std::min(kExact, 10.0 * std::log10(signal / noise));
}

/// The weight next to w whose code has the scale.
[[nodiscard]] inline double code_of(double w, double largest) {
  constexpr double kCodes = 127.0;
  return largest > 0.0 ? std::nearbyint(w / largest * kCodes) : 0.0;
}

}  // namespace detail

/// \param layer  of the prepared network, see flow::prepare; empty if it has no constant float32 weight, or one with
/// NaN
///               or Inf
[[nodiscard]] inline std::optional<WeightCost> weight_cost(const graph::Node& layer, const graph::Graph& graph) {
  constexpr double kCodes = 127.0;
  constexpr double kDataCodes = 255.0;
  const Tensor* weight = graph::layer_weight(layer, graph);
  if (weight == nullptr || weight->type() != ElementType::float32 || weight->size() == 0) return {};
  const auto data = weight->data<float>();
  if (!std::all_of(data.begin(), data.end(), [](float w) { return std::isfinite(w); })) return {};
  const ChannelLayout layout = graph::weight_layout(layer, weight->shape());
  WeightCost cost{.channels = layout.channels(), .float_bytes = weight->bytes()};
  std::vector<double> largest(cost.channels, 0.0);
  const auto each = [&](const auto& visit) {
    for_each_run(layout, 0, data.size(), [&](std::size_t channel, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) visit(channel, static_cast<double>(data[i]));
    });
  };
  each([&](std::size_t channel, double w) {
    largest[channel] = std::max(largest[channel], std::fabs(w));
    cost.lowest = std::min(cost.lowest, w);
    cost.highest = std::max(cost.highest, w);
  });
  const double most = std::max(-cost.lowest, cost.highest);
  double signal = 0.0;
  double tensor_noise = 0.0;
  double channel_noise = 0.0;
  std::vector<double> sums(cost.channels, 0.0);
  each([&](std::size_t channel, double w) {
    const double own = detail::code_of(w, largest[channel]);
    const double tensor_error = w - detail::code_of(w, most) * most / kCodes;
    const double channel_error = w - own * largest[channel] / kCodes;
    signal += w * w;
    tensor_noise += tensor_error * tensor_error;
    channel_noise += channel_error * channel_error;
    sums[channel] += std::fabs(own) * kDataCodes;
  });
  cost.db_per_tensor = detail::decibels(signal, tensor_noise);
  cost.db_per_channel = detail::decibels(signal, channel_noise);
  cost.largest_sum = static_cast<std::uint64_t>(*std::max_element(sums.begin(), sums.end()));
  cost.zero_channels = static_cast<std::size_t>(std::count(largest.begin(), largest.end(), 0.0));
  std::sort(largest.begin(), largest.end());
  const double median = largest[largest.size() / 2];
  cost.spread = median > 0.0 ? largest.back() / median : 1.0;
  return cost;
}

}  // namespace amct::flow
