// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/quantize/dmq.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

namespace detail {

[[nodiscard]] inline bool is_balanced(const LayerPlan& layer) noexcept {
  return layer.enabled && layer.dmq_strength.has_value();
}

/// Takes the largest magnitude of each input channel of the layers that are balanced, in one run.
class BalanceHook {
 public:
  explicit BalanceHook(const QuantPlan& plan) {
    for (const auto& layer : plan.layers) {
      if (is_balanced(layer)) maxima_[layer.name];
    }
  }

  void before(const graph::Node& node, std::span<const Tensor* const> inputs) {
    const auto found = maxima_.find(node.name);
    if (found == maxima_.end() || inputs[0]->size() == 0) return;
    if (!is_readable(*inputs[0], *inputs[graph::kWeightInput])) return;  // the operator refuses it
    const ChannelLayout layout = graph::data_input_layout(node, inputs[0]->shape());
    found->second.resize(layout.channels());
    check(add_channel_maxima(inputs[0]->data<float>(), layout, found->second), {.layer = node.name});
  }
  void after(const graph::Node&, std::span<const Tensor>) const noexcept {}

  [[nodiscard]] const std::vector<float>& maxima(const std::string& layer) const { return maxima_.at(layer); }

 private:
  /// Whether data have the axes that a convolution, or a product with a matrix or a vector, reads.
  [[nodiscard]] static bool is_readable(const Tensor& data, const Tensor& weight) noexcept {
    constexpr std::size_t kMatrixAxes = 2;
    if (data.type() != ElementType::float32) return false;
    const std::size_t axes = weight.shape().rank();
    return axes > kMatrixAxes ? data.shape().rank() == axes : data.shape().rank() >= 1;
  }

  std::map<std::string, std::vector<float>> maxima_;
};

/// The factors of one layer.
[[nodiscard]] inline std::vector<float> factors_of(const LayerPlan& layer, const graph::Graph& graph,
                                                   std::span<const float> data_maxima) {
  const graph::Node& node = *graph.find_node(layer.name);
  const auto& value = graph.value(node.input(graph::kWeightInput));
  const ChannelLayout layout = graph::weight_input_layout(node, value.initializer->shape());
  std::vector<float> weight_maxima(layout.channels());
  check(add_channel_maxima(value.initializer->data<float>(), layout, weight_maxima),
        {.layer = layer.name, .tensor = value.name});
  const std::vector<float> no_data(layout.channels());
  std::vector<float> factors(layout.channels());
  const Status status = dmq_factors(data_maxima.empty() ? std::span(no_data) : data_maxima, weight_maxima,
                                    {.migration_strength = *layer.dmq_strength}, factors);
  if (status.code == StatusCode::unusable_scale) {
    throw Error(ErrorCode::numeric, {.layer = layer.name, .field = "tensor_balance_factor"},
                "the factor of input channel " + std::to_string(status.index) + " is " + decimal_text(status.value) +
                    ", expected between 1.1920929e-07 and 8388608");
  }
  check(status, {.layer = layer.name, .field = "tensor_balance_factor"});
  return factors;
}

}  // namespace detail

/// Whether a config balances layers (dmq_balancer), so that balance_factors() has something to do.
[[nodiscard]] inline bool needs_balance(const QuantPlan& plan) noexcept {
  return std::any_of(plan.layers.begin(), plan.layers.end(), detail::is_balanced);
}

/// DMQ's factors of the layers that the config balances (dmq_balancer), from one batch: AMCT's quantize_preprocess.
/// They go to jobs_of(), and stand in the record as `tensor_balance_factor`. Without such a layer nothing is run, and
/// the record is empty. \param batch  one tensor a graph input, the first batch of the calibration data \throws Error
/// numeric for a factor outside (2^-23, 2^23), data_not_finite, model_shape
[[nodiscard]] inline Record balance_factors(const Prepared& prepared, const exec::OpSet& ops,
                                            const std::vector<Tensor>& batch) {
  Record record;
  if (!needs_balance(prepared.plan)) return record;
  detail::BalanceHook hook(prepared.plan);
  (void)exec::Interpreter(prepared.graph, ops).run(batch, hook);
  for (const auto& layer : prepared.plan.layers) {
    if (!detail::is_balanced(layer)) continue;
    auto& entry = record.emplace_back();
    entry.name = layer.name;
    entry.tensor_balance_factor = detail::factors_of(layer, prepared.graph, hook.maxima(layer.name));
  }
  return record;
}

}  // namespace amct::flow
