// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/reference/quantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/quantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
template <CodeContract Contract, CodeStorage T>
void quantize(std::span<const float> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  if constexpr (VectorContract<Contract>) {
    constexpr std::int32_t kMost = sizeof(T) == 1 ? kMostOffset16 : kMostOffset;
    const bool in_reach =
        has_offset_within(affine, kMost) && (!kDivides<Contract> || has_exact_quotients(affine.scale));
    if (in_reach) AMCT_DISPATCH(quantize<Contract>(x, codes, affine, range))
  }
  reference::quantize<Contract>(x, codes, affine, range);
}

}  // namespace kernel

/// Turns real values into codes of `range` under a named contract.
///
/// \param x      values; NaN becomes the code of 0.0 (the offset), infinities saturate
/// \param codes  as many codes as values; T must hold `range` (int8 up to 8 bits, int16 above)
/// \pre  is_usable(affine); x and codes do not overlap
/// \note O(n), no allocation. Large arrays are split over threads (core/parallel.hpp), with the same result.
template <CodeContract Contract = ReciprocalRoundAdd, CodeStorage T>
void quantize(std::span<const float> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  assert(x.size() == codes.size());
  assert(range.min() >= std::numeric_limits<T>::min() && range.max() <= std::numeric_limits<T>::max());
  parallel_for(x.size(), kernel::kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { kernel::quantize<Contract>(x.subspan(first, count), codes.subspan(first, count), affine, range); });
  });
}

}  // namespace amct
