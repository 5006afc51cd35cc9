// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <concepts>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/kernel/reference/fake_quantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/fake_quantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

/// Quantizes and dequantizes: the float values that integer execution would see.
///
/// \param x  values; NaN stays NaN (made quiet), infinities saturate
/// \param y  as many results; may be the same memory as x
/// \pre  is_usable(affine)
/// \note O(n), no allocation.
template <CodeContract Contract = ReciprocalRoundAdd>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  assert(x.size() == y.size());
  in_default_fp_environment([&] {
    if constexpr (kernel::VectorContract<Contract>) {
      if (kernel::has_vector_offset(affine)) AMCT_DISPATCH(fake_quantize<Contract>(x, y, affine, range))
    }
    kernel::reference::fake_quantize<Contract>(x, y, affine, range);
  });
}

}  // namespace amct
