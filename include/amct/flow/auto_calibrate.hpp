// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/progress.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/balance.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/evaluator.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/flow/layer_similarity.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/region.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// AMCT's BinarySearchStrategy: how many of the most sensitive layers go back to float. It supposes that more of them
/// never make a network worse.
class RollBackSearch {
 public:
  /// \param layers  at least 1; quantizing all of them was not good enough
  explicit RollBackSearch(std::size_t layers) : high_(layers) {}

  /// How many layers to roll back in the next trial, from 1 to all; empty when the search has ended.
  [[nodiscard]] std::optional<std::size_t> next() const noexcept {
    return low_ < high_ ? std::optional((low_ + high_ - 1) / 2 + 1) : std::nullopt;
  }
  /// The verdict on the trial of next().
  void tell(bool satisfied) noexcept {
    const std::size_t tried = *next();
    last_satisfied_ = satisfied;
    if (satisfied) {
      best_ = tried;
      high_ = tried - 1;
    } else {
      low_ = tried;
    }
  }
  /// The number of the last trial that satisfied.
  [[nodiscard]] std::optional<std::size_t> best() const noexcept { return best_; }
  /// Whether the very last trial is the best one.
  [[nodiscard]] bool ended_on_best() const noexcept { return last_satisfied_; }

 private:
  std::size_t low_ = 0;   ///< rolling back so many is not enough
  std::size_t high_ = 0;  ///< no more than so many are needed
  std::optional<std::size_t> best_;
  bool last_satisfied_ = false;
};

/// A configuration that was tried.
struct RollBackTrial {
  std::vector<std::pair<std::string, bool>> quantized{};  ///< layers in AMCT's order; false: rolled back to float
  double metric = 0.0;
  MetricVerdict verdict{};
};

/// What automatic calibration found.
struct AutoCalibration {
  double original_metric = 0.0;            ///< of the float network
  std::vector<LayerSimilarity> ranking{};  ///< all quantized layers, the most sensitive first
  std::vector<RollBackTrial> trials{};     ///< in the order of AMCT's record, the first one with all layers quantized
  std::optional<RollBackTrial> chosen{};  ///< empty: only the float network satisfies, no quantized model is to be kept
  QuantPlan plan{};                       ///< of the chosen trial, for AMCT's final config
  Record record{};                        ///< factors of the chosen trial, for deploy()
};

namespace detail {

/// How good a network is.
struct Measured {
  double metric = 0.0;
  MetricVerdict verdict{};
};

/// Calibrates, deploys and evaluates networks for a search.
template <Evaluator E>
class TrialRuns {
 public:
  TrialRuns(const Prepared& prepared, const exec::OpSet& ops, E& evaluator, const ProgressSink& sink,
            const TrialSink& on_trial)
      : prepared_(prepared),
        deploy_(deploy_options(rules_of(prepared.flavour))),
        ops_(ops),
        evaluator_(evaluator),
        sink_(sink),
        on_trial_(on_trial) {
    if (!prepared.plan.batch_norm_update) return;
    throw Error(
        ErrorCode::config_unsupported, {.file = prepared.config_file, .field = "update_bn"},
        "automatic calibration compares networks with one float network, which update_bn changes; leave it out");
  }

  [[nodiscard]] double evaluate_float() { return evaluate(prepared_.graph); }

