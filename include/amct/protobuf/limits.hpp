// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <amct/core/error.hpp>

namespace amct::protobuf {

/// Largest text file (config, record) that is read, in bytes.
inline constexpr std::uintmax_t kMaxTextBytes = std::uintmax_t{1} << 30;
/// Deepest nesting of messages in a text file.
inline constexpr int kMaxTextDepth = 32;

/// Reads a whole file of limited size. \throws Error io_read naming the file
[[nodiscard]] inline std::string read_limited(const std::filesystem::path& path, std::uintmax_t limit) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw Error(ErrorCode::io_read, {.file = path.string()}, failure ? failure.message() : "not a regular file");
  }
  const auto size = std::filesystem::file_size(path, failure);
  if (!failure && size > limit) {
    throw Error(ErrorCode::io_read, {.file = path.string()},
                "has " + std::to_string(size) + " bytes, at most " + std::to_string(limit) + " are read");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read");
  return content;
}

}  // namespace amct::protobuf
