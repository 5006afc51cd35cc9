// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>

namespace amct::kernel::reference {

/// The difference of code and offset is an integer below 2^17, so the one rounding is that of the multiplication.
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine) noexcept {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    x[i] = static_cast<float>(std::int32_t{codes[i]} - affine.offset) * affine.scale;
  }
}

}  // namespace amct::kernel::reference
