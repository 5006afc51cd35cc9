// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace support {

/// A random sequence that is the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1U) {}

  [[nodiscard]] std::uint32_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 33U);
  }
  /// From low to high, both included.
  [[nodiscard]] std::size_t from(std::size_t low, std::size_t high) { return low + next() % (high - low + 1); }
  [[nodiscard]] std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(next() % (std::int64_t{high} - low + 1));
  }
  [[nodiscard]] bool one_in(std::size_t chances) { return next() % chances == 0; }

  /// Any code, sometimes one of the extremes.
  template <class T>
  [[nodiscard]] T code() {
    const std::uint32_t bits = next();
    if (bits % 16 == 0) return std::numeric_limits<T>::min();
    if (bits % 16 == 1) return std::numeric_limits<T>::max();
    return static_cast<T>(bits >> 4U);
  }
  template <class T>
  [[nodiscard]] std::vector<T> codes(std::size_t size) {
    std::vector<T> values(size);
    for (T& value : values) value = code<T>();
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace support
