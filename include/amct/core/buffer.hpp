// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace amct {

/// Owned memory aligned to 64 bytes, uninitialised. Moving leaves the source empty.
class Buffer {
 public:
  Buffer() = default;
  /// At least one cache line, rounded up to whole ones. \throws std::bad_alloc
  explicit Buffer(std::size_t bytes) : capacity_(rounded(bytes)), memory_(allocate(capacity_)) {}
  Buffer(Buffer&& other) noexcept : capacity_(std::exchange(other.capacity_, 0)), memory_(std::move(other.memory_)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    capacity_ = std::exchange(other.capacity_, 0);
    memory_ = std::move(other.memory_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  [[nodiscard]] std::byte* data() noexcept { return memory_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.get(); }
  /// Bytes that can be used; 0 if empty.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// The capacity of a buffer of `bytes`.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return bytes <= kAlignment ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  static constexpr std::size_t kAlignment = 64;

  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  static std::byte* allocate(std::size_t bytes) {
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
  }

  std::size_t capacity_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace amct
