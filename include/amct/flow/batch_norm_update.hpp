// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/uses.hpp>

namespace amct::flow {

/// Running mean and variance of a BatchNormalization, one each a channel.
struct BatchNormStatistics {
  std::vector<float> mean{};
  std::vector<float> variance{};

  friend bool operator==(const BatchNormStatistics&, const BatchNormStatistics&) = default;
};

AMCT_EXACT_BEGIN

/// Takes the statistics of a batch into the running ones: running = (1 - momentum) * running + momentum * batch, where
/// the variance of the batch is the unbiased one, as torch has it.
/// \param batch  mean and biased variance of `count` values a channel. \pre count > 1
inline void update_running(BatchNormStatistics& running, const BatchNormStatistics& batch, std::size_t count,
                           double momentum) {
  const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
  const auto step = [momentum](float old, double now) {
    return static_cast<float>((1.0 - momentum) * static_cast<double>(old) + momentum * now);
  };
  for (std::size_t c = 0; c < running.mean.size(); ++c) {
    running.mean[c] = step(running.mean[c], static_cast<double>(batch.mean[c]));
    running.variance[c] = step(running.variance[c], static_cast<double>(batch.variance[c]) * unbiased);
  }
}

AMCT_EXACT_END

namespace detail {

inline constexpr std::size_t kMeanInput = 3;
inline constexpr std::size_t kVarianceInput = 4;

[[nodiscard]] inline bool is_batch_norm(const graph::Node& node) {
  return node.op_type == "BatchNormalization" && node.domain.empty();
}

/// The running statistics of a BatchNormalization; empty if they are no float32 constants.
[[nodiscard]] inline std::optional<BatchNormStatistics> statistics_of(const graph::Node& node,
                                                                      const graph::Uses& uses) {
  if (!is_batch_norm(node) || node.outputs.empty() || node.outputs[0] == graph::kNoValue) return {};
  const Tensor* mean = uses.constant(node.input(kMeanInput));
  const Tensor* variance = uses.constant(node.input(kVarianceInput));
  if (mean == nullptr || variance == nullptr) return {};
  if (mean->type() != ElementType::float32 || variance->type() != ElementType::float32) return {};
  if (mean->size() != variance->size()) return {};
  const auto list = [](const Tensor& tensor) {
    const auto values = tensor.data<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  return BatchNormStatistics{list(*mean), list(*variance)};
}

/// Replaces statistics of a node. Those that several nodes read get a place of their own for each.
inline void set_statistics(graph::Graph& network, graph::Node& node, std::size_t input, Tensor data,
                           const graph::Uses& uses, graph::UniqueNames& names) {
  const graph::ValueId id = node.inputs[input];
  if (network.value(id).initializer && uses.consumers(id).size() == 1) {
    graph::replace_initializer(network, id, std::move(data));
  } else {
    node.inputs[input] =
        graph::add_initializer(network, names.value(network.value(id).name + "_updated"), std::move(data));
  }
}

}  // namespace detail

/// A network whose BatchNormalization layers learn their statistics anew, since the weights in front of them were
/// quantized. Their gamma and beta stay.
///
/// AMCT's counterpart is `update_bn_status(calibration_model, training=True)` with the config's update_bn and
/// bn_update_config (hotwheels). AMCT's documents say what is updated; the formula is torch's.
class BatchNormUpdater {
 public:
  /// \param network  weights quantized, no BatchNormalization folded
  /// \param ops      the operators to run with, usually exec::builtin_ops(); must outlive this
  BatchNormUpdater(graph::Graph network, const BatchNormUpdate& settings, const exec::OpSet& ops)
      : momentum_(settings.momentum), ops_(ops), network_(std::move(network)) {
    const graph::Uses uses(network_);
    for (const auto& node : network_.nodes) {
      if (auto found = detail::statistics_of(node, uses)) statistics_.emplace(node.name, std::move(*found));
    }
  }
  // The interpreter refers to the network in here.
  BatchNormUpdater(const BatchNormUpdater&) = delete;
  BatchNormUpdater& operator=(const BatchNormUpdater&) = delete;

  /// True: run() normalizes with the statistics of its batch and takes them in. False, as in the beginning: it
  /// normalizes with the running ones, which stay.
  void update_bn_status(bool training) {
    if (training != training_) interpreter_.reset();
    training_ = training;
  }
  [[nodiscard]] bool training() const noexcept { return training_; }

  /// Runs one batch. \return the network's outputs
  /// \throws Error data_too_few if a layer gets a single value a channel, which has no variance; data_not_finite;
  ///         model_shape
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    if (!interpreter_) start();
    if (!training_) return interpreter_->run(inputs);
    auto outputs = interpreter_->run(inputs, Hook{*this});
    ++updates_;
    return outputs;
  }

  /// Batches taken in.
  [[nodiscard]] std::uint32_t updates() const noexcept { return updates_; }
  /// By name of a BatchNormalization node.
  [[nodiscard]] const std::map<std::string, BatchNormStatistics>& statistics() const noexcept { return statistics_; }

