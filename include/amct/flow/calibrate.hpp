// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/concept.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/fake_quantize_weights.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/uses.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// Calibration data: `size()` batches, each loaded when it is needed as one tensor a graph input.
template <class S>
concept BatchSource = requires(S source, std::size_t index) {
  { source.size() } -> std::convertible_to<std::size_t>;
  { source.load(index) } -> std::same_as<std::vector<Tensor>>;
};

/// Batches that are all in memory.
class MemoryBatches {
 public:
  explicit MemoryBatches(std::vector<std::vector<Tensor>> batches) : batches_(std::move(batches)) {}

  [[nodiscard]] std::size_t size() const noexcept { return batches_.size(); }
  [[nodiscard]] std::vector<Tensor> load(std::size_t index) const { return batches_[index]; }

 private:
  std::vector<std::vector<Tensor>> batches_;
};

/// Refuses an empty calibration set, and one with fewer batches than the calibration needs: observers that did not see
/// all of them would give scales nobody asked for.
inline void require_batches(std::size_t available, std::size_t wanted, const std::string& place) {
  if (available == 0) throw Error(ErrorCode::data_empty, {.file = place}, "the calibration set is empty");
  if (available < wanted) {
    throw Error(ErrorCode::data_too_few, {.file = place, .field = "batch_num"},
                "found " + std::to_string(available) + " batches, expected at least " + std::to_string(wanted));
  }
}

namespace detail {

[[nodiscard]] inline IfmrOptions ifmr_options(const ActivationPlan& plan, std::size_t batch_num) {
  return {.symmetry = plan.asymmetric ? Symmetry::asymmetric : Symmetry::symmetric,
          .batch_num = batch_num,
          .max_percentile = plan.max_percentile,
          .min_percentile = plan.min_percentile,
          .search_start = plan.search_start,
          .search_end = plan.search_end,
          .search_step = plan.search_step};
}

/// Refuses what a config may ask for and this flow does not do yet.
inline void require_supported(const QuantPlan& plan, const std::string& file) {
  const auto refuse = [&](const std::string& layer, const char* field, const char* message) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .layer = layer, .field = field}, message);
  };
  if (plan.force_fp16) refuse("", "fakequant_precision_mode", "this version has no FORCE_FP16_QUANT");
  if (plan.batch_norm_update) refuse("", "update_bn", "this version does not update BatchNormalization");
  for (const auto& layer : plan.layers) {
    if (!layer.enabled) continue;
    if (layer.dmq_strength) refuse(layer.name, "dmq_balancer", "this version calibrates without balancing");
    for (const auto& activation : layer.activations) {
      if (activation.algorithm != ActivationAlgorithm::ifmr) {
        refuse(layer.name, "act_algo", "this version calibrates with ifmr_quantize only");
      }
      if (activation.bits != 8) refuse(layer.name, "num_bits", "this version quantizes activations to INT8 only");
    }
    if (!has_weights(layer.kind)) continue;
    if (layer.weights.algorithm != WeightAlgorithm::arq) {
      refuse(layer.name, "wts_algo", "this version calibrates with arq_quantize only");
    }
    if (layer.weights.bits != 8) refuse(layer.name, "num_bits", "this version quantizes weights to INT8 only");
  }
}

/// Feeds the tensors in front of quantized layers to their observers.
class CalibrationHook {
 public:
  CalibrationHook(const graph::Graph& graph, const QuantPlan& plan) : graph_(graph) {
    const graph::Uses uses(graph);
    for (const auto& layer : plan.layers) {
      if (!layer.enabled) continue;
      const auto& position = graph::detail::quant_position(*graph.find_node(layer.name), uses);
      layers_at_[position.name].push_back(layer.name);
      observers_.try_emplace(layer.name, ifmr_options(layer.activations.front(), plan.batch_num));
    }
  }

