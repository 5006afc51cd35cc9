// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include <amct/core/buffer.hpp>

namespace amct::exec {

/// Recycles the memory of tensors that nobody reads any more, so that a run of a network takes new memory from the
/// system only where no dead tensor has room. What is kept unused never makes the whole larger than 1.25 times the
/// largest live set so far.
///
/// For one thread. take() and give() are O(log buffers kept).
class Arena {
 public:
  /// A buffer of at least `bytes`, at most an eighth larger than needed. \throws std::bad_alloc
  [[nodiscard]] Buffer take(std::size_t bytes) {
    const std::size_t wanted = Buffer::rounded(bytes);
    const auto found = unused_.lower_bound(wanted);
    if (found != unused_.end() && found->first <= wanted + wanted / 8) {
      Buffer buffer = std::move(found->second);
      unused_.erase(found);
      unused_bytes_ -= buffer.capacity();
      use(buffer.capacity());
      return buffer;
    }
    use(wanted);
    return Buffer(wanted);
  }

  /// Takes a buffer back for later use. It need not come from this arena.
  void give(Buffer buffer) {
    const std::size_t size = buffer.capacity();
    if (size == 0) return;
    live_bytes_ -= std::min(size, live_bytes_);
    unused_bytes_ += size;
    unused_.emplace(size, std::move(buffer));
    trim();
  }

  /// Says that a buffer from take() has left for good, such as an output of the network.
  void forget(std::size_t capacity) noexcept { live_bytes_ -= std::min(capacity, live_bytes_); }

  /// Largest number of bytes that were in use at once.
  [[nodiscard]] std::size_t peak_live() const noexcept { return peak_live_; }
  /// Largest number of bytes that were held at once, in use or not.
  [[nodiscard]] std::size_t peak_held() const noexcept { return peak_held_; }

 private:
  void use(std::size_t bytes) noexcept {
    live_bytes_ += bytes;
    peak_live_ = std::max(peak_live_, live_bytes_);
    trim();
    peak_held_ = std::max(peak_held_, live_bytes_ + unused_bytes_);
  }

  /// Frees unused buffers, the largest first, until the whole is small enough.
  void trim() noexcept {
    while (!unused_.empty() && live_bytes_ + unused_bytes_ > peak_live_ + peak_live_ / 4) {
      const auto largest = std::prev(unused_.end());
      unused_bytes_ -= largest->first;
      unused_.erase(largest);
    }
  }

  std::multimap<std::size_t, Buffer> unused_;  // by capacity
  std::size_t unused_bytes_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t peak_live_ = 0;
  std::size_t peak_held_ = 0;
};

}  // namespace amct::exec
