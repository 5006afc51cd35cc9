// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <amct/core/progress.hpp>
#include <amct/protobuf/checkpoint_data.hpp>

#include "calibration_checkpoint.hpp"
#include "data_folder.hpp"
#include "ptq_plan.hpp"
#include "ranks.hpp"

namespace runner {

/// Part `index` of `parts` of a calibration, from 0.
struct Shard {
  std::size_t index = 0;
  std::size_t parts = 1;
};

/// "2/3" as a shard. \throws amct::Error config_range
[[nodiscard]] Shard parse_shard(const std::string& text);

/// How a calibration is run.
struct CalibrationWishes {
  CalibrationCheckpoint* checkpoint = nullptr;  ///< kept up to date if there is one
  bool resume = false;                          ///< go on from what it holds
  std::optional<Shard> shard{};                 ///< observe this part only
};

/// Calibrates a network: balances, updates BatchNormalization if the config wants it, quantizes weights, shows the
/// batches to the observers, collects what other ranks saw, and searches for the factors. Ctrl-C is heeded between
/// batches; what was seen goes to the checkpoint first. \return the state, with the factors; empty where there is
/// nothing to go on with: of a shard, whose checkpoint is
///         written, and on ranks but the first
/// \throws Interrupted, and amct::Error of data and calibration
[[nodiscard]] std::optional<amct::protobuf::CheckpointSet> run_calibration(PtqPlan& plan, const DataFolder& data,
                                                                           const CalibrationWishes& wishes,
                                                                           const amct::ProgressSink& sink);

}  // namespace runner
