// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/tensor.hpp>

/// \file
/// What passes ask of constants, whatever their element type.

namespace amct::graph {

/// The elements as double.
[[nodiscard]] inline std::vector<double> as_doubles(const Tensor& tensor) {
  return with_element_type(tensor.type(), [&]<class T>() {
    std::vector<double> values;
    values.reserve(tensor.size());
    for (const T value : tensor.data<T>()) {
      if constexpr (std::is_same_v<T, Half>) values.push_back(static_cast<double>(to_float(value)));
      else values.push_back(static_cast<double>(value));
    }
    return values;
  });
}

/// The only element; empty for null and for another number of elements.
[[nodiscard]] inline std::optional<double> scalar_value(const Tensor* tensor) {
  if (tensor == nullptr || tensor->size() != 1) return {};
  return as_doubles(*tensor)[0];
}

/// True if there are elements and all are `value`.
[[nodiscard]] inline bool all_equal(const Tensor& tensor, double value) {
  const auto values = as_doubles(tensor);
  return !values.empty() && std::all_of(values.begin(), values.end(), [value](double v) { return v == value; });
}

/// The elements of an int32 or int64 tensor; empty for null and other types.
[[nodiscard]] inline std::optional<std::vector<std::int64_t>> integer_values(const Tensor* tensor) {
  if (tensor == nullptr) return {};
  if (tensor->type() == ElementType::int64) {
    const auto data = tensor->data<std::int64_t>();
    return std::vector<std::int64_t>(data.begin(), data.end());
  }
  if (tensor->type() == ElementType::int32) {
    const auto data = tensor->data<std::int32_t>();
    return std::vector<std::int64_t>(data.begin(), data.end());
  }
  return {};
}

/// An int64 vector, as Reshape, Slice and Split read it.
[[nodiscard]] inline Tensor int64_tensor(const std::vector<std::int64_t>& values) {
  return {Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
}

}  // namespace amct::graph
