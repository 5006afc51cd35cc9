// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

#include <amct/kernel/outermost.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/read.hpp>
#include <amct/kernel/reference/order_statistic.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/order_statistic-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
[[nodiscard]] inline Tails tails(std::span<const float> values, std::size_t smallest, std::size_t largest) {
  AMCT_DISPATCH(tails(values, smallest, largest))
}

}  // namespace kernel

/// The `smallest`-th smallest and the `largest`-th largest value, both in one pass; rank 1 is the minimum or maximum. A
/// zero is +0, whichever of the equal zeros was found.
/// \pre `values` free of NaN; both ranks from 1 to values.size()
/// \note One read of the data, and a float of memory a rank, for ranks below 1/32 of the size; otherwise O(n) on
/// average,
///       on a copy. Usable in constant expressions.
[[nodiscard]] constexpr Tails tails(std::span<const float> values, std::size_t smallest, std::size_t largest) {
  assert(smallest >= 1 && smallest <= values.size() && largest >= 1 && largest <= values.size());
  if (std::is_constant_evaluated()) return kernel::reference::tails(values, smallest, largest);
  if (smallest == 1 && largest == 1) {
    const kernel::Extremes ends = kernel::extremes(values);
    return {ends.min + 0.0F, ends.max + 0.0F};
  }
  const Tails found = kernel::tails(values, smallest, largest);
  return {found.low + 0.0F, found.high + 0.0F};
}

}  // namespace amct
