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
template <CodeContract Contract, RealInput X, CodeStorage T, class AffineOf>
void quantize(std::span<const X> x, std::span<T> codes, CodeRange range, const AffineOf& affine_of) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    codes[i] = static_cast<T>(Contract::code(to_float(x[i]), affine_of(i), range));
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
