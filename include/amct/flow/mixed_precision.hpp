// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/layer_rules.hpp>
#include <amct/config/plan.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/progress.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/auto_calibrate.hpp>
#include <amct/flow/evaluator.hpp>
#include <amct/flow/observed_values.hpp>
#include <amct/flow/precision_search.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/flow/sensitivity.hpp>
#include <amct/graph/region.hpp>
#include <amct/record/record.hpp>

/// \file
/// Automatic calibration that raises bits before it gives layers up, and weighs what that costs. AMCT has no
/// counterpart; flow/auto_calibrate.hpp is what AMCT does.

namespace amct::flow {

struct MixedPrecisionOptions {
  /// With a number: a latency budget, the cost that may not be exceeded, as a multiple of the cost with all layers as
  /// the config has them. Without: an accuracy budget, the cheapest precisions that metric_eval accepts.
  std::optional<double> most_cost{};
  bool float_layers = true;             ///< layers may go back to float where the flavour can run them
  std::size_t sensitivity_batches = 1;  ///< batches of calibration data that sensitivities are measured on
  std::size_t most_trials = 32;         ///< networks that the search may evaluate
  bool binary_search = true;            ///< AMCT's search runs too, and its result is taken if it is cheaper
};

/// Precisions that were tried.
struct PrecisionTrial {
  Levels levels{};    ///< of MixedPrecision::choices
  double cost = 0.0;  ///< as a multiple of the cost with all layers as the config has them
  double metric = 0.0;
  MetricVerdict verdict{};
};

/// What the search found.
struct MixedPrecision {
  double original_metric = 0.0;            ///< of the float network
  std::vector<PrecisionChoice> choices{};  ///< layers, with cost and noise of each precision
  std::vector<PrecisionTrial> trials{};    ///< in their order; the first one has all layers as the config has them
  std::optional<AutoCalibration> binary_search{};  ///< what AMCT's search found, if it ran
  PrecisionTrial chosen{};
  bool from_binary_search = false;
  QuantPlan plan{};  ///< of the chosen trial
  Record record{};   ///< its factors, for deploy(); empty if all layers are float
};

namespace detail {

/// A precision of layers, free of any one of them.
struct Precision {
  int activation_bits = 8;
  int weight_bits = 8;
  bool quantized = true;

  /// The multiplications of numbers of 8 bits that one multiplication takes; float computes in half precision.
  [[nodiscard]] double cost() const noexcept {
    return quantized ? static_cast<double>(activation_bits * weight_bits) / 64.0 : 4.0;
  }
  [[nodiscard]] std::string name() const {
    return quantized ? 'A' + std::to_string(activation_bits) + 'W' + std::to_string(weight_bits) : "float";
  }
  /// What a layer's plan becomes; a plan is never made coarser.
  void apply_to(LayerPlan& layer) const {
    layer.enabled = quantized;
    if (!quantized) return;
    for (auto& activation : layer.activations) activation.bits = std::max(activation.bits, activation_bits);
    if (layer.weights.algorithm == WeightAlgorithm::none || layer.weights.bits >= weight_bits) return;
    layer.weights = {.bits = weight_bits, .channel_wise = layer.weights.channel_wise};
  }
};

/// The precisions that each group of layers of a plan can have.
class PrecisionTable {
 public:
  PrecisionTable(const Prepared& prepared, const MixedPrecisionOptions& options)
      : plan_(prepared.plan), rules_(rules_of(prepared.flavour)) {
    const ObservedValues values(prepared.graph);
    std::map<graph::ValueId, std::size_t> group_of;  // by what is quantized
    for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
      const LayerPlan& layer = plan_.layers[l];
      if (!layer.enabled) continue;
      std::size_t group = groups_.size();
      if (rules_.network_checks) group = group_with(layer, values, group_of);
      if (group == groups_.size()) groups_.emplace_back();
      groups_[group].push_back(l);
    }
    std::erase_if(groups_, [](const auto& group) { return group.empty(); });
    for (const auto& group : groups_) precisions_.push_back(precisions_of(group, options));
  }

