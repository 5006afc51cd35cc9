// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/half.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/calibration_state.hpp>
#include <amct/flow/fake_quantize_weights.hpp>
#include <amct/flow/layer_factors.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/flow/observed_values.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/balance_layers.hpp>
#include <amct/kernel/range.hpp>
#include <amct/record/dialect.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// What a calibration must know beside the jobs.
struct CalibrationOptions {
  std::uint32_t batch_num = 1;  ///< batches that finish() wants to have seen
  bool force_fp16 = false;      ///< FORCE_FP16_QUANT: scale_d has the precision of a half
  RecordDialect dialect = RecordDialect::pytorch;
  std::size_t first_batch = 0;  ///< number of the first batch in messages; of a process that has a part of them
};

/// The options that a prepared network's config states.
[[nodiscard]] inline CalibrationOptions calibration_options(const Prepared& prepared) {
  return {.batch_num = prepared.plan.batch_num,
          .force_fp16 = prepared.plan.force_fp16,
          .dialect = rules_of(prepared.flavour).record_dialect};
}

namespace detail {

/// Caffe's records tell the shape of a layer's input, as far as it is known.
inline void add_geometry(LayerRecord& entry, const graph::Value& input, RecordDialect dialect) {
  if (graph::known_rank(input) != 4) return;
  const auto size = [&](std::int64_t axis) {
    const std::int64_t found = graph::known_size(input, axis);
    return found > 0 && found <= std::numeric_limits<std::int32_t>::max()
               ? std::optional(static_cast<std::uint32_t>(found))
               : std::nullopt;
  };
  const auto set = [&](auto& place) {
    place.channels = size(1);
    place.height = size(2);
    place.width = size(3);
  };
  if (holds(dialect, "channels")) set(entry);
  if (holds(dialect, "record_d.channels")) set(entry.record_d.back());
}

}  // namespace detail

/// A calibration that goes on: quantizes the weights, then watches what flows into each quantized layer, batch by
/// batch, with the weights fake-quantized and activations in float, as AMCT does. docs/calibration.md tells the order
/// of all steps.
///
/// The record depends on the network, the jobs and the values of the batches only: not on threads, instruction sets, or
/// on how consecutive batches were split between calibrations that were saved, restored or merged in their order
/// (ObserverChoice::distributed where HFMG is used). Memory: the network, one run of it, and the observers
/// (observe/ifmr_auto.hpp: at most 8 MiB each by default), whatever the number of batches.
class Calibration {
 public:
  /// Quantizes the weights.
  /// \param network  the float network as it is calibrated: prepare() with its BatchNormalization folded
  /// \param jobs     of its layers: jobs_of(), or those of another family
  /// \param ops      the operators to run it with, usually exec::builtin_ops(); must outlive this object
  /// \throws Error data_not_finite, numeric naming layer and tensor for weights that cannot be quantized; model_shape
  Calibration(const graph::Graph& network, std::vector<LayerJob> jobs, const CalibrationOptions& options,
              const exec::OpSet& ops, ProgressSink sink = {})
      : options_(options), jobs_(std::move(jobs)), ops_(ops), sink_(std::move(sink)) {
    FakeQuantizedWeights quantized = fake_quantize_weights(network, jobs_, options_.dialect, sink_);
    record_ = std::move(quantized.record);
    network_ = std::make_unique<graph::Graph>(std::move(quantized.graph));
    graph::divide_by_balance(*network_, record_);
    const ObservedValues values(*network_);
    for (auto& job : jobs_) {
      for (auto& activation : job.activations) {
        const auto value = values.find(job.layer, job.op_type, activation.input);
        watches_at_[value].push_back(watches_.size());
        watches_.push_back({.job = &job, .activation = &activation, .value = value});
      }
    }
    interpreter_ = std::make_unique<exec::Interpreter>(*network_, ops);
  }

