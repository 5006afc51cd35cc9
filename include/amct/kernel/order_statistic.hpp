// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include <amct/kernel/range.hpp>
#include <amct/kernel/reference/order_statistic.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/order_statistic-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set. A zero is +0, whichever of the equal zeros was found.
template <Tail T>
[[nodiscard]] float kth(std::span<const float> values, std::size_t k) {
  const auto find = [&]() -> float { AMCT_DISPATCH(kth<T>(values, k)) };
  return find() + 0.0F;
}

}  // namespace kernel

/// The k-th largest value, k = 1 being the maximum. `values` must be free of NaN.
/// \pre 1 <= k <= values.size()
/// \note One read of the data, and k floats of memory, for a k below 1/32 of the size; otherwise O(n) on average on a
///       copy.
[[nodiscard]] inline float kth_largest(std::span<const float> values, std::size_t k) {
  assert(k >= 1 && k <= values.size());
  if (k == 1) return kernel::extremes(values).max + 0.0F;
  return kernel::kth<kernel::Tail::largest>(values, k);
}

/// The k-th smallest value, k = 1 being the minimum; otherwise as kth_largest.
[[nodiscard]] inline float kth_smallest(std::span<const float> values, std::size_t k) {
  assert(k >= 1 && k <= values.size());
  if (k == 1) return kernel::extremes(values).min + 0.0F;
  return kernel::kth<kernel::Tail::smallest>(values, k);
}

}  // namespace amct
