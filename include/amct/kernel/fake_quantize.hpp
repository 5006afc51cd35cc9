// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/reference/fake_quantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/fake_quantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
template <CodeContract Contract>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  if constexpr (VectorContract<Contract>) {
    if (has_offset_within(affine, kMostOffset)) AMCT_DISPATCH(fake_quantize<Contract>(x, y, affine, range))
  }
  reference::fake_quantize<Contract>(x, y, affine, range);
}

}  // namespace kernel

/// Quantizes and dequantizes: the float values that integer execution would see.
///
/// \param x  values; NaN stays NaN (made quiet), infinities saturate
/// \param y  as many results; may be the same memory as x
/// \pre  is_usable(affine)
/// \note O(n), no allocation. Large arrays are split over threads, with the same result.
template <CodeContract Contract = ReciprocalRoundAdd>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  assert(x.size() == y.size());
  parallel_for(x.size(), kernel::kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { kernel::fake_quantize<Contract>(x.subspan(first, count), y.subspan(first, count), affine, range); });
  });
}

}  // namespace amct
