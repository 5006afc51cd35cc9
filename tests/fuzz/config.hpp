// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/config/value.hpp>
#include <amct/core/flavour.hpp>

/// Checks of all configs against a small network. They may find anything, but must come back; a plan without errors is
/// written as a full config, which is read again without errors and written the same.
namespace fuzz {

void check_full_config(const amct::ConfigValue& value, const amct::FlavourRules& rules);
void check_easy_calibration(const amct::ConfigValue& value, const amct::FlavourRules& rules);
void check_easy_retrain(const amct::ConfigValue& value, const amct::FlavourRules& rules);
void check_easy_distill(const amct::ConfigValue& value, const amct::FlavourRules& rules);
void check_easy_kv_cache(const amct::ConfigValue& value, const amct::FlavourRules& rules);
void check_om(const amct::ConfigValue& value);
void check_auto_prune(const amct::ConfigValue& value);

/// A config of the static graph, easy or full.
void check_fx(const amct::ConfigValue& value, bool easy);

}  // namespace fuzz
