// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/layer_factors.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/balance_layers.hpp>
#include <amct/graph/uses.hpp>
#include <amct/quantize/concept.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// The network that is calibrated, AMCT's modified model, and the weight side of its record. As there, quantized layers
/// have the attribute op_data_type.
struct FakeQuantizedWeights {
  graph::Graph graph;
  Record record;  ///< one entry a quantized layer, in the order of the jobs, without activation factors
};

namespace detail {

/// Errors of quantizers name the option that was refused.
inline void check_quantizer(const Status& status, Where where) {
  if (status.code == StatusCode::bad_option) {
    where.field = status.name;
    throw Error(ErrorCode::config_range, std::move(where),
                "got " + decimal_text(status.value) + ", expected " + status.allowed);
  }
  check(status, std::move(where));
}

/// Channels whose weights are so small beside their scale that all become 0: they are zero, or too small for a scale
/// of their own.
[[nodiscard]] inline std::vector<std::size_t> degenerate_channels(std::span<const float> weight,
                                                                  const ChannelLayout& layout,
                                                                  const QuantParams& params) {
  std::vector<std::size_t> found;
  if (params.channels.size() != layout.channels()) return found;
  std::vector<float> largest(layout.channels(), 0.0F);
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    for (const float value : weight.subspan(first, count)) {
      largest[channel] = std::max(largest[channel], std::fabs(value));
    }
  });
  for (std::size_t c = 0; c < largest.size(); ++c) {
    if (largest[c] < 0.5F * params.channels[c].scale) found.push_back(c);
  }
  return found;
}

/// Quantizes one weight: fills in the entry and returns the fake-quantized weight.
[[nodiscard]] inline Tensor quantize_weight(LayerJob& job, const Tensor& weight, const std::string& tensor,
                                            RecordDialect dialect, LayerRecord& entry, const ProgressSink& sink) {
  WeightJob& how = *job.weights;
  const Where where{.layer = job.layer, .tensor = tensor};
  check_quantizer(how.quantizer.calibrate(weight.data<float>(), how.layout), where);
  Tensor fake(ElementType::float32, weight.shape());
  check_quantizer(how.quantizer.forward(weight.data<float>(), fake.data<float>()), where);

  const QuantParams params = how.quantizer.params();
  for (const auto channel : degenerate_channels(weight.data<float>(), how.layout, params)) {
    const std::string place = params.channels.size() > 1 ? " channel " + std::to_string(channel) : "";
    sink.message(LogLevel::warning, "layer \"" + job.layer + '"' + place +
                                        ": degenerate range, the weights are zero or too small; scale_w is " +
                                        decimal_text(params.channels[channel].scale));
  }
  set_weight_factors(entry, params, how.quantizer.extras(), how.bits, dialect);
  return fake;
}

}  // namespace detail

/// Quantizes the weight of every job, balanced before if the job says so. Weights are replaced by their fake-quantized
/// values, as AMCT does before it calibrates activations, except those that the job wants float, which are only
/// balanced. A weight that somebody else reads too stays as it is, and the layer gets its own.
/// \param jobs     keep their calibrated quantizers
/// \param dialect  of the record that is wanted
/// \throws Error naming layer and tensor for weights with NaN, Inf or a range beyond float32
[[nodiscard]] inline FakeQuantizedWeights fake_quantize_weights(const graph::Graph& network,
                                                                std::vector<LayerJob>& jobs, RecordDialect dialect,
                                                                const ProgressSink& sink = {}) {
  FakeQuantizedWeights result{network, {}};
  const graph::Uses uses(network);
  graph::UniqueNames names(network);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    LayerJob& job = jobs[j];
    auto& entry = result.record.emplace_back();
    entry.name = job.layer;
    entry.tensor_balance_factor = job.balance;
    graph::Node& node = *result.graph.find_node(job.layer);
    node.set_attribute("op_data_type", std::string("float"));
    sink.step("weights", j + 1, jobs.size());
    if (job.unit_weight) {
      entry.scale_w = {1.0F};
      entry.offset_w = {0};
    }
    if (!job.weights) continue;
    const graph::ValueId id = node.input(graph::kWeightInput);
    const auto& value = network.value(id);
    Tensor weight = *value.initializer;
    if (!job.balance.empty()) weight = graph::balanced_weight(node, weight, job.balance);
    Tensor fake = detail::quantize_weight(job, weight, value.name, dialect, entry, sink);
    if (job.weights->float_while_calibrating) fake = std::move(weight);
    if (uses.has_single_use(id)) {
      graph::replace_initializer(result.graph, id, std::move(fake));
    } else {
      node.inputs[graph::kWeightInput] =
          graph::add_initializer(result.graph, names.value(value.name + "_quantized"), std::move(fake));
    }
  }
  return result;
}

/// The same for a network that was prepared with a config of the classic family.
/// \param balanced  the factors of balance_factors(), if the config balances layers
[[nodiscard]] inline FakeQuantizedWeights fake_quantize_weights(const Prepared& prepared, const ProgressSink& sink = {},
                                                                const Record& balanced = {}) {
  auto jobs = jobs_of(prepared, balanced);
  return fake_quantize_weights(prepared.graph, jobs, rules_of(prepared.flavour).record_dialect, sink);
}

}  // namespace amct::flow