  /// Runs one batch, one tensor a graph input, and shows it to the observers. Once complete() they see nothing more, as
  /// in AMCT. Empty tensors are no data.
  /// \return what the network has made of it
  /// \throws Error data_not_finite (naming layer, tensor, batch, index and the node that made the first NaN),
  ///         model_shape; the calibration cannot go on then, but from a state saved before
  std::vector<Tensor> observe(const std::vector<Tensor>& inputs);

  /// Changes constants of the network() before the first batch is observed, as the update of BatchNormalization does.
  /// That is no part of the state(): who restores one makes the same change again, before.
  void adjust_network(const std::function<void(graph::Graph&)>& change) {
    assert(batches_ == 0);
    change(*network_);
    interpreter_ = std::make_unique<exec::Interpreter>(*network_, ops_);
  }

  [[nodiscard]] std::uint32_t batches() const noexcept { return batches_; }
  /// True when batch_num batches were seen.
  [[nodiscard]] bool complete() const noexcept { return batches_ >= options_.batch_num; }
  /// The network that is run: weights fake-quantized (but those of transposed convolutions), a Div in front of balanced
  /// layers.
  [[nodiscard]] const graph::Graph& network() const noexcept { return *network_; }
  [[nodiscard]] const std::vector<LayerJob>& jobs() const noexcept { return jobs_; }
  [[nodiscard]] const CalibrationOptions& options() const noexcept { return options_; }

  /// \throws Error config_unsupported naming a layer whose algorithm keeps a state of its own that cannot be saved
  [[nodiscard]] CalibrationState state() const;
  /// Forgets all and goes on from a state. \throws Error data_format if it is not one of this network and these jobs,
  /// or
  ///         what an observer saw contradicts itself; the calibration must be restored from a good one then
  void restore(const CalibrationState& state);
  /// Takes in what another process has seen, as if behind the own batches. \throws Error as restore() does
  void merge(const CalibrationState& state);

  /// The record: one entry a layer, in the order of the jobs. A layer that got only empty tensors is left out, with a
  /// warning; so are warned of inputs and weights with a range of zero. O(what the observers' compute() takes).
  /// \throws Error data_too_few before batch_num batches were seen; data_empty if no layer got any data; numeric for a
  ///         range that float32 cannot hold
  [[nodiscard]] Record finish() const;

 private:
  /// One observer and what it has seen, beside its own state.
  struct Watch {
    const LayerJob* job = nullptr;
    ActivationJob* activation = nullptr;
    graph::ValueId value = graph::kNoValue;
    std::uint64_t batches = 0;  ///< those with data
    ValueRange range{};
  };
  class Hook;

  [[nodiscard]] Affine compute(const Watch& watch) const;
  void require_fitting(const CalibrationState& state) const;

  CalibrationOptions options_;
  std::vector<LayerJob> jobs_;  ///< not changed once watches_ points into it
  const exec::OpSet& ops_;
  ProgressSink sink_;
  Record record_;  ///< the weight side
  std::unique_ptr<graph::Graph> network_;
  std::unique_ptr<exec::Interpreter> interpreter_;
  std::vector<Watch> watches_;  ///< in the order of the jobs
  std::map<graph::ValueId, std::vector<std::size_t>> watches_at_;
  std::uint32_t batches_ = 0;
};

/// Shows what flows through the network to the observers, and remembers which node made the first NaN.
class Calibration::Hook {
 public:
  Hook(Calibration& owner, std::size_t batch) : owner_(owner), batch_(batch) {}

