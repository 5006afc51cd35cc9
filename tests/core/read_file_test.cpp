// SPDX-License-Identifier: Apache-2.0
#include <amct/core/read_file.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

const std::filesystem::path kFolder = std::filesystem::temp_directory_path() / "amct_read_file_test";

std::string reason(const std::filesystem::path& path, std::uintmax_t limit) {
  try {
    static_cast<void>(amct::read_file(path, limit));
  } catch (const amct::Error& error) {
    CHECK(error.code() == amct::ErrorCode::io_read);
    CHECK(error.where().file == path.string());
    return error.message();
  }
  return "read";
}

}  // namespace

TEST_CASE("a file is read whole if its size is allowed") {
  std::filesystem::create_directories(kFolder);
  const std::string content("a\r\n\0\xFF", 5);
  std::ofstream(kFolder / "x", std::ios::binary) << content;
  std::ofstream(kFolder / "empty");
  CHECK(amct::read_file(kFolder / "x", 5) == content);
  CHECK(amct::read_file(kFolder / "empty", 0).empty());
  CHECK(reason(kFolder / "x", 4) == "has 5 bytes, at most 4 are read");
  std::filesystem::remove_all(kFolder);
}

TEST_CASE("what is no file is refused") {
  std::filesystem::create_directories(kFolder);
  CHECK(reason(kFolder, 100) == "not a regular file");
  CHECK(reason(kFolder / "absent", 100).find("No such file") != std::string::npos);
  CHECK(reason("/dev/zero", 100) == "not a regular file");
  std::filesystem::remove_all(kFolder);
}
