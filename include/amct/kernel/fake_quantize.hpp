// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/kernel/reference/fake_quantize.hpp>

namespace amct {

/// Quantizes and dequantizes: the float values that integer execution would see.
///
/// \param x  values; NaN stays NaN, infinities saturate
/// \param y  as many results; may be the same memory as x
/// \pre  is_usable(affine)
/// \note O(n), no allocation.
template <CodeContract Contract = ReciprocalRoundAdd>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  assert(x.size() == y.size());
  kernel::reference::fake_quantize<Contract>(x, y, affine, range);
}

}  // namespace amct