  void start(const std::vector<Tensor>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const graph::ValueId id = owner_.network_->inputs[i];
      (void)note_not_finite(id, inputs[i]);
      show(id, inputs[i]);
    }
  }
  void before(const graph::Node&, std::span<const Tensor* const>) const noexcept {}
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    const bool passed_on = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](graph::ValueId id) { return not_finite_.contains(id); });
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == graph::kNoValue) continue;
      const bool made = note_not_finite(node.outputs[i], outputs[i]) && !passed_on;
      if (made && origin_.empty()) origin_ = node.name;
      show(node.outputs[i], outputs[i]);
    }
  }

 private:
  bool note_not_finite(graph::ValueId id, const Tensor& tensor) {
    if (tensor.type() != ElementType::float32 || check_finite(tensor.data<float>()).ok()) return false;
    not_finite_.insert(id);
    return true;
  }

  void show(graph::ValueId id, const Tensor& tensor) {
    const auto found = owner_.watches_at_.find(id);
    if (found == owner_.watches_at_.end() || tensor.size() == 0) return;
    for (const std::size_t w : found->second) {
      Watch& watch = owner_.watches_[w];
      if (tensor.type() == ElementType::float32) show(watch, id, tensor.data<float>());
      else show(watch, id, in_float32(watch, tensor).data<float>());
    }
  }
  void show(Watch& watch, graph::ValueId id, std::span<const float> values) {
    ValueRange range = watch.range;
    Status status = range.extend(values);
    if (status.ok()) status = watch.activation->observer.observe(values);
    if (status.code == StatusCode::already_ready) return;  // it wanted fewer batches than others
    if (!status.ok()) refuse(watch, id, status);
    watch.range = range;
    ++watch.batches;
  }
  [[nodiscard]] static Tensor in_float32(const Watch& watch, const Tensor& tensor) {
    const bool floating = tensor.type() == ElementType::float16 || tensor.type() == ElementType::float64;
    if (floating) return cast(tensor, ElementType::float32);
    throw Error(ErrorCode::model_unsupported, {.layer = watch.job->layer},
                std::string("its data are ") + name_of(tensor.type()) + ", expected floating point");
  }

  [[noreturn]] void refuse(const Watch& watch, graph::ValueId value, const Status& status) const {
    const Where where{.layer = watch.job->layer, .tensor = owner_.network_->value(value).name};
    if (status.code != StatusCode::not_finite) detail::check_quantizer(status, where);
    std::string text = "batch " + std::to_string(batch_) + ": " + describe(status.code);
    text += std::isnan(status.value) ? " (NaN" : " (Inf";
    text += " at index " + std::to_string(status.index) + ")";
    if (!origin_.empty()) text += ", first made by node \"" + origin_ + "\"";
    throw Error(ErrorCode::data_not_finite, where, text);
  }

  Calibration& owner_;
  std::size_t batch_;
  std::string origin_;                   // first node of this batch that made NaN or Inf out of finite values
  std::set<graph::ValueId> not_finite_;  // values of this batch that contain NaN or Inf
};

inline std::vector<Tensor> Calibration::observe(const std::vector<Tensor>& inputs) {
  if (complete()) return interpreter_->run(inputs);
  Hook hook(*this, options_.first_batch + batches_);
  if (inputs.size() == network_->inputs.size()) hook.start(inputs);
  std::vector<Tensor> outputs = interpreter_->run(inputs, hook);
  ++batches_;
  sink_.step("calibrate", batches_, options_.batch_num);
  return outputs;
}

inline CalibrationState Calibration::state() const {
  CalibrationState state{.batches = batches_, .weights = record_};
  for (const Watch& watch : watches_) {
    const AnyObserver& observer = watch.activation->observer;
    auto& saved = state.observers.emplace_back(
        ObserverState{watch.job->layer, watch.activation->input, observer.name(), watch.batches, watch.range});
    if (watch.batches == 0 || observer.save(saved.bytes).ok()) continue;
    throw Error(ErrorCode::config_unsupported, {.layer = watch.job->layer, .field = observer.name()},
                "what this algorithm has seen cannot be saved");
  }
  return state;
}

