// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <amct/core/flavour.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/fold_when_saving.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// What a calibrated static graph becomes when it is saved: BatchNormalization folded, with the scales of the weights
/// changed accordingly, and the record checked against the network. The result is ready for deploy() with
/// deploy_options(); its record is the one to write. AMCT's counterpart is the first half of save_quant_model_fx.
/// \param prepared  its graph may have got new statistics (BatchNormUpdater::write_to)
/// \param record    what the calibration found
/// \throws Error record_value, numeric for factors that the deployed network cannot have
[[nodiscard]] inline Recorded fold_fx(const PreparedFx& prepared, Record record) {
  const FlavourRules& rules = rules_of(prepared.flavour);
  Recorded result{.graph = prepared.graph, .record = std::move(record), .origins = prepared.origins, .diagnostics = {}};
  if (rules.fold.when_saving) {
    const auto report = fold_when_saving(result.graph, result.record, rules);
    detail::note_origins(report, result.origins);
  }
  detail::check_against(result.record, rules, result.graph, result.diagnostics);
  result.diagnostics.throw_if_errors();
  return result;
}

}  // namespace amct::flow
