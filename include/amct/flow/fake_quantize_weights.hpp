// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/with_bits.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// The network that is calibrated, AMCT's modified model, and the weight side of its record. As there, quantized layers
/// have the attribute op_data_type.
struct FakeQuantizedWeights {
  graph::Graph graph;
  Record record;  ///< one entry a quantized layer, in model order, without activation factors
};

namespace detail {

/// ARQ of `bits` on one weight: fills in the entry and returns the fake-quantized weight.
[[nodiscard]] inline Tensor arq_weight(const LayerPlan& plan, const graph::Node& node, const Tensor& weight,
                                       const std::string& tensor, LayerRecord& entry, const ProgressSink& sink) {
  const ChannelLayout layout =
      plan.weights.channel_wise ? graph::weight_layout(node, weight.shape()) : ChannelLayout::per_tensor(weight.size());
  Tensor fake(ElementType::float32, weight.shape());
  const Status status = with_bits<4, 6, 7, 8>(plan.weights.bits, "4, 6, 7 or 8", [&]<BitWidth B>(B) {
    Arq<B> arq;
    if (const Status calibrated = arq.calibrate(weight.data<float>(), layout); !calibrated) return calibrated;
    for (const auto channel : arq.degenerate_channels()) {
      sink.message(LogLevel::warning, "layer \"" + plan.name + "\" channel " + std::to_string(channel) +
                                          ": degenerate range, the weights are zero or too small; scale_w is 1");
    }
    for (const auto& channel : arq.channels()) {
      entry.scale_w.push_back(channel.scale);
      entry.offset_w.push_back(channel.offset);
    }
    arq.fake_quantize(weight.data<float>(), fake.data<float>());
    return Status{};
  });
  check(status, {.layer = plan.name, .tensor = tensor});
  entry.wts_type = "INT" + std::to_string(plan.weights.bits);
  return fake;
}

}  // namespace detail

/// ARQ on every weight of the plan. Weights are replaced by their fake-quantized values, as AMCT does before it
/// calibrates activations, except those of transposed convolutions, which AMCT calibrates in float.
/// \throws Error naming layer and tensor for weights with NaN, Inf or a range beyond float32
[[nodiscard]] inline FakeQuantizedWeights fake_quantize_weights(const Prepared& prepared,
                                                                const ProgressSink& sink = {}) {
  FakeQuantizedWeights result{prepared.graph, {}};
  for (const auto& layer : prepared.plan.layers) {
    if (!layer.enabled) continue;
    auto& entry = result.record.emplace_back();
    entry.name = layer.name;
    result.graph.find_node(layer.name)->set_attribute("op_data_type", std::string("float"));
    if (!has_weights(layer.kind)) {
      entry.scale_w = {1.0F};
      entry.offset_w = {0};
      continue;
    }
    const graph::Node& node = *prepared.graph.find_node(layer.name);
    const graph::ValueId id = node.input(graph::kWeightInput);
    const auto& value = prepared.graph.value(id);
    Tensor fake = detail::arq_weight(layer, node, *value.initializer, value.name, entry, sink);
    const bool stays_float = layer.kind == LayerKind::conv_transpose1d || layer.kind == LayerKind::conv_transpose2d;
    if (!stays_float) graph::replace_initializer(result.graph, id, std::move(fake));
  }
  return result;
}

}  // namespace amct::flow