  [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& group(std::size_t g) const { return groups_[g]; }
  [[nodiscard]] const std::vector<Precision>& precisions(std::size_t g) const { return precisions_[g]; }

  [[nodiscard]] QuantPlan plan_of(const Levels& levels) const {
    QuantPlan plan = plan_;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (levels[g] == 0) continue;
      for (const std::size_t l : groups_[g]) precisions_[g][levels[g]].apply_to(plan.layers[l]);
    }
    return plan;
  }
  /// Every group at a level, or at its last quantized one if it has fewer.
  [[nodiscard]] Levels all_at(std::size_t level) const {
    Levels levels;
    for (const auto& precisions : precisions_) {
      std::size_t last = precisions.size() - 1;
      if (!precisions[last].quantized && last > 0) --last;
      levels.push_back(std::min(level, last));
    }
    return levels;
  }
  /// The greatest number of quantized levels that a group has.
  [[nodiscard]] std::size_t depth() const {
    const Levels last = all_at(std::numeric_limits<std::size_t>::max());
    return last.empty() ? 0 : *std::max_element(last.begin(), last.end()) + 1;
  }
  /// The levels of a trial of AMCT's search, where rolled back layers are float.
  [[nodiscard]] std::optional<Levels> levels_of(const RollBackTrial& trial) const {
    Levels levels(groups_.size(), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const auto& [name, quantized] : trial.quantized) {
        if (quantized || plan_.layers[groups_[g].front()].name != name) continue;
        if (precisions_[g].back().quantized) return std::nullopt;
        levels[g] = precisions_[g].size() - 1;
      }
    }
    return levels;
  }

 private:
  /// Layers that read one tensor must be quantized alike where the network is checked.
  [[nodiscard]] std::size_t group_with(const LayerPlan& layer, const ObservedValues& values,
                                       std::map<graph::ValueId, std::size_t>& group_of) {
    std::size_t group = groups_.size();
    std::vector<graph::ValueId> read;
    for (std::size_t i = 0; i < layer.activations.size(); ++i)
      read.push_back(values.find(layer.name, layer.op_type, i));
    for (const auto value : read) {
      const auto known = group_of.find(value);
      if (known == group_of.end() || known->second == group) continue;
      if (group == groups_.size()) {
        group = known->second;
      } else {
        merge(known->second, group, group_of);
      }
    }
    for (const auto value : read) group_of[value] = group;
    return group;
  }
  void merge(std::size_t from, std::size_t into, std::map<graph::ValueId, std::size_t>& group_of) {
    auto& target = groups_[into];
    target.insert(target.end(), groups_[from].begin(), groups_[from].end());
    std::sort(target.begin(), target.end());
    groups_[from].clear();
    for (auto& entry : group_of) {
      if (entry.second == from) entry.second = into;
    }
  }

  [[nodiscard]] std::vector<Precision> precisions_of(const std::vector<std::size_t>& group,
                                                     const MixedPrecisionOptions& options) const {
    Precision own{.activation_bits = 4, .weight_bits = 4};
    bool wide = true;
    bool may_be_float = options.float_layers;
    bool any_weights = false;
    for (const std::size_t l : group) {
      const LayerPlan& layer = plan_.layers[l];
      const bool weights = layer.weights.algorithm != WeightAlgorithm::none && has_weights(layer.kind);
      for (const auto& activation : layer.activations)
        own.activation_bits = std::max(own.activation_bits, activation.bits);
      if (weights) own.weight_bits = std::max(own.weight_bits, layer.weights.bits);
      any_weights = any_weights || weights;
      wide = wide && may_have_wide_activation(rules_, layer.kind);
      may_be_float = may_be_float && !(rules_.network_checks && graph::is_matrix_operator(layer.op_type));
    }
    if (!any_weights) own.weight_bits = 8;
    std::vector<Precision> levels{own};
    const auto offer = [&](int activation_bits) {
      const Precision last = levels.back();
      const Precision next{.activation_bits = std::max(activation_bits, last.activation_bits), .weight_bits = 8};
      if (next.activation_bits > last.activation_bits || next.weight_bits > last.weight_bits) levels.push_back(next);
    };
    offer(8);
    for (const int bits : {12, 16}) {
      if (wide && std::count(rules_.activation_bits.begin(), rules_.activation_bits.end(), bits) > 0) offer(bits);
    }
    if (may_be_float) levels.push_back({.activation_bits = 16, .weight_bits = 16, .quantized = false});
    return levels;
  }

