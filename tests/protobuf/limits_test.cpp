// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/limits.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::protobuf::read_limited;

/// The message with which reading is refused as io.read.
std::string refusal(const std::filesystem::path& path, std::uintmax_t limit) {
  try {
    (void)read_limited(path, limit);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::io_read);
    CHECK(error.where().file == path.string());
    return error.message();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a file of exactly the largest size is read whole") {
  const support::TempDir folder;
  const std::string content("a\0\r\n\xff", 5);
  support::write_text(folder / "x", content);
  CHECK(read_limited(folder / "x", 5) == content);
  CHECK(refusal(folder / "x", 4) == "has 5 bytes, at most 4 are read");
}

TEST_CASE("an empty file is empty text") {
  const support::TempDir folder;
  support::write_text(folder / "x", "");
  CHECK(read_limited(folder / "x", 0).empty());
}

TEST_CASE("a missing file and a folder are refused") {
  const support::TempDir folder;
  CHECK(refusal(folder / "none", 100) != "accepted");
  CHECK(refusal(folder.path(), 100) == "not a regular file");
  CHECK(refusal("", 100) != "accepted");
}

TEST_CASE("texts of a gigabyte are the limit") {
  CHECK(amct::protobuf::kMaxTextBytes == 1073741824U);
  CHECK(amct::protobuf::kMaxTextDepth == 32);
}
