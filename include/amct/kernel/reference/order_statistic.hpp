// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace amct::kernel {

/// Which end of the order ranks are counted from.
enum class Tail : bool { smallest, largest };

/// True for values further out on a tail.
template <Tail T>
using FurtherOut = std::conditional_t<T == Tail::largest, std::greater<>, std::less<>>;

}  // namespace amct::kernel

namespace amct::kernel::reference {

/// The k-th value from one end. Works on a copy: 4 bytes an element.
template <Tail T>
[[nodiscard]] float kth(std::span<const float> values, std::size_t k) {
  std::vector<float> copy(values.begin(), values.end());
  const auto position = copy.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(copy.begin(), position, copy.end(), FurtherOut<T>{});
  return *position;
}

}  // namespace amct::kernel::reference
