// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/quantize/registry.hpp>

#include "layered_model.hpp"

namespace runner {

/// What a user changes in a config by hand, layer by layer.
struct EditArguments {
  std::vector<std::string> skip{};         ///< layers, or patterns
  std::vector<std::string> bits{};         ///< "layer=12"
  std::vector<std::string> weight_bits{};  ///< "layer=4"
  bool cube_only = false;

  /// Adds --skip, --bits, --weight_bits and --cube_only to a verb.
  void add_options(CLI::App& verb);
  [[nodiscard]] bool any() const noexcept {
    return cube_only || !skip.empty() || !bits.empty() || !weight_bits.empty();
  }
};

/// The same by names of layers as configs have them.
struct PlanEdits {
  std::set<std::string> skip{};
  std::map<std::string, int> bits{};
  std::map<std::string, int> weight_bits{};
  bool cube_only = false;
};

/// \throws amct::Error config_layer for names that mean no layer, config_range for a width that is no number
[[nodiscard]] PlanEdits resolve_edits(const EditArguments& arguments, const LayeredModel& model);

/// Changes the plan of a prepared network.
/// \throws amct::Error config_layer for a layer of the matrix unit that has to be quantized, and for bits of a layer
/// that
///         stays float or has no weights; config_range for widths that the layer cannot have
void apply_edits(const PlanEdits& edits, amct::flow::Prepared& prepared);
void apply_edits(const PlanEdits& edits, amct::flow::PreparedFx& prepared, const amct::QuantizerRegistry& registry);

}  // namespace runner
