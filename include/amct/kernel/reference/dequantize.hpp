// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>

namespace amct::kernel::reference {

/// `affine_of(i)` gives the scale and offset of element i. The difference of code and offset is an integer below 2^24
/// for every offset in use, so the one rounding is that of the multiplication.
template <CodeStorage T, class AffineOf>
void dequantize(std::span<const T> codes, std::span<float> x, const AffineOf& affine_of) noexcept {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const Affine& affine = affine_of(i);
    x[i] = static_cast<float>(std::int32_t{codes[i]} - affine.offset) * affine.scale;
  }
}

}  // namespace amct::kernel::reference
