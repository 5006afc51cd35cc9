// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include <sys/mman.h>

namespace bench {

/// An array on huge pages, so that neither page faults nor the placement of small pages are measured.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t size) : size_(size) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t bytes = (size * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
    data_.reset(static_cast<T*>(std::aligned_alloc(kHugePage, bytes)));
    if (!data_) throw std::bad_alloc();
    madvise(data_.get(), bytes, MADV_HUGEPAGE);
    std::memset(data_.get(), 0, bytes);
  }

  [[nodiscard]] std::span<T> span() const noexcept { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(T* data) const noexcept { std::free(data); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_;
};

}  // namespace bench
