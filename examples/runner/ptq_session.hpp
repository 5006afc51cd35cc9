// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data_arguments.hpp"
#include "model_formats.hpp"
#include "plugin.hpp"
#include "ptq_plan.hpp"

namespace runner {

/// One post-training quantization, as the command line asks for it.
struct PtqArguments {
  std::string model{}, save_path{};
  DataArguments data{};
  PlanWishes wishes{};
  FormatArguments formats{};
  PluginArguments plugins{};
  std::string degenerate{};  ///< "amct" or "bias_aware"; empty: what the recipe says, else amct
  bool notes = false;        ///< also the full config, the checkpoint and drawings
  std::string notes_path{};  ///< where full config and drawings go, as save_path; empty: to save_path
  bool resume = false;       ///< go on from the checkpoint
  std::string shard{};       ///< "K/N": observe this part of the batches only, and keep it
};

/// Runs it: plan, calibration, files, and a summary on the terminal. Files appear whole or not at all, and replace
/// those of earlier runs. \return the files written, none on ranks but the first \throws Interrupted, and amct::Error
/// of whatever is wrong
std::vector<std::filesystem::path> run_ptq(const PtqArguments& arguments);

}  // namespace runner
