// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>

#include <amct/core/error.hpp>

namespace runner {

/// A folder that lives as long as this.
class TemporaryFolder {
 public:
  /// \throws amct::Error io_write
  TemporaryFolder() {
    std::error_code failure;
    std::string pattern = (std::filesystem::temp_directory_path(failure) / "amct_XXXXXX").string();
    if (failure) {
      throw amct::Error(amct::ErrorCode::io_write, {.field = "TMPDIR"},
                        "names no folder for temporary files: " + failure.message());
    }
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw amct::Error(amct::ErrorCode::io_write, {.file = pattern}, "cannot be made");
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace runner
