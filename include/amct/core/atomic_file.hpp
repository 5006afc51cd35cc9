// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <amct/core/error.hpp>

namespace amct {

/// A file that appears whole or not at all: written under a temporary name beside its target and renamed by commit().
/// Without commit() nothing is left behind. Missing folders are made. The mode is 0640, as AMCT's own files have.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
    std::error_code failure;
    const auto folder = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
    std::filesystem::create_directories(folder, failure);
    temporary_ = target_;
    static std::atomic<unsigned> counter{0};
    temporary_ += ".tmp" + std::to_string(::getpid()) + '_' + std::to_string(counter++);
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    if (!stream_) throw Error(ErrorCode::io_write, {.file = target_.string()}, "cannot be written: " + reason(failure));
    using std::filesystem::perms;
    std::filesystem::permissions(temporary_, perms::owner_read | perms::owner_write | perms::group_read, failure);
  }
  AtomicFile(AtomicFile&& other) noexcept
      : target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})),
        stream_(std::move(other.stream_)) {}
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() {
    std::error_code ignored;
    if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
  }

  [[nodiscard]] std::ostream& stream() noexcept { return stream_; }
  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }

  /// Puts everything on the disk and makes sure that only the renaming is left to do.
  void finish() {
    if (stream_.is_open()) stream_.close();
    if (!stream_) throw Error(ErrorCode::io_write, {.file = target_.string()}, "cannot be written: is the disk full?");
    std::error_code ignored;
    if (std::filesystem::is_directory(target_, ignored)) {
      throw Error(ErrorCode::io_write, {.file = target_.string()}, "cannot be written: it is a folder");
    }
  }
  /// Gives the file its name, replacing an older one.
  void commit() {
    finish();
    std::error_code failure;
    std::filesystem::rename(temporary_, target_, failure);
    if (failure) {
      throw Error(ErrorCode::io_write, {.file = target_.string()}, "cannot be written: " + failure.message());
    }
    temporary_.clear();
  }

 private:
  static std::string reason(const std::error_code& failure) {
    return failure ? failure.message() : std::string("folder missing, read-only or full");
  }

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::ofstream stream_;
};

}  // namespace amct
