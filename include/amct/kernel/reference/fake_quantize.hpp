// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

template <CodeContract Contract>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float value = x[i];
    const bool is_nan = value != value;
    const auto code = Contract::code(value, affine, range);
    y[i] = is_nan ? value + value : static_cast<float>(code - affine.offset) * affine.scale;
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
