// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/half.hpp>

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

/// `affine_of(i)` gives the scale and offset of element i.
template <CodeContract Contract, RealInput X, class AffineOf>
void fake_quantize(std::span<const X> x, std::span<float> y, CodeRange range, const AffineOf& affine_of) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float value = to_float(x[i]);
    const Affine& affine = affine_of(i);
    const bool is_nan = value != value;
    const auto code = Contract::code(value, affine, range);
    y[i] = is_nan ? value + value : static_cast<float>(code - affine.offset) * affine.scale;
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
