// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <amct/core/tensor.hpp>

namespace amct::exec {

/// An unsigned integer that orders as the values of its type do: -0 equals 0, and every NaN is the same number beyond
/// infinity.
template <TensorElement T>
[[nodiscard]] std::uint64_t sort_key(T value) noexcept {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if constexpr (std::same_as<T, Half>) {
    return sort_key(to_float(value));
  } else if constexpr (std::floating_point<T>) {
    if (value != value) return std::numeric_limits<std::uint64_t>::max();
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value) + 0.0);  // makes -0 a 0
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ kSign;
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// The key of each element, so that one sort serves all types.
[[nodiscard]] inline std::vector<std::uint64_t> sort_keys(const Tensor& tensor) {
  std::vector<std::uint64_t> keys(tensor.size());
  with_element_type(tensor.type(), [&]<class T>() {
    const auto values = tensor.data<T>();
    std::transform(values.begin(), values.end(), keys.begin(), sort_key<T>);
  });
  return keys;
}

}  // namespace amct::exec
