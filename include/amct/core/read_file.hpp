// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <amct/core/error.hpp>

namespace amct {

/// Reads a whole file of at most `limit` bytes. \throws Error io_read naming the file
[[nodiscard]] inline std::string read_file(const std::filesystem::path& path, std::uintmax_t limit) {
  const auto refuse = [&](const std::string& reason) -> Error {
    return {ErrorCode::io_read, {.file = path.string()}, reason};
  };
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw refuse(failure ? failure.message() : "not a regular file");
  }
  const auto size = std::filesystem::file_size(path, failure);
  if (failure) throw refuse(failure.message());
  if (size > limit) {
    throw refuse("has " + std::to_string(size) + " bytes, at most " + std::to_string(limit) + " are read");
  }
  std::string content(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(content.data(), static_cast<std::streamsize>(size))) throw refuse("cannot be read");
  return content;
}

}  // namespace amct
