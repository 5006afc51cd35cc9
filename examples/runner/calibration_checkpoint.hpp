// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <amct/protobuf/checkpoint_data.hpp>

namespace runner {

/// Keeps the checkpoint of a calibration up to date while it goes on.
class CalibrationCheckpoint {
 public:
  /// \param file    such as out/m_calibration.ckpt
  /// \param header  all of the checkpoint but its sets
  CalibrationCheckpoint(std::filesystem::path file, amct::protobuf::Checkpoint header);

  /// What an earlier run left in the file, for `--resume`; empty if there is no file.
  /// \throws amct::Error record_value if it was made with another network, config or number of batches; record_syntax
  /// if
  ///         it is damaged
  [[nodiscard]] std::optional<amct::protobuf::CheckpointSet> resume() const;

  /// Writes the file. \throws amct::Error io_write
  void save(const amct::protobuf::CheckpointSet& set);

  /// Whether the last save is so long ago that an interruption would hurt.
  [[nodiscard]] bool due() const;

  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

  /// What to tell somebody who interrupts the run.
  [[nodiscard]] std::string advice() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::filesystem::path file_;
  amct::protobuf::Checkpoint content_;
  Clock::time_point saved_ = Clock::now();
};

}  // namespace runner
