// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <limits>

#include <amct/core/half.hpp>
#include <amct/core/tensor.hpp>

namespace amct {

namespace detail {

/// Towards zero; NaN gives 0, and what the target cannot hold its nearest end.
template <std::integral To, std::floating_point From>
[[nodiscard]] To saturate(From value) noexcept {
  constexpr auto kBelow = static_cast<From>(std::numeric_limits<To>::min());
  constexpr auto kAbove = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;  // a power of two
  if (value != value) return To{};
  if (value <= kBelow) return std::numeric_limits<To>::min();
  if (value >= kAbove) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class To, class From>
[[nodiscard]] To cast_element(From value) noexcept {
  if constexpr (std::same_as<From, Half>) return cast_element<To>(to_float(value));
  else if constexpr (std::same_as<To, Half>) return to_half(static_cast<float>(value));
  else if constexpr (std::floating_point<From> && std::integral<To> && !std::same_as<To, bool>)
    return saturate<To>(value);
  else return static_cast<To>(value);
}

}  // namespace detail

/// Converts the elements of one tensor to those of another with as many, as C++ converts numbers: towards zero from
/// float to integer, modulo 2^N between integers, zero or not to bool. Floats beyond an integer type give its nearest
/// end, NaN gives 0. Halfs are rounded to nearest, halfs to even.
inline void cast_into(const Tensor& from, Tensor& to) noexcept {
  assert(from.size() == to.size());
  with_element_type(from.type(), [&]<class From>() {
    with_element_type(to.type(), [&]<class To>() {
      const auto values = from.data<From>();
      std::transform(values.begin(), values.end(), to.data<To>().begin(), detail::cast_element<To, From>);
    });
  });
}

/// The same to a new tensor of another type. The same type gives a copy.
[[nodiscard]] inline Tensor cast(const Tensor& tensor, ElementType type) {
  if (type == tensor.type()) return tensor;
  Tensor result(type, tensor.shape());
  cast_into(tensor, result);
  return result;
}

}  // namespace amct