inline void Calibration::require_fitting(const CalibrationState& state) const {
  const auto refuse = [](const std::string& layer, const std::string& message) {
    throw Error(ErrorCode::data_format, {.layer = layer, .field = "calibration state"}, message);
  };
  if (state.weights != record_) refuse("", "its weights are not those of this network and config");
  if (state.observers.size() != watches_.size()) {
    refuse("",
           "has " + std::to_string(state.observers.size()) + " observers, expected " + std::to_string(watches_.size()));
  }
  for (std::size_t w = 0; w < watches_.size(); ++w) {
    const ObserverState& saved = state.observers[w];
    const Watch& watch = watches_[w];
    const bool same = saved.layer == watch.job->layer && saved.input == watch.activation->input &&
                      saved.observer == watch.activation->observer.name();
    if (!same) {
      refuse(watch.job->layer, "has " + saved.observer + " of layer \"" + saved.layer + "\" instead of " +
                                   watch.activation->observer.name());
    }
    if (saved.batches > state.batches) refuse(watch.job->layer, "has more batches than were seen");
    const float width = saved.range.max - saved.range.min;
    if (saved.batches > 0 && !(width >= 0.0F)) refuse(watch.job->layer, "has a range that is none");
  }
}

inline void Calibration::restore(const CalibrationState& state) {
  require_fitting(state);
  for (Watch& watch : watches_) {
    if (watch.batches > 0) check(watch.activation->observer.reset(), {.layer = watch.job->layer});
    watch.batches = 0;
    watch.range = {};
  }
  batches_ = 0;
  merge(state);
}

inline void Calibration::merge(const CalibrationState& state) {
  require_fitting(state);
  if (state.batches > std::numeric_limits<std::uint32_t>::max() - batches_) {
    throw Error(ErrorCode::data_format, {.field = "calibration state"}, "has too many batches");
  }
  for (std::size_t w = 0; w < watches_.size(); ++w) {
    Watch& watch = watches_[w];
    const ObserverState& saved = state.observers[w];
    if (saved.batches == 0) continue;
    const Status status = watch.activation->observer.merge(std::span<const std::byte>(saved.bytes));
    if (!status.ok()) {
      const bool is_option = status.code == StatusCode::bad_option;
      throw Error(ErrorCode::data_format, {.layer = watch.job->layer, .field = "calibration state"},
                  is_option ? std::string(status.name) + ": expected " + status.allowed : describe(status.code));
    }
    watch.batches += saved.batches;
    watch.range.min = std::min(watch.range.min, saved.range.min);
    watch.range.max = std::max(watch.range.max, saved.range.max);
  }
  batches_ += state.batches;
}

inline Affine Calibration::compute(const Watch& watch) const {
  Affine found = watch.activation->observer.compute(watch.activation->range);
  if (found.scale == 1.0F && watch.range.abs_max() < 1.0F) {
    sink_.message(LogLevel::warning,
                  "layer \"" + watch.job->layer + "\": degenerate range, its input is zero or too small; scale_d is 1");
  }
  if (options_.force_fp16) found.scale = to_fp16_precision(found.scale);
  if (!is_usable(found)) {
    amct::check(Status{StatusCode::unusable_scale}, {.layer = watch.job->layer, .field = "scale_d"});
  }
  return found;
}

inline Record Calibration::finish() const {
  if (!complete()) {
    throw Error(ErrorCode::data_too_few, {.field = "batch_num"},
                "found " + std::to_string(batches_) + " batches, expected " + std::to_string(options_.batch_num));
  }
  Record record;
  std::size_t w = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const LayerJob& job = jobs_[j];
    const std::span<const Watch> inputs = std::span(watches_).subspan(w, job.activations.size());
    w += inputs.size();
    if (std::any_of(inputs.begin(), inputs.end(), [](const Watch& watch) { return watch.batches == 0; })) {
      sink_.message(LogLevel::warning,
                    "layer \"" + job.layer + "\": its input was empty in every batch; it stays float");
      continue;
    }
    LayerRecord& entry = record.emplace_back(record_[j]);
    for (const Watch& watch : inputs) {
      const ActivationJob& activation = *watch.activation;
      add_input_factors(entry, activation.input, compute(watch), activation.range.bits, options_.dialect);
      detail::add_geometry(entry, network_->value(watch.value), options_.dialect);
    }
    sink_.step("search", j + 1, jobs_.size());
  }
  if (record.empty()) throw Error(ErrorCode::data_empty, {}, "no quantized layer got any data");
  return record;
}

}  // namespace amct::flow