  /// A calibration of what a plan says that has seen its batches.
  [[nodiscard]] Calibration calibrate_with(const QuantPlan& plan) {
    Prepared changed = prepared_;
    changed.plan = plan;
    std::optional<Calibration> calibration;
    feed([&](const std::vector<Tensor>& inputs) {
      if (!calibration) {
        calibration.emplace(changed.graph, jobs_of(changed, balance_factors(changed, ops_, inputs)),
                            calibration_options(changed), ops_, sink_);
      }
      if (calibration->complete()) return;
      (void)calibration->observe(inputs);
    });
    require_batches(calibration ? calibration->batches() : 0, plan.batch_num, "");
    return std::move(*calibration);
  }
  /// Evaluates what a calibration found.
  /// \param record  of the plan; empty: all layers are float, which is not evaluated again
  [[nodiscard]] Measured measure(const QuantPlan& plan, const Record& record, double original) {
    Measured found{.metric = original};
    if (!record.empty()) found.metric = evaluate(fake_quant(deploy(prepared_.graph, record, deploy_)));
    found.verdict = judge(original, found.metric);
    if (on_trial_) on_trial_({plan, record, found.metric, found.verdict});
    return found;
  }
  [[nodiscard]] MetricVerdict judge(double original, double changed) {
    return evaluator_.metric_eval(original, changed);
  }
  /// The verdict on the float network beside itself. \throws Error data_format if not even that satisfies
  MetricVerdict accept_original(double original) {
    const MetricVerdict verdict = judge(original, original);
    if (verdict.satisfied) return verdict;
    throw Error(ErrorCode::data_format, {.field = "metric_eval"},
                "does not accept the float network beside itself, so that no quantized one could pass");
  }
  /// AMCT's ranking of the layers of a record, on what the calibration was made with.
  [[nodiscard]] std::vector<LayerSimilarity> rank(const Calibration& calibration, const Record& record) {
    SimilarityRanking ranking(prepared_.graph, record, ops_, deploy_);
    // In front of a balanced layer (DMQ) the calibrated network divides, which is part of the layer's quantization.
    const bool balanced = std::any_of(record.begin(), record.end(),
                                      [](const auto& layer) { return !layer.tensor_balance_factor.empty(); });
    const exec::Interpreter interpreter(balanced ? prepared_.graph : calibration.network(), ops_);
    std::size_t batch = 0;
    feed([&](const std::vector<Tensor>& inputs) {
      if (batch == prepared_.plan.batch_num) return;
      (void)interpreter.run(inputs, ranking);
      sink_.step("rank layers", ++batch, prepared_.plan.batch_num);
    });
    return ranking.ascending();
  }
  /// The first batches of calibration data.
  [[nodiscard]] std::vector<std::vector<Tensor>> first_batches(std::size_t count) {
    std::vector<std::vector<Tensor>> batches;
    feed([&](const std::vector<Tensor>& inputs) {
      if (batches.size() < count) batches.push_back(inputs);
    });
    return batches;
  }
  [[nodiscard]] const DeployOptions& deploy_with() const noexcept { return deploy_; }

 private:
  void feed(const CalibrationRun& take) { evaluator_.calibration(take); }
  [[nodiscard]] double evaluate(const graph::Graph& graph) {
    return static_cast<double>(evaluator_.evaluate(EvaluatedNetwork(graph, ops_)));
  }

  const Prepared& prepared_;
  DeployOptions deploy_;
  const exec::OpSet& ops_;
  E& evaluator_;
  const ProgressSink& sink_;
  const TrialSink& on_trial_;
};

/// Refuses networks with layers that may not go back to float.
inline void require_float_layers(const Prepared& prepared) {
  if (!rules_of(prepared.flavour).network_checks) return;
  for (const auto& layer : prepared.plan.layers) {
    if (!layer.enabled || !graph::is_matrix_operator(layer.op_type)) continue;
    throw Error(ErrorCode::config_unsupported, {.layer = layer.name},
                "is computed on CUBE and cannot go back to float, which a binary search of layers to roll back would "
                "do; raise bits instead (strategy greedy)");
  }
}

/// The names of a record's layers, with `quantized` for each, in the order of a config: by name.
[[nodiscard]] inline std::vector<std::pair<std::string, bool>> all_quantized(const Record& record) {
  std::vector<std::pair<std::string, bool>> layers;
  for (const auto& layer : record) layers.emplace_back(layer.name, true);
  std::sort(layers.begin(), layers.end());
  return layers;
}

/// The first `count` layers of a ranking rolled back.
[[nodiscard]] inline std::vector<std::pair<std::string, bool>> rolled_back(const std::vector<LayerSimilarity>& ranking,
                                                                           std::size_t count) {
  std::vector<std::pair<std::string, bool>> layers;
  for (std::size_t i = 0; i < ranking.size(); ++i) layers.emplace_back(ranking[i].layer, i >= count);
  return layers;
}

[[nodiscard]] inline QuantPlan plan_with(QuantPlan plan, const std::vector<std::pair<std::string, bool>>& quantized) {
  for (const auto& [name, enabled] : quantized) {
    const auto found = std::find_if(plan.layers.begin(), plan.layers.end(),
                                    [&name = name](const auto& layer) { return layer.name == name; });
    found->enabled = enabled;
  }
  return plan;
}

}  // namespace detail

