// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace amct::kernel {

/// Elements behind the last column that vector bodies may read.
inline constexpr std::size_t kColumnSlack = 64;

/// Memory of parameters that are spread over all columns, for vector bodies.
class ColumnArrays {
 public:
  explicit ColumnArrays(std::size_t columns) : columns_(columns) {}

  /// An array to be filled; behind the last column it is 0.
  [[nodiscard]] std::int32_t* integers() { return add(integers_); }
  [[nodiscard]] float* reals() { return add(reals_); }

  /// An array of a parameter a column.
  [[nodiscard]] const std::int32_t* spread(std::span<const std::int32_t> values) { return spread(values, integers()); }
  [[nodiscard]] const float* spread(std::span<const float> values) { return spread(values, reals()); }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }

 private:
  template <class T>
  T* add(std::vector<std::unique_ptr<T[]>>& arrays) {
    arrays.emplace_back(new T[columns_ + kColumnSlack]);
    std::fill_n(arrays.back().get() + columns_, kColumnSlack, T{});
    return arrays.back().get();
  }
  template <class T>
  const T* spread(std::span<const T> values, T* to) {
    if (values.size() == 1) {
      std::fill_n(to, columns_, values[0]);
    } else {
      std::copy_n(values.data(), columns_, to);
    }
    return to;
  }

  std::size_t columns_;
  std::vector<std::unique_ptr<std::int32_t[]>> integers_;
  std::vector<std::unique_ptr<float[]>> reals_;
};

}  // namespace amct::kernel
