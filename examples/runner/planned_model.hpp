// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/core/flavour.hpp>
#include <amct/flow/planned_network.hpp>
#include <amct/graph/ir.hpp>
#include <amct/record/record.hpp>

#include "plugin.hpp"
#include "regions.hpp"

namespace runner {

/// A model and a config, as the command line gives them to verbs that need no data.
struct PlanArguments {
  std::string model{}, config{}, recipe{}, input_shape{}, flavour = "pytorch";
  RegionArguments regions{};
  PluginArguments plugins{};

  /// Adds the options but for the model to a verb.
  void add_options(CLI::App& verb);
};

/// A model and what a config makes of it.
class PlannedModel {
 public:
  /// \throws amct::Error of the files
  explicit PlannedModel(const PlanArguments& arguments);

  [[nodiscard]] const amct::graph::Graph& graph() const noexcept { return graph_; }  ///< as it was read
  [[nodiscard]] const amct::FlavourRules& rules() const noexcept { return rules_; }
  [[nodiscard]] const amct::flow::AnyConfig& config() const noexcept { return config_; }
  [[nodiscard]] amct::flow::PlannedNetwork& network() noexcept { return network_; }
  [[nodiscard]] const amct::flow::PlannedNetwork& network() const noexcept { return network_; }

  /// What the config makes of another form of the model, in which skipped layers may be gone.
  /// \throws amct::Error if it does not fit
  [[nodiscard]] amct::flow::PlannedNetwork plan(amct::graph::Graph graph) const;

 private:
  const amct::FlavourRules& rules_;
  std::string model_;
  amct::graph::Graph graph_;
  amct::QuantizerRegistry registry_;
  amct::flow::AnyConfig config_;
  std::vector<std::string> skip_;
  amct::flow::PlannedNetwork network_;
};

/// All layers of a record file, in any dialect. \throws amct::Error of the file
[[nodiscard]] amct::Record read_whole_record(const std::string& file);

/// The full config of a plan, as JSON text.
[[nodiscard]] std::string full_config_text(const amct::flow::PlannedNetwork& network);

}  // namespace runner
