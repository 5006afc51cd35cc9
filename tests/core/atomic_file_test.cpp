// SPDX-License-Identifier: Apache-2.0
#include <amct/core/atomic_file.hpp>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace fs = std::filesystem;

namespace {

using amct::AtomicFile;
using amct::Error;
using amct::ErrorCode;

std::ptrdiff_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

void write_whole(const fs::path& target, std::string_view text) {
  amct::AtomicFile file(target);
  file.stream() << text;
  file.commit();
}

/// The code of the error that writing to `target` gives.
ErrorCode write_error(const fs::path& target) {
  try {
    write_whole(target, "text");
  } catch (const Error& error) {
    CHECK(error.where().file == target.string());
    CHECK_FALSE(error.message().empty());
    return error.code();
  }
  FAIL("no error was thrown");
  return ErrorCode::numeric;
}

}  // namespace

TEST_CASE("a file has its content after commit and nothing else is left") {
  const support::TempDir folder;
  AtomicFile file(folder / "out.txt");
  file.stream() << "half ";
  CHECK_FALSE(fs::exists(folder / "out.txt"));
  file.stream() << "whole";
  file.commit();
  CHECK(file.target() == folder / "out.txt");
  CHECK(support::read_text(folder / "out.txt") == "half whole");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("without commit nothing is left behind") {
  const support::TempDir folder;
  {
    AtomicFile file(folder / "out.txt");
    file.stream() << "text";
    file.stream().flush();
    CHECK(entries(folder.path()) == 1);
  }
  CHECK(entries(folder.path()) == 0);
}

TEST_CASE("without commit an older file stays as it was") {
  const support::TempDir folder;
  support::write_text(folder / "out.txt", "old");
  {
    AtomicFile file(folder / "out.txt");
    file.stream() << "new";
  }
  CHECK(support::read_text(folder / "out.txt") == "old");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("commit replaces an older, longer file") {
  const support::TempDir folder;
  support::write_text(folder / "out.txt", "something much longer");
  write_whole(folder / "out.txt", "new");
  CHECK(support::read_text(folder / "out.txt") == "new");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("the mode is 0640 whatever the file had before") {
  const support::TempDir folder;
  using fs::perms;
  support::write_text(folder / "out.txt", "old");
  fs::permissions(folder / "out.txt", perms::owner_all | perms::others_read);
  write_whole(folder / "out.txt", "new");
  const auto expected = perms::owner_read | perms::owner_write | perms::group_read;
  CHECK((fs::status(folder / "out.txt").permissions() & perms::mask) == expected);
}

TEST_CASE("an empty file and binary content are kept exactly") {
  const support::TempDir folder;
  write_whole(folder / "empty", "");
  CHECK(fs::file_size(folder / "empty") == 0);
  const std::string bytes("a\0\r\n\xff", 5);
  write_whole(folder / "bytes", bytes);
  CHECK(support::read_text(folder / "bytes") == bytes);
}

TEST_CASE("missing folders are made") {
  const support::TempDir folder;
  write_whole(folder / "a/b/c.txt", "text");
  CHECK(support::read_text(folder / "a/b/c.txt") == "text");
}

TEST_CASE("a folder that cannot be made is an io.write error") {
  const support::TempDir folder;
  support::write_text(folder / "file", "text");
  CHECK(write_error(folder / "file/out.txt") == ErrorCode::io_write);
  CHECK(support::read_text(folder / "file") == "text");
}

TEST_CASE("a folder that cannot be written is an io.write error") {
  if (::geteuid() == 0) return;  // root may write everywhere
  const support::TempDir folder;
  fs::create_directory(folder / "locked");
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(write_error(folder / "locked/out.txt") == ErrorCode::io_write);
  fs::permissions(folder / "locked", fs::perms::owner_all);
  CHECK(entries(folder / "locked") == 0);
}

TEST_CASE("a target that is a folder is an io.write error and leaves nothing") {
  const support::TempDir folder;
  fs::create_directory(folder / "out");
  CHECK(write_error(folder / "out") == ErrorCode::io_write);
  CHECK(fs::is_directory(folder / "out"));
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a stream that failed is not committed") {
  const support::TempDir folder;
  support::write_text(folder / "out.txt", "old");
  {
    AtomicFile file(folder / "out.txt");
    file.stream() << "new";
    file.stream().setstate(std::ios::badbit);
    CHECK_THROWS_AS(file.commit(), Error);
  }
  CHECK(support::read_text(folder / "out.txt") == "old");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a moved file is committed once, by its new owner") {
  const support::TempDir folder;
  {
    AtomicFile first(folder / "out.txt");
    first.stream() << "text";
    AtomicFile second = std::move(first);
    second.commit();
  }
  CHECK(support::read_text(folder / "out.txt") == "text");
  CHECK(entries(folder.path()) == 1);
}
