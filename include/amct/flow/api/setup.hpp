// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/fold_when_saving.hpp>
#include <amct/flow/fx_jobs.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/fx_save.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// A network and a full config made ready for calibration, whatever the family of the config.
struct Setup {
  graph::Graph graph{};                           ///< float, in the form that is calibrated
  std::function<std::vector<LayerJob>()> jobs{};  ///< makes them anew at each call
  CalibrationOptions options{};
  const FlavourRules* rules = nullptr;
  Origins origins{};                    ///< names of changed nodes in the user's file
  bool updates_batch_norm = false;      ///< the config says update_bn
  BatchNormUpdate batch_norm_update{};  ///< AMCT's defaults if the config has none
  std::string config{};                 ///< the full config in the one form that is compared
  std::string config_file{};            ///< for messages
  /// Makes network and factors what is deployed.
  std::function<Recorded(const graph::Graph&, Record)> saved{};
};

/// A network prepared with a full config of the classic family. \throws Error of the config
[[nodiscard]] inline std::shared_ptr<const Prepared> prepare_classic(const Model& model, ConfigValue config,
                                                                     const std::string& config_file,
                                                                     const FlavourRules& rules) {
  auto prepared =
      model.in_file([&] { return prepare(model.graph(), std::move(config), config_file, rules, model.ops()); });
  model.settle(prepared.diagnostics);
  return std::make_shared<const Prepared>(std::move(prepared));
}

/// Its setup. \param balanced  factors of DMQ, see balance_factors(); empty if the config balances nothing
[[nodiscard]] inline Setup classic_setup(std::shared_ptr<const Prepared> prepared, const Record& balanced = {},
                                         const ObserverChoice& choice = {}) {
  Setup setup;
  setup.rules = &rules_of(prepared->flavour);
  setup.graph = prepared->graph;
  setup.options = calibration_options(*prepared);
  setup.origins = prepared->origins;
  setup.updates_batch_norm = prepared->plan.batch_norm_update.has_value();
  setup.batch_norm_update = prepared->plan.batch_norm_update.value_or(BatchNormUpdate{});
  setup.config = json_yaml::json_text(to_classic_json(prepared->plan, *setup.rules));
  setup.config_file = prepared->config_file;
  setup.jobs = [prepared, balanced, choice] { return jobs_of(*prepared, balanced, choice); };
  setup.saved = [prepared](const graph::Graph& graph, Record record) {
    Recorded result{graph, std::move(record), prepared->origins, {}};
    const QuantPlan& plan = prepared->plan;
    if (plan.batch_norm_update && plan.do_fusion) {
      (void)fold_when_saving(result.graph, result.record, rules_of(prepared->flavour), plan.skip_fusion_layers);
    }
    return result;
  };
  return setup;
}

/// A network prepared with a full config of the static graph. \throws Error of the config
[[nodiscard]] inline Setup fx_setup(const Model& model, const ConfigValue& config, const std::string& config_file) {
  const FlavourRules& rules = rules_of(Flavour::hotwheels);
  auto prepared = std::make_shared<PreparedFx>(model.in_file(
      [&] { return prepare_fx_full(model.graph(), config, config_file, rules, model.quantizers(), model.ops()); }));
  model.settle(prepared->diagnostics);
  Setup setup;
  setup.rules = &rules;
  setup.graph = prepared->graph;
  setup.options = calibration_options(*prepared);
  setup.origins = prepared->origins;
  setup.config = json_yaml::json_text(to_fx_json(prepared->plan));
  setup.config_file = config_file;
  setup.jobs = [prepared, model] { return jobs_of(*prepared, model.quantizers()); };
  setup.saved = [prepared](const graph::Graph& graph, Record record) {
    PreparedFx now = *prepared;
    now.graph = graph;
    return fold_fx(now, std::move(record));
  };
  return setup;
}

}  // namespace amct::flow