  /// Writes the statistics into a network that has nodes of the same names: the one that is calibrated, the one that is
  /// deployed.
  void write_to(graph::Graph& network) const {
    const graph::Uses uses(network);
    graph::UniqueNames names(network);
    for (auto& node : network.nodes) {
      const auto found = statistics_.find(node.name);
      if (found == statistics_.end() || !detail::is_batch_norm(node)) continue;
      const auto tensor = [](const std::vector<float>& values) {
        return Tensor(Shape{static_cast<std::int64_t>(values.size())}, std::span<const float>(values));
      };
      detail::set_statistics(network, node, detail::kMeanInput, tensor(found->second.mean), uses, names);
      detail::set_statistics(network, node, detail::kVarianceInput, tensor(found->second.variance), uses, names);
    }
  }

 private:
  struct Hook {
    BatchNormUpdater& owner;
    std::size_t values = 0;  ///< in the input of the node that runs

    void before(const graph::Node&, std::span<const Tensor* const> inputs) {
      values = inputs.empty() || inputs[0] == nullptr ? 0 : inputs[0]->size();
    }
    void after(const graph::Node& node, std::span<const Tensor> outputs) const {
      const auto found = owner.statistics_.find(node.name);
      if (found == owner.statistics_.end()) return;
      const auto list = [](const Tensor& tensor) {
        const auto data = tensor.data<float>();
        return std::vector<float>(data.begin(), data.end());
      };
      owner.take(node.name, found->second, {list(outputs[1]), list(outputs[2])}, values);
    }
  };

  void take(const std::string& name, BatchNormStatistics& running, const BatchNormStatistics& batch,
            std::size_t values) const {
    const std::size_t count = batch.mean.empty() ? 0 : values / batch.mean.size();
    if (count < 2) {
      throw Error(ErrorCode::data_too_few, {.layer = name},
                  "a batch has " + std::to_string(count) +
                      " values a channel, expected at least 2: BatchNormalization cannot be updated with it");
    }
    const auto finite = [](const std::vector<float>& list) {
      return std::all_of(list.begin(), list.end(), [](float value) { return std::isfinite(value); });
    };
    if (!finite(batch.mean) || !finite(batch.variance)) {
      throw Error(ErrorCode::data_not_finite, {.layer = name}, "the statistics of a batch are NaN or Inf");
    }
    update_running(running, batch, count, momentum_);
  }

  void start() {
    write_to(network_);
    running_ = std::make_unique<graph::Graph>(network_);
    if (training_) {
      for (auto& node : running_->nodes) {
        if (statistics_.contains(node.name)) train(node);
      }
    }
    interpreter_ = std::make_unique<exec::Interpreter>(*running_, ops_);
  }

  /// Makes a node normalize by its batch. Its further outputs are the running statistics, which with a momentum of 0
  /// are those of the batch.
  void train(graph::Node& node) const {
    node.set_attribute("training_mode", std::int64_t{1});
    node.set_attribute("is_test", std::int64_t{0});
    node.set_attribute("momentum", 0.0F);
    node.outputs.resize(1);
    for (int i = 0; i < 2; ++i) node.outputs.push_back(running_->add_value({}));
  }

  double momentum_;
  const exec::OpSet& ops_;
  graph::Graph network_;
  std::map<std::string, BatchNormStatistics> statistics_;
  bool training_ = false;
  std::uint32_t updates_ = 0;
  std::unique_ptr<graph::Graph> running_;  ///< what the interpreter runs
  std::unique_ptr<exec::Interpreter> interpreter_;
};

/// BN update as the config asks for it: `iterations` batches, the first ones again if there are fewer, and the new
/// statistics in the network.
/// \param network  weights quantized, no BatchNormalization folded
/// \param batches  size() and load(index), see BatchSource
/// \param narrow   whether anything is quantized to 4 bits, which is what the update is for; otherwise a warning
/// \throws Error data_empty without batches, and what BatchNormUpdater::run throws
template <class Batches>
void update_batch_norm(graph::Graph& network, const BatchNormUpdate& settings, const exec::OpSet& ops, Batches& batches,
                       bool narrow, const ProgressSink& sink = {}) {
  if (!narrow) {
    sink.message(LogLevel::warning,
                 "update_bn: BatchNormalization is updated although no layer has 4 bits, which is what the update is "
                 "meant for");
  }
  if (batches.size() == 0) throw Error(ErrorCode::data_empty, {.field = "update_bn"}, "there is no batch to run");
  BatchNormUpdater updater(network, settings, ops);
  if (updater.statistics().empty()) {
    sink.message(LogLevel::warning, "update_bn: the network has no BatchNormalization to update");
    return;
  }
  updater.update_bn_status(true);
  for (std::uint32_t i = 0; i < settings.iterations; ++i) {
    (void)updater.run(batches.load(i % batches.size()));
    sink.step("update BatchNormalization", i + 1, settings.iterations);
  }
  updater.write_to(network);
}

}  // namespace amct::flow
