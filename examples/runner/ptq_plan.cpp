// SPDX-License-Identifier: Apache-2.0
#include "ptq_plan.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

#include <amct/config/classic_json.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/core/error.hpp>
#include <amct/flow/balance.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/fold_when_saving.hpp>
#include <amct/flow/fx_jobs.hpp>
#include <amct/flow/fx_save.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>

#include "builtin_ops.hpp"
#include "definition.hpp"
#include "easy_config_file.hpp"
#include "layered_model.hpp"
#include "recipes.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::FlavourRules;
using amct::flow::Prepared;
using amct::flow::PreparedFx;

/// What comes of the wishes before the network is brought into the form that is calibrated.
struct Start {
  const FlavourRules& rules;
  const AvailableData& data;
  Definition definition{};
  std::string full_config{};
  amct::CreateArguments stated{};
  bool allow_fewer_batches = false;
  std::optional<PlanEdits> edits{};
};

/// AMCT ignores arguments beside a config.
void ignore_arguments(amct::CreateArguments& stated, const std::string& file) {
  const auto warn = [&](bool given, const char* name) {
    if (given) spdlog::warn("--{} is ignored, because a config is given: state {} in {}", name, name, file);
  };
  warn(stated.skip_layers.has_value(), "skip_layers");
  warn(stated.batch_num.has_value(), "batch_num");
  warn(stated.activation_offset.has_value(), "activation_offset");
  stated = {};
}

Start start_of(const amct::graph::Graph& graph, const PlanWishes& wishes, const AvailableData& data) {
  const FlavourRules& rules = amct::rules_of(*amct::flavour_named(wishes.flavour));
  Start start{.rules = rules,
              .data = data,
              .definition = Definition(wishes.definition),
              .full_config = wishes.full_config,
              .stated = wishes.stated,
              .allow_fewer_batches = wishes.allow_fewer_batches};
  const bool has_regions = !wishes.regions.ends.empty() || !wishes.regions.prefixes.empty();
  if (!wishes.recipe.empty() || wishes.edits.any() || has_regions) {
    const LayeredModel model(graph, rules);
    if (!wishes.recipe.empty()) {
      start.definition = {find_recipe(wishes.recipe),
                          {.rules = rules, .model = &model, .batch_size = data.batch_size, .batches = data.batches}};
    }
    PlanEdits edits = resolve_edits(wishes.edits, model);
    for (auto& layer : wishes.regions.layers(graph, model, rules)) edits.skip.insert(std::move(layer));
    start.edits = std::move(edits);
  }
  if (start.definition.is_file()) ignore_arguments(start.stated, start.definition.file());
  if (!start.full_config.empty()) ignore_arguments(start.stated, start.full_config);
  return start;
}

/// The number of batches to calibrate with. \param wanted  what somebody asked for; none: all there are
std::uint32_t decide_batch_num(const Start& start, std::optional<std::uint32_t> wanted) {
  const std::uint32_t available = start.data.batches;
  if (wanted && *wanted > available && available > 0 && start.allow_fewer_batches) {
    spdlog::warn("{}: found {} batches, fewer than the {} asked for; using them all", start.data.place, available,
                 *wanted);
    return available;
  }
  if (!wanted) spdlog::info("no batch_num is stated: calibrating with all {} batches", available);
  const std::uint32_t count = wanted.value_or(available);
  amct::flow::require_batches(available, count, start.data.place);
  return count;
}

// The classic families.

Prepared prepare_easy(amct::graph::Graph graph, Start& start) {
  amct::Diagnostics out;
  const auto definition = start.definition.easy_config(start.rules, start.stated, out);
  amct::EasyConfig config = amct::effective_config(start.stated, definition, out);
  settle(out);
  if (config.om_mapping_file) {
    throw amct::Error(amct::ErrorCode::config_unsupported, {.file = config.file, .field = "om_config"},
                      "is followed by amct config create; calibrate with the config.json that it writes");
  }
  config.batch_num = decide_batch_num(start, config.batch_num);
  return amct::flow::prepare(std::move(graph), std::move(config), builtin_ops(), start.rules);
}

Prepared prepare_full(amct::graph::Graph graph, const Start& start) {
  Prepared prepared = amct::flow::prepare(std::move(graph), amct::json_yaml::read_json(start.full_config),
                                          start.full_config, start.rules, builtin_ops());
  prepared.plan.batch_num = decide_batch_num(start, prepared.plan.batch_num);
  return prepared;
}

Prepared prepare_classic(amct::graph::Graph graph, Start& start) {
  Prepared prepared =
      start.full_config.empty() ? prepare_easy(std::move(graph), start) : prepare_full(std::move(graph), start);
  if (start.edits) apply_edits(*start.edits, prepared);
  prepared.diagnostics.throw_if_errors();
  const auto findings = amct::flow::check_classic_network(prepared);
  show_warnings(findings);
  findings.throw_if_errors();
  return prepared;
}

// The static graph.

/// Lets no observer want more batches than there are.
void lower_batch_num(amct::FxPlan& plan, std::uint32_t most) {
  for (auto& layer : plan.layers) {
    for (auto& activation : layer.activations) {
      const auto* wanted = activation.arg("batch_num");
      const bool more = wanted != nullptr && wanted->integer() != nullptr && *wanted->integer() > most;
      if (more) activation.set("batch_num", static_cast<std::int64_t>(most));
    }
  }
}

