// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "metric_command.hpp"
#include "model_formats.hpp"

namespace runner {

/// AMCT's `--evaluator` of the verb calibration: a program that gives the data and measures networks.
struct EvaluatorArguments {
  MetricCommand command{};
  std::optional<double> budget{};  ///< loss of the metric that is accepted; empty: any

  /// Adds --evaluator, its timeout and --budget to a verb.
  void add_options(CLI::App& verb);
};

/// A calibration with a program instead of data folders: AMCT's accuracy-based automatic calibration if a budget is
/// stated, else all layers are quantized and the metrics of the float and the quantized network shown.
/// \throws amct::Error of files, program and calibration; CLI::RuntimeError if no quantized network satisfies
void calibrate_with_evaluator(const EvaluatorArguments& evaluator, const std::string& model,
                              const std::string& save_path, const std::string& config, const std::string& flavour,
                              std::optional<std::uint32_t> batch_num, const FormatArguments& formats);

/// Adds `amct auto-calibrate`: finds the precisions that keep a network's accuracy, or fit a cost.
void add_auto_calibration(CLI::App& app);

}  // namespace runner
