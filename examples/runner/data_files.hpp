// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a file of data holds, by its extension.
enum class FileKind : std::uint8_t { bin, npy, npz, image };

/// In upper or lower case; empty for other extensions.
[[nodiscard]] std::optional<FileKind> kind_of(const std::filesystem::path& file);

/// The files of one input.
struct DataFiles {
  std::vector<std::filesystem::path> files{};
  std::vector<std::string> labels{};  ///< of a list file whose lines have them, one a file
  bool is_folder = false;
  FileKind kind = FileKind::bin;  ///< of all files; .bin and .npy may be mixed in a folder

  [[nodiscard]] bool holds_images() const noexcept { return !files.empty() && kind == FileKind::image; }
};

/// "path" or "path label", a line of a list file; the label is the last word.
struct ListedFile {
  std::filesystem::path file{};
  std::string label{};  ///< may be empty
};
/// The lines of a list file that are not empty. Paths are relative to the folder of the list, or to the working one.
/// \throws amct::Error io_read; data_format naming file and line for a path that does not exist
[[nodiscard]] std::vector<ListedFile> read_list(const std::filesystem::path& list);

/// The .bin, .npy, .npz, .png, .jpg and .jpeg files of a folder in bytewise order, one such file, or those of a list
/// file (.txt) in its order.
/// \throws amct::Error io_read for a missing place, data_format for kinds that do not go together
[[nodiscard]] DataFiles find_data_files(const std::filesystem::path& place);

}  // namespace runner
