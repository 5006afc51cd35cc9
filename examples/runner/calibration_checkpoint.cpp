// SPDX-License-Identifier: Apache-2.0
#include "calibration_checkpoint.hpp"

#include <utility>

#include <amct/core/error.hpp>
#include <amct/flow/api/same_origin.hpp>
#include <amct/protobuf/checkpoint.hpp>

namespace runner {

CalibrationCheckpoint::CalibrationCheckpoint(std::filesystem::path file, amct::protobuf::Checkpoint header)
    : file_(std::move(file)), content_(std::move(header)) {}

std::optional<amct::protobuf::CheckpointSet> CalibrationCheckpoint::resume() const {
  if (!std::filesystem::exists(file_)) return std::nullopt;
  auto kept = amct::protobuf::read_checkpoint(file_);
  amct::require_same_origin(kept, file_.string(), content_.model_hash, content_.model_file, content_.config,
                            content_.config_file);
  if (kept.batch_num != content_.batch_num) {
    throw amct::Error(amct::ErrorCode::record_value, {.file = file_.string(), .field = "batch_num"},
                      "is of a calibration with " + std::to_string(kept.batch_num) + " batches, this one has " +
                          std::to_string(content_.batch_num));
  }
  return amct::protobuf::select_set(kept, std::nullopt, file_.string());
}

void CalibrationCheckpoint::save(const amct::protobuf::CheckpointSet& set) {
  content_.sets = {set};
  amct::protobuf::write_checkpoint(file_, content_);
  content_.sets.clear();
  saved_ = Clock::now();
}

bool CalibrationCheckpoint::due() const {
  constexpr auto kPause = std::chrono::seconds(30);
  return Clock::now() - saved_ >= kPause;
}

std::string CalibrationCheckpoint::advice() const {
  return "what was done is kept in " + file_.string() + ": run the same command with --resume to go on";
}

}  // namespace runner
