// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/reference/dequantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/dequantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine) noexcept {
  AMCT_DISPATCH(dequantize(codes, x, affine))
}

}  // namespace kernel

/// Turns codes back into real values: (code - offset) * scale.
///
/// \pre codes and x have the same size and do not overlap
/// \note O(n), no allocation. Large arrays are split over threads, with the same result.
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine) noexcept {
  assert(x.size() == codes.size());
  parallel_for(x.size(), kernel::kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { kernel::dequantize(codes.subspan(first, count), x.subspan(first, count), affine); });
  });
}

}  // namespace amct
