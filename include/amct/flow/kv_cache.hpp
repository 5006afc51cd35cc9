// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/kv_cache.hpp>
#include <amct/core/affine.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/uses.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/kv_cache.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

namespace detail {

template <Observer O>
[[nodiscard]] AnyQuantizer kv_quantizer(bool per_channel, std::size_t channels, typename O::Options observer) {
  const auto granularity = per_channel ? KvGranularity::per_channel : KvGranularity::per_tensor;
  return AnyQuantizer(KvCache<O>({granularity, channels, std::move(observer)}));
}

[[nodiscard]] inline AnyQuantizer kv_quantizer(const KvCacheLayer& layer, std::size_t channels, std::size_t batch_num) {
  const ActivationPlan& data = layer.data;
  const Symmetry symmetry = data.asymmetric ? Symmetry::asymmetric : Symmetry::symmetric;
  if (data.algorithm == ActivationAlgorithm::hfmg) {
    return kv_quantizer<Hfmg>(layer.per_channel, channels, {symmetry, batch_num, data.num_of_bins});
  }
  return kv_quantizer<Ifmr>(layer.per_channel, channels,
                            {.symmetry = symmetry,
                             .batch_num = batch_num,
                             .max_percentile = data.max_percentile,
                             .min_percentile = data.min_percentile,
                             .search_start = data.search_start,
                             .search_end = data.search_end,
                             .search_step = data.search_step});
}

}  // namespace detail

/// Calibrates one tensor that a KV cache keeps: the output of a Linear layer, [..., channels]. Values pass unchanged.
class KvCacheObserver {
 public:
  /// \param layer      its name is that of the entry in the record
  /// \param batch_num  batches that make the factors; later ones are left out
  KvCacheObserver(KvCacheLayer layer, std::uint32_t batch_num) : layer_(std::move(layer)), batch_num_(batch_num) {}

  /// \throws Error data_not_finite or data_empty naming layer and batch; model_shape if the last axis has another
  /// length
  ///         than in the batch before; numeric for a range that float32 cannot hold; model_unsupported for other data
  ///         than float32
  void observe(const Tensor& output) {
    if (ready()) return;
    const Where where{.layer = layer_.name};
    if (output.type() != ElementType::float32) {
      throw Error(ErrorCode::model_unsupported, where,
                  std::string("its output is ") + name_of(output.type()) + ", expected float32");
    }
    const std::size_t rank = output.shape().rank();
    const auto channels = rank == 0 ? std::size_t{1} : static_cast<std::size_t>(output.shape()[rank - 1]);
    if (batches_ == 0) {
      channels_ = channels;
      quantizer_ = detail::kv_quantizer(layer_, channels, batch_num_);
    }
    if (layer_.per_channel && channels != channels_) {
      throw Error(ErrorCode::model_shape, where,
                  "its output has " + std::to_string(channels) + " channels, those of earlier batches " +
                      std::to_string(channels_));
    }
    const Status status = quantizer_.calibrate(output.data<float>());
    if (status.code == StatusCode::bad_option) {
      throw Error(ErrorCode::config_range, {.layer = layer_.name, .field = status.name},
                  std::string("expected ") + status.allowed);
    }
    check(status, {.layer = layer_.name, .field = "batch " + std::to_string(batches_)});
    ++batches_;
  }

  /// True when batch_num batches were seen.
  [[nodiscard]] bool ready() const noexcept { return batches_ >= batch_num_; }
  [[nodiscard]] std::uint32_t batches() const noexcept { return batches_; }
  [[nodiscard]] const std::string& layer() const noexcept { return layer_.name; }

  /// The entry of the record: nothing but `kv_cache_value`.
  /// \throws Error data_too_few before ready()
  [[nodiscard]] LayerRecord entry() const {
    if (!ready()) {
      throw Error(ErrorCode::data_too_few, {.layer = layer_.name, .field = "batch_num"},
                  "found " + std::to_string(batches_) + " batches, expected " + std::to_string(batch_num_));
    }
    LayerRecord entry{.name = layer_.name, .has_value = false, .kv_cache = KvCacheRecord{}};
    for (const Affine& channel : quantizer_.params().channels) {
      entry.kv_cache->scale.push_back(channel.scale);
      entry.kv_cache->offset.push_back(channel.offset);
    }
    return entry;
  }

 private:
  KvCacheLayer layer_;
  std::uint32_t batch_num_;
  AnyQuantizer quantizer_;
  std::size_t channels_ = 0;
  std::uint32_t batches_ = 0;
};

/// Calibrates the KV cache of a network: the outputs of the Linear layers of a plan, bias included, while the network
/// runs in float. AMCT's counterpart is the model of create_quant_cali_model.
class KvCacheCalibration {
 public:
  /// \param network  float, nodes called as the plan calls them
  /// \param ops      usually exec::builtin_ops(); must outlive this
  /// \throws Error config_layer for a layer that the network does not have; config_range without batches
  KvCacheCalibration(graph::Graph network, const KvCachePlan& plan, const exec::OpSet& ops, ProgressSink sink = {})
      : batch_num_(plan.batch_num),
        sink_(std::move(sink)),
        network_(std::make_unique<graph::Graph>(std::move(network))) {
    if (batch_num_ == 0) throw Error(ErrorCode::config_range, {.field = "batch_num"}, "got 0, expected at least 1");
    const graph::Uses uses(*network_);
    for (const KvCacheLayer& layer : plan.layers) {
      const graph::Node* node = network_->find_node(layer.name);
      if (node == nullptr || node->outputs.empty()) {
        throw Error(ErrorCode::config_layer, {.layer = layer.name}, "is not in the network");
      }
      if (const graph::Node* add = graph::bias_add(*node, uses)) node = add;
      at_node_[node->name].push_back(observers_.size());
      observers_.emplace_back(layer, batch_num_);
    }
    interpreter_ = std::make_unique<exec::Interpreter>(*network_, ops);
  }

  /// Runs one batch. \return the network's outputs
  /// \throws Error as KvCacheObserver::observe does; model_shape
  std::vector<Tensor> observe(const std::vector<Tensor>& inputs) {
    auto outputs = interpreter_->run(inputs, Hook{*this});
    ++batches_;
    if (batches_ <= batch_num_) sink_.step("calibrate", batches_, batch_num_);
    return outputs;
  }

  [[nodiscard]] std::uint32_t batches() const noexcept { return batches_; }
  /// True when batch_num batches were seen.
  [[nodiscard]] bool complete() const noexcept { return batches_ >= batch_num_; }

  /// One entry a layer, in the order of the plan. \throws Error data_too_few before complete()
  [[nodiscard]] Record finish() const {
    Record record;
    for (const KvCacheObserver& observer : observers_) record.push_back(observer.entry());
    return record;
  }

 private:
  struct Hook {
    KvCacheCalibration& owner;

    void before(const graph::Node&, std::span<const Tensor* const>) const noexcept {}
    void after(const graph::Node& node, std::span<const Tensor> outputs) const {
      const auto found = owner.at_node_.find(node.name);
      if (found == owner.at_node_.end()) return;
      for (const std::size_t observer : found->second) owner.observers_[observer].observe(outputs[0]);
    }
  };

  std::uint32_t batch_num_;
  ProgressSink sink_;
  std::unique_ptr<graph::Graph> network_;
  std::unique_ptr<exec::Interpreter> interpreter_;
  std::vector<KvCacheObserver> observers_;                   ///< in the order of the plan
  std::map<std::string, std::vector<std::size_t>> at_node_;  ///< by the node whose output counts
  std::uint32_t batches_ = 0;
};

}  // namespace amct::flow