/// AMCT's accuracy_based_auto_calibration with BinarySearch and CosineSimilarity: quantizes all layers and, if that is
/// not good enough, rolls the most sensitive ones back to float, as few as a binary search finds.
///
/// 1. The float network is evaluated; metric_eval of it beside itself must be satisfied.
/// 2. All layers of the plan are quantized and ranked (SimilarityRanking), and the network is evaluated.
/// 3. If that does not satisfy, RollBackSearch decides which layers stay float. Each trial calibrates anew, since the
///    data of a layer depend on the weights in front of it. The trial with all layers rolled back is not run: it is the
///    float network.
///
/// Takes 1 + log2(layers) calibrations and evaluations, and one run of the calibration data with each layer run twice.
/// \param prepared  see prepare(); layers that its plan leaves out stay out. Not of a flavour whose matrix unit (CUBE)
///                  cannot compute in float: mixed_precision() is for these
/// \throws Error config_unsupported naming a layer that may not become float, data_format if metric_eval does not
///         accept the float network itself, and all that calibrate() throws
template <Evaluator E>
[[nodiscard]] AutoCalibration auto_calibrate(const Prepared& prepared, const exec::OpSet& ops, E& evaluator,
                                             const ProgressSink& sink = {}, const TrialSink& on_trial = {}) {
  detail::require_float_layers(prepared);
  detail::TrialRuns<E> runs(prepared, ops, evaluator, sink, on_trial);
  AutoCalibration result;
  result.original_metric = runs.evaluate_float();
  const MetricVerdict itself = runs.accept_original(result.original_metric);
  // Notes a trial; one that satisfies is chosen, since it rolls back fewer layers than those before.
  const auto try_out = [&](std::vector<std::pair<std::string, bool>> quantized, Record record) {
    QuantPlan plan = detail::plan_with(prepared.plan, quantized);
    const detail::Measured found = runs.measure(plan, record, result.original_metric);
    result.trials.push_back({std::move(quantized), found.metric, found.verdict});
    if (!found.verdict.satisfied) return false;
    result.chosen = result.trials.back();
    result.plan = std::move(plan);
    result.record = std::move(record);
    return true;
  };

  const Calibration calibration = runs.calibrate_with(prepared.plan);
  Record all = calibration.finish();
  result.ranking = runs.rank(calibration, all);
  auto everything = detail::all_quantized(all);
  if (try_out(std::move(everything), std::move(all))) return result;
  RollBackSearch search(result.ranking.size());
  while (const auto count = search.next()) {
    auto quantized = detail::rolled_back(result.ranking, *count);
    if (*count == result.ranking.size()) {
      result.trials.push_back({std::move(quantized), result.original_metric, itself});
      break;
    }
    Record record = runs.calibrate_with(detail::plan_with(prepared.plan, quantized)).finish();
    search.tell(try_out(std::move(quantized), std::move(record)));
  }
  // AMCT, which keeps only the files of the last trial, runs and records the best one again if that was another.
  if (result.chosen && !search.ended_on_best()) result.trials.push_back(*result.chosen);
  return result;
}

}  // namespace amct::flow
