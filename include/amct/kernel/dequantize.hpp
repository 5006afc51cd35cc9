// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/kernel/reference/dequantize.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/dequantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

/// Turns codes back into real values: (code - offset) * scale.
///
/// \pre codes and x have the same size and do not overlap
/// \note O(n), no allocation.
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine) noexcept {
  assert(x.size() == codes.size());
  in_default_fp_environment([&] { AMCT_DISPATCH(dequantize(codes, x, affine)) });
}

}  // namespace amct
