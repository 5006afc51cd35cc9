// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <amct/flow/calibration_state.hpp>
#include <amct/record/record.hpp>

namespace amct::protobuf {

/// The last phase of a calibration that is finished.
enum class CheckpointPhase : std::uint8_t {
  weights,    ///< weights are quantized, and some batches may have been seen
  calibrate,  ///< all batches were seen
  search,     ///< all factors are found
};

/// "weights", "calibrate" or "search".
[[nodiscard]] constexpr const char* name_of(CheckpointPhase phase) noexcept {
  switch (phase) {
    case CheckpointPhase::weights: return "weights";
    case CheckpointPhase::calibrate: return "calibrate";
    case CheckpointPhase::search: return "search";
  }
  return "unknown";
}
/// The phase of a name; empty if there is none.
[[nodiscard]] constexpr std::optional<CheckpointPhase> phase_of(std::string_view name) noexcept {
  for (const auto phase : {CheckpointPhase::weights, CheckpointPhase::calibrate, CheckpointPhase::search}) {
    if (name == name_of(phase)) return phase;
  }
  return std::nullopt;
}

/// One calibration of a checkpoint.
struct CheckpointSet {
  std::string key{};  ///< by which it is chosen, AMCT's state_dict_name
  CheckpointPhase finished = CheckpointPhase::weights;
  std::uint32_t first_batch = 0;   ///< of a shard: the batches before it belong to other shards
  flow::CalibrationState state{};  ///< what was seen from there on
  Record result{};                 ///< all factors, once they are found
  /// The same as a record file has them; empty if that is `result`. The static graph folds BatchNormalization when it
  /// saves, which changes factors.
  Record saved{};

  friend bool operator==(const CheckpointSet&, const CheckpointSet&) = default;
};

/// What a checkpoint holds. Model and config are not in it as files: their hashes say whether others fit, and the
/// config's text whatever is needed to go on.
struct Checkpoint {
  std::string flavour = "pytorch";
  std::string model_file{};   ///< for messages
  std::string model_hash{};   ///< see model_hash()
  std::string config_file{};  ///< for messages; empty = AMCT's defaults
  std::string config{};       ///< the full config as JSON
  std::uint32_t batch_num = 1;
  std::vector<CheckpointSet> sets{};

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

}  // namespace amct::protobuf
