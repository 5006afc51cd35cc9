// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "metric_command.hpp"
#include "network.hpp"

namespace runner {

/// Networks to evaluate side by side.
struct EvalArguments {
  std::vector<std::string> models{};  ///< at least one; the record belongs to the first
  NetworkArguments network{};         ///< without a model
  std::string modes{};                ///< "float,real_quant"; empty: those that the files allow
  std::string labels{};               ///< file with class numbers; empty: those of the list of files
  std::string against{};              ///< mode of the first model, or a model file, that outputs are compared with
  std::string output{};               ///< with the scores; empty: the first
  std::string json{};                 ///< file for the results; empty: none
  MetricCommand metric{};
};

/// Evaluates them and prints a table. \throws amct::Error of the files, data_format if there is nothing to compare with
void evaluate(const EvalArguments& arguments);

/// Adds `amct eval`, also called evaluate: how good networks are in the modes they can run in, side by side: accuracy
/// against labels, agreement with a reference, a metric of the user's.
void add_eval(CLI::App& app);

}  // namespace runner
