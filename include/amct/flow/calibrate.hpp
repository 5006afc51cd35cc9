// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/balance.hpp>
#include <amct/flow/batch_norm_update.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/fold_when_saving.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/uses.hpp>
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

/// A network whose layers have factors, ready for deploy().
struct Calibrated {
  graph::Graph graph;  ///< float, BatchNormalization folded
  Record record;
};

namespace detail {

/// Gives BatchNormalization nodes the statistics that nodes of the same names have in another network.
inline void copy_statistics(const graph::Graph& from, graph::Graph& to) {
  const graph::Uses uses(to);
  graph::UniqueNames names(to);
  for (auto& node : to.nodes) {
    const graph::Node* updated = is_batch_norm(node) ? from.find_node(node.name) : nullptr;
    if (updated == nullptr) continue;
    for (const std::size_t input : {kMeanInput, kVarianceInput}) {
      const auto& statistics = from.value(updated->input(input)).initializer;
      if (statistics) set_statistics(to, node, input, *statistics, uses, names);
    }
  }
}

[[nodiscard]] inline bool has_narrow_codes(const std::vector<LayerJob>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [](const LayerJob& job) {
    const auto is_narrow = [](const ActivationJob& activation) { return activation.range.bits == 4; };
    return (job.weights && job.weights->bits == 4) ||
           std::any_of(job.activations.begin(), job.activations.end(), is_narrow);
  });
}

}  // namespace detail

/// What a complete calibration has found, and the network that it fits: Prepared::graph, with update_bn with the new
/// statistics of BatchNormalization and folded. \throws Error as Calibration::finish() does
[[nodiscard]] inline Calibrated calibrated(const Prepared& prepared, const Calibration& calibration) {
  Calibrated result{prepared.graph, calibration.finish()};
  if (!prepared.plan.batch_norm_update) return result;
  detail::copy_statistics(calibration.network(), result.graph);
  if (prepared.plan.do_fusion) {
    (void)fold_when_saving(result.graph, result.record, rules_of(prepared.flavour), prepared.plan.skip_fusion_layers);
  }
  return result;
}

/// Post-training calibration with a config of the classic family, as AMCT does it: balances layers (dmq_balancer),
/// quantizes the weights, updates BatchNormalization (update_bn), then observes what flows into each quantized layer
/// over `plan.batch_num` batches, with the weights already fake-quantized and activations in float.
/// docs/calibration.md has all of it.
///
/// \param ops  the operators to run the network with, usually exec::builtin_ops()
/// \return the network, which with update_bn is folded only now, and one entry a quantized layer, in model order but
///         balanced layers first, with the fields of the flavour's record files
/// Empty tensors are no data. A layer that gets nothing else stays float, with a warning.
/// \throws Error config_unsupported for what this version does not calibrate, data_empty, data_too_few,
///         data_not_finite (naming layer, tensor, batch, index and the node that made the first NaN), numeric for
///         ranges that float32 cannot hold, model_shape
template <BatchSource S>
[[nodiscard]] Calibrated calibrate_network(const Prepared& prepared, const exec::OpSet& ops, S& batches,
                                           const ProgressSink& sink = {}) {
  const QuantPlan& plan = prepared.plan;
  require_batches(batches.size(), plan.batch_num, "");
  Record balanced;
  if (needs_balance(plan)) balanced = balance_factors(prepared, ops, batches.load(0));
  Calibration calibration(prepared.graph, jobs_of(prepared, balanced), calibration_options(prepared), ops, sink);
  if (plan.batch_norm_update) {
    const bool narrow = detail::has_narrow_codes(calibration.jobs());
    calibration.adjust_network([&](graph::Graph& network) {
      update_batch_norm(network, *plan.batch_norm_update, ops, batches, narrow, sink);
    });
  }
  for (std::size_t b = 0; !calibration.complete(); ++b) (void)calibration.observe(batches.load(b));
  return calibrated(prepared, calibration);
}

/// The record of calibrate_network() alone, for configs without update_bn: the network is Prepared::graph.
/// \throws Error config_unsupported for update_bn, besides
template <BatchSource S>
[[nodiscard]] Record calibrate(const Prepared& prepared, const exec::OpSet& ops, S& batches,
                               const ProgressSink& sink = {}) {
  if (prepared.plan.batch_norm_update) {
    throw Error(ErrorCode::config_unsupported, {.file = prepared.config_file, .field = "update_bn"},
                "the network changes with its BatchNormalization; see calibrate_network()");
  }
  return calibrate_network(prepared, ops, batches, sink).record;
}

}  // namespace amct::flow