PreparedFx prepare_static(amct::graph::Graph graph, const Start& start, const amct::QuantizerRegistry& registry) {
  const bool is_full = !start.full_config.empty();
  amct::Diagnostics out;
  const ConfigValue value =
      is_full ? amct::json_yaml::read_json(start.full_config) : start.definition.yaml(start.stated, out);
  settle(out);
  const amct::flow::OmMapping mapping{.read = [](const auto& path) { return amct::json_yaml::read_json(path); }};
  PreparedFx prepared = is_full ? amct::flow::prepare_fx_full(std::move(graph), value, start.full_config, start.rules,
                                                              registry, builtin_ops())
                                : amct::flow::prepare_fx(std::move(graph), value, start.definition.file(), start.rules,
                                                         registry, builtin_ops(), mapping);
  const bool stated = is_full || states_batch_num(value);
  const auto wanted =
      stated ? std::optional(amct::flow::calibration_options(prepared).batch_num) : start.stated.batch_num;
  const std::uint32_t count = decide_batch_num(start, wanted);
  if (!stated) set_batch_num(prepared.plan, count);
  lower_batch_num(prepared.plan, count);
  if (start.edits) apply_edits(*start.edits, prepared, registry);
  return prepared;
}

}  // namespace

PtqPlan::PtqPlan(amct::graph::Graph graph, const PlanWishes& wishes, const AvailableData& data,
                 amct::QuantizerRegistry registry)
    : registry_(std::move(registry)) {
  Start start = start_of(graph, wishes, data);
  rules_ = &start.rules;
  bias_aware_ = start.definition.settings() != nullptr && start.definition.settings()->bias_aware;
  if (rules_->config_family == amct::ConfigFamily::fx) {
    prepared_ = prepare_static(std::move(graph), start, registry_);
  } else {
    prepared_ = prepare_classic(std::move(graph), start);
  }
}

const amct::graph::Graph& PtqPlan::graph() const noexcept {
  return *std::visit([](const auto& prepared) { return &prepared.graph; }, prepared_);
}

const std::vector<amct::graph::FloatLayer>& PtqPlan::left_float() const noexcept {
  return *std::visit([](const auto& prepared) { return &prepared.left_float; }, prepared_);
}

const amct::Diagnostics& PtqPlan::diagnostics() const noexcept {
  return *std::visit([](const auto& prepared) { return &prepared.diagnostics; }, prepared_);
}

const std::string& PtqPlan::config_file() const noexcept {
  return *std::visit([](const auto& prepared) { return &prepared.config_file; }, prepared_);
}

std::size_t PtqPlan::fused() const noexcept {
  const auto* classic = std::get_if<Prepared>(&prepared_);
  return classic != nullptr ? classic->fused.size() : 0;
}

std::size_t PtqPlan::quantized() const noexcept {
  std::size_t count = 0;
  if (const auto* classic = std::get_if<Prepared>(&prepared_)) {
    for (const auto& layer : classic->plan.layers) count += layer.enabled ? 1U : 0U;
  } else {
    for (const auto& layer : std::get<PreparedFx>(prepared_).plan.layers) count += layer.quant_enable ? 1U : 0U;
  }
  return count;
}

std::string PtqPlan::type_of(const std::string& layer) const {
  const auto type = [&](const auto& plan) {
    const auto* found = plan.find(layer);
    return found == nullptr ? std::string()
                            : amct::type_name(amct::LayerInfo{.kind = found->kind, .op_type = found->op_type});
  };
  return std::visit([&](const auto& prepared) { return type(prepared.plan); }, prepared_);
}

std::string PtqPlan::config_text() const {
  if (const auto* classic = std::get_if<Prepared>(&prepared_)) {
    return amct::json_yaml::json_text(amct::to_classic_json(classic->plan, *rules_));
  }
  return amct::json_yaml::json_text(amct::to_fx_json(std::get<PreparedFx>(prepared_).plan));
}

std::optional<amct::BatchNormUpdate> PtqPlan::batch_norm_update() const {
  const auto* classic = std::get_if<Prepared>(&prepared_);
  return classic != nullptr ? classic->plan.batch_norm_update : std::nullopt;
}

amct::flow::CalibrationOptions PtqPlan::options() const {
  return std::visit([](const auto& prepared) { return amct::flow::calibration_options(prepared); }, prepared_);
}

bool PtqPlan::needs_balance() const {
  const auto* classic = std::get_if<Prepared>(&prepared_);
  return classic != nullptr && amct::flow::needs_balance(classic->plan);
}

amct::Record PtqPlan::balance(const std::vector<amct::Tensor>& batch) const {
  return amct::flow::balance_factors(std::get<Prepared>(prepared_), builtin_ops(), batch);
}

std::vector<amct::flow::LayerJob> PtqPlan::jobs(const amct::Record& balanced,
                                                const amct::flow::ObserverChoice& choice) const {
  if (const auto* classic = std::get_if<Prepared>(&prepared_)) {
    return amct::flow::jobs_of(*classic, balanced, choice);
  }
  return amct::flow::jobs_of(std::get<PreparedFx>(prepared_), registry_, choice);
}

amct::flow::Recorded PtqPlan::finished(amct::Record record) const {
  if (const auto* fx = std::get_if<PreparedFx>(&prepared_)) return amct::flow::fold_fx(*fx, std::move(record));
  const auto& classic = std::get<Prepared>(prepared_);
  amct::flow::Recorded result{classic.graph, std::move(record), classic.origins, {}};
  if (!classic.plan.batch_norm_update || !classic.plan.do_fusion) return result;
  const auto report =
      amct::flow::fold_when_saving(result.graph, result.record, *rules_, classic.plan.skip_fusion_layers);
  amct::flow::detail::note_origins(report, result.origins);
  return result;
}

}  // namespace runner
