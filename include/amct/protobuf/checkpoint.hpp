// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/flow/calibration_state.hpp>
#include <amct/protobuf/checkpoint_reader.hpp>
#include <amct/protobuf/checkpoint_writer.hpp>
#include <amct/record/record.hpp>

/// \file
/// `<prefix>_calibration.ckpt`: a calibration that is kept, to go on later, to be merged with others, or to be used in
/// place of a record. docs/checkpoint.md describes the file, proto/amct/proto/checkpoint.proto its layout.

namespace amct::protobuf {

/// The checkpoint beside the other files of a network: "out/m" gives out/m_calibration.ckpt.
[[nodiscard]] inline std::filesystem::path checkpoint_path(const std::string& save_path) {
  const bool no_prefix = save_path.empty() || save_path.back() == '/';
  return save_path + (no_prefix ? "calibration.ckpt" : "_calibration.ckpt");
}

/// Whether a file begins as a checkpoint does. False for what cannot be read.
[[nodiscard]] inline bool is_checkpoint(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  std::ifstream stream(path, std::ios::binary);
  std::string start(detail::kCheckpointStart.size(), '\0');
  return stream.read(start.data(), static_cast<std::streamsize>(start.size())) && start == detail::kCheckpointStart;
}

/// Writes the file whole or not at all. \throws Error io_write; record_value naming a layer whose texts are no UTF-8
inline void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  AtomicFile file(path);
  write_checkpoint(file.stream(), checkpoint);
  file.commit();
}

/// Reads and checks a whole file. Memory is in proportion to the file.
/// \throws Error io_read; record_syntax for a file that is damaged, cut off, of a newer version, or none of these files
[[nodiscard]] inline Checkpoint read_checkpoint(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw Error(ErrorCode::io_read, {.file = path.string()}, failure ? failure.message() : "not a regular file");
  }
  std::ifstream stream(path, std::ios::binary);
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  if (!stream || failure) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be opened");
  return read_checkpoint(stream, bytes, path.string());
}

/// The same bytes as in a file, for sending states between processes.
[[nodiscard]] inline std::string checkpoint_bytes(const Checkpoint& checkpoint) {
  std::ostringstream stream;
  write_checkpoint(stream, checkpoint);
  return std::move(stream).str();
}
/// \param name  for messages \throws Error as read_checkpoint()
[[nodiscard]] inline Checkpoint parse_checkpoint(std::string bytes, const std::string& name) {
  const std::uintmax_t size = bytes.size();
  std::istringstream stream(std::move(bytes));
  return read_checkpoint(stream, size, name);
}

/// The weight set of a key.
/// \param state_dict_name  AMCT's name for it; without one the only set there is
/// \throws Error record_value listing the keys there are
[[nodiscard]] inline const CheckpointSet& select_set(const Checkpoint& checkpoint,
                                                     const std::optional<std::string>& state_dict_name,
                                                     const std::string& file) {
  if (!state_dict_name && checkpoint.sets.size() == 1) return checkpoint.sets.front();
  const auto found = std::find_if(checkpoint.sets.begin(), checkpoint.sets.end(),
                                  [&](const auto& set) { return set.key == state_dict_name; });
  if (state_dict_name && found != checkpoint.sets.end()) return *found;
  std::string keys;
  for (const auto& set : checkpoint.sets) keys += (keys.empty() ? "\"" : ", \"") + set.key + '"';
  throw Error(ErrorCode::record_value, {.file = file, .field = "state_dict_name"},
              (state_dict_name ? "got \"" + *state_dict_name + '"' : std::string("is not given")) +
                  ", expected one of: " + keys);
}

/// The factors of a set whose calibration is finished, as a record file has them.
/// \throws Error data_too_few if it is not, saying how many batches it has seen
[[nodiscard]] inline const Record& finished_record(const Checkpoint& checkpoint, const CheckpointSet& set,
                                                   const std::string& file) {
  if (set.finished == CheckpointPhase::search) return set.saved.empty() ? set.result : set.saved;
  throw Error(ErrorCode::data_too_few, {.file = file, .field = "batch_num"},
              "the calibration is not finished: " + std::to_string(set.state.batches) + " of " +
                  std::to_string(checkpoint.batch_num) +
                  " batches were seen, and no factors were searched; go on with amct restore");
}

}  // namespace amct::protobuf
