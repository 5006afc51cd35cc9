// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/core/flavour.hpp>
#include <amct/graph/ir.hpp>

#include "layered_model.hpp"

namespace runner {

/// Parts of a network that a user wants float.
struct RegionArguments {
  std::vector<std::string> ends{};  ///< first and last node of each region, one behind the other
  std::vector<std::string> prefixes{};

  /// Adds --skip_region and --skip_prefix to a verb.
  void add_options(CLI::App& verb);

  /// The names of the layers in them, for skip_layers. \param graph  as it was read
  /// \throws amct::Error as graph::layers_between
  [[nodiscard]] std::vector<std::string> layers(const amct::graph::Graph& graph, const LayeredModel& model,
                                                const amct::FlavourRules& rules) const;
};

}  // namespace runner