  void start_batch(std::size_t index, const std::vector<Tensor>& inputs) {
    batch_ = index;
    origin_.clear();
    not_finite_.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) note_not_finite(inputs[i], graph_.inputs[i]);
  }
  void before(const graph::Node& node, std::span<const Tensor* const> inputs) {
    const auto found = layers_at_.find(node.name);
    if (found == layers_at_.end()) return;
    if (inputs[0]->size() == 0) return;
    for (const auto& layer : found->second) {
      const Status status = observers_.at(layer).observe(inputs[0]->data<float>());
      if (!status.ok()) refuse(layer, node.inputs[0], status);
    }
  }
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    const bool passed_on = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](graph::ValueId id) { return not_finite_.contains(id); });
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool made = note_not_finite(outputs[i], node.outputs[i]) && !passed_on;
      if (made && origin_.empty()) origin_ = node.name;
    }
  }
  [[nodiscard]] const Ifmr& observer(const std::string& layer) const { return observers_.at(layer); }

 private:
  bool note_not_finite(const Tensor& tensor, graph::ValueId id) {
    if (tensor.type() != ElementType::float32 || check_finite(tensor.data<float>()).ok()) return false;
    not_finite_.insert(id);
    return true;
  }

  [[noreturn]] void refuse(const std::string& layer, graph::ValueId value, const Status& status) const {
    std::string text = "batch " + std::to_string(batch_) + ": " + describe(status.code);
    if (status.code == StatusCode::not_finite) {
      text += std::isnan(status.value) ? " (NaN" : " (Inf";
      text += " at index " + std::to_string(status.index) + ")";
      if (!origin_.empty()) text += ", first made by node \"" + origin_ + "\"";
    }
    const bool not_finite = status.code == StatusCode::not_finite;
    throw Error(not_finite ? ErrorCode::data_not_finite : ErrorCode::data_empty,
                {.layer = layer, .tensor = graph_.value(value).name}, text);
  }

  const graph::Graph& graph_;
  std::map<std::string, std::vector<std::string>> layers_at_;  // node name -> layers whose data it reads
  std::map<std::string, Ifmr> observers_;
  std::size_t batch_ = 0;
  std::string origin_;                   // first node of this batch that made NaN or Inf out of finite values
  std::set<graph::ValueId> not_finite_;  // values of this batch that contain NaN or Inf
};

/// Takes layers out of the record whose input was empty in every batch: nothing is known of them, so they stay float.
inline void drop_unobserved(Record& record, const CalibrationHook& hook, const ProgressSink& sink) {
  std::erase_if(record, [&](const LayerRecord& layer) {
    if (hook.observer(layer.name).state().batches > 0) return false;
    sink.message(LogLevel::warning, "layer \"" + layer.name + "\": its input was empty in every batch; it stays float");
    return true;
  });
  if (record.empty()) throw Error(ErrorCode::data_empty, {}, "no quantized layer got any data");
}

}  // namespace detail

/// Post-training calibration: ARQ on the weights, then IFMR on what flows into each quantized layer over
/// `plan.batch_num` batches, with the weights already fake-quantized and activations in float, as AMCT does.
///
/// \param ops  the operators to run the network with, usually exec::builtin_ops()
/// \return one entry a quantized layer, in model order
/// Empty tensors are no data. A layer that gets nothing else stays float, with a warning.
/// \throws Error config_unsupported for what this version does not calibrate, data_empty, data_too_few,
///         data_not_finite (naming layer, tensor, batch, index and the node that made the first NaN), numeric for
///         ranges that float32 cannot hold, model_shape
template <BatchSource S>
[[nodiscard]] Record calibrate(const Prepared& prepared, const exec::OpSet& ops, S& batches,
                               const ProgressSink& sink = {}) {
  detail::require_supported(prepared.plan, prepared.config_file);
  const std::size_t count = prepared.plan.batch_num;
  require_batches(batches.size(), count, "");

  auto [calibration, record] = fake_quantize_weights(prepared, sink);
  detail::CalibrationHook hook(calibration, prepared.plan);
  const exec::Interpreter interpreter(calibration, ops);
  for (std::size_t b = 0; b < count; ++b) {
    const std::vector<Tensor> inputs = batches.load(b);
    if (inputs.size() == calibration.inputs.size()) hook.start_batch(b, inputs);
    (void)interpreter.run(inputs, hook);
    sink.step("calibrate", b + 1, count);
  }
  detail::drop_unobserved(record, hook, sink);
  for (std::size_t l = 0; l < record.size(); ++l) {
    auto& layer = record[l];
    const IfmrResult found = hook.observer(layer.name).search(Int8::range);
    if (!is_usable(found.affine)) check(Status{StatusCode::unusable_scale}, {.layer = layer.name, .field = "scale_d"});
    if (found.affine.scale == 1.0F && found.percentile_max < 1.0F && found.percentile_min > -1.0F) {
      sink.message(LogLevel::warning,
                   "layer \"" + layer.name + "\": degenerate range, its input is zero or too small; scale_d is 1");
    }
    layer.scale_d = found.affine.scale;
    layer.offset_d = found.affine.offset;
    layer.act_type = "INT8";
    sink.step("search", l + 1, record.size());
  }
  return record;
}

}  // namespace amct::flow