  const QuantPlan& plan_;
  const FlavourRules& rules_;
  std::vector<std::vector<std::size_t>> groups_;  ///< positions of layers in the plan
  std::vector<std::vector<Precision>> precisions_;
};

/// Runs the search.
template <Evaluator E>
class MixedPrecisionSearch {
 public:
  MixedPrecisionSearch(const Prepared& prepared, const exec::OpSet& ops, E& evaluator,
                       const MixedPrecisionOptions& options, const ProgressSink& sink, const TrialSink& on_trial)
      : prepared_(prepared),
        ops_(ops),
        evaluator_(evaluator),
        options_(options),
        sink_(sink),
        on_trial_(on_trial),
        runs_(prepared, ops, evaluator, sink, on_trial),
        table_(prepared, options) {}

  [[nodiscard]] MixedPrecision run() {
    result_.original_metric = runs_.evaluate_float();
    (void)runs_.accept_original(result_.original_metric);
    make_choices();
    if (options_.most_cost) {
      keep_within_cost();
    } else {
      reach_accuracy();
    }
    return std::move(result_);
  }

 private:
  /// Measures what every precision of every layer does to the network's result.
  void make_choices() {
    std::vector<LayerVariants> layers;
    std::vector<std::pair<std::size_t, std::size_t>> at;  // group and position in the plan of each
    for (std::size_t g = 0; g < table_.size(); ++g) {
      for (const std::size_t l : table_.group(g)) {
        layers.push_back({.layer = prepared_.plan.layers[l].name});
        at.emplace_back(g, l);
      }
    }
    for (std::size_t level = 0; level < table_.depth(); ++level) {
      const Levels levels = table_.all_at(level);
      const Record record = runs_.calibrate_with(table_.plan_of(levels)).finish();
      for (std::size_t i = 0; i < layers.size(); ++i) {
        if (levels[at[i].first] != level) continue;  // has fewer levels
        const LayerRecord* factors = find_record(record, layers[i].layer);
        if (factors != nullptr) layers[i].variants.push_back(*factors);
      }
    }
    const auto batches = runs_.first_batches(options_.sensitivity_batches);
    const auto measured = measure_sensitivity(prepared_.graph, layers, ops_, batches, sink_, runs_.deploy_with());
    result_.choices.resize(table_.size());
    for (std::size_t g = 0; g < table_.size(); ++g) {
      for (const auto& precision : table_.precisions(g))
        result_.choices[g].levels.push_back({.name = precision.name()});
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      auto& choice = result_.choices[at[i].first];
      choice.layers.push_back(layers[i].layer);
      const auto& precisions = table_.precisions(at[i].first);
      for (std::size_t level = 0; level < precisions.size(); ++level) {
        choice.levels[level].cost += measured[i].macs * precisions[level].cost();
        if (level < measured[i].noise.size()) choice.levels[level].noise += measured[i].noise[level];
      }
    }
    own_cost_ = cost_of(result_.choices, table_.all_at(0));
  }

  /// Calibrates, evaluates and notes levels. \return whether they satisfy
  bool try_out(const Levels& levels) {
    const QuantPlan plan = table_.plan_of(levels);
    const bool any =
        std::any_of(plan.layers.begin(), plan.layers.end(), [](const auto& layer) { return layer.enabled; });
    Record record = any ? runs_.calibrate_with(plan).finish() : Record{};
    const Measured found = runs_.measure(plan, record, result_.original_metric);
    PrecisionTrial trial{levels, relative_cost(levels), found.metric, found.verdict};
    const bool satisfied = trial.verdict.satisfied;
    result_.trials.push_back(trial);
    // The last one that satisfies is the cheapest; while none does, the last one is the most precise.
    if (satisfied || !result_.chosen.verdict.satisfied) {
      result_.chosen = std::move(trial);
      result_.plan = plan;
      result_.record = std::move(record);
    }
    return satisfied;
  }
  [[nodiscard]] double relative_cost(const Levels& levels) const {
    return own_cost_ > 0.0 ? cost_of(result_.choices, levels) / own_cost_ : 1.0;
  }

  void reach_accuracy() {
    (void)cheapest_levels(result_.choices, options_.most_trials,
                          [this](const Levels& levels) { return try_out(levels); });
    if (options_.binary_search) compare_with_binary_search();
  }

  void keep_within_cost() {
    const auto way = greedy_way(result_.choices, *options_.most_cost * own_cost_);
    (void)try_out(table_.all_at(0));
    if (!way.empty()) (void)try_out(after_steps(result_.choices.size(), way, way.size()));
  }

  void compare_with_binary_search() {
    const bool possible = std::all_of(result_.choices.begin(), result_.choices.end(),
                                      [](const auto& choice) { return choice.levels.back().name == "float"; });
    if (!possible || result_.trials.front().verdict.satisfied) return;
    result_.binary_search = auto_calibrate(prepared_, ops_, evaluator_, sink_, on_trial_);
    const auto& found = *result_.binary_search;
    if (!found.chosen) return;
    const auto levels = table_.levels_of(*found.chosen);
    const double cost = relative_cost(*levels);
    if (result_.chosen.verdict.satisfied && result_.chosen.cost <= cost) return;
    result_.from_binary_search = true;
    result_.chosen = {
        .levels = *levels, .cost = cost, .metric = found.chosen->metric, .verdict = found.chosen->verdict};
    result_.plan = found.plan;
    result_.record = found.record;
  }

  const Prepared& prepared_;
  const exec::OpSet& ops_;
  E& evaluator_;
  const MixedPrecisionOptions& options_;
  const ProgressSink& sink_;
  const TrialSink& on_trial_;
  TrialRuns<E> runs_;
  PrecisionTable table_;
  MixedPrecision result_;
  double own_cost_ = 0.0;
};

}  // namespace detail

/// Automatic calibration by sensitivity and cost.
///
/// 1. Each layer's noise in the network's outputs is measured for each precision that the flavour allows: as the config
///    has it, then (where that is less) 8-bit weights and data, 12 and 16-bit data, and float; see measure_sensitivity.
///    On flavours whose networks are checked (hotwheels), layers of the matrix unit (CUBE) never become float, and
///    layers that read one tensor change together.
/// 2. A greedy way from the cheapest to the most precise network: each step takes away the most noise for its cost,
///    which is the layer's multiplications times the bits of both factors (float counts as 16 and 16).
/// 3. With an accuracy budget the shortest satisfying beginning of that way is searched, then layers are lowered again
///    that do not need their bits (cheapest_levels). With a latency budget the way is followed as far as it allows.
/// 4. With an accuracy budget AMCT's search runs too (auto_calibrate) and wins if its network costs less, so that the
///    result is never worse.
///
/// Takes one calibration a precision, about half a run a layer, precision and batch, and a calibration and evaluation a
/// trial.
/// \return the chosen precisions; chosen.verdict.satisfied is false if nothing tried was good enough
/// \throws Error config_range for a latency budget below 1, no trials or no sensitivity batches; data_format if
///         metric_eval does not accept the float network itself; and all that calibrate() throws
template <Evaluator E>
[[nodiscard]] MixedPrecision mixed_precision(const Prepared& prepared, const exec::OpSet& ops, E& evaluator,
                                             const MixedPrecisionOptions& options = {}, const ProgressSink& sink = {},
                                             const TrialSink& on_trial = {}) {
  if (options.most_cost && !(*options.most_cost >= 1.0)) {
    throw Error(ErrorCode::config_range, {.field = "most_cost"},
                "got " + std::to_string(*options.most_cost) + ", expected at least 1: the cost of the config itself");
  }
  for (const auto& [field, number] :
       {std::pair("sensitivity_batches", options.sensitivity_batches), std::pair("most_trials", options.most_trials)}) {
    if (number == 0) throw Error(ErrorCode::config_range, {.field = field}, "got 0, expected at least 1");
  }
  return detail::MixedPrecisionSearch<E>(prepared, ops, evaluator, options, sink, on_trial).run();
}

}  // namespace amct::flow
