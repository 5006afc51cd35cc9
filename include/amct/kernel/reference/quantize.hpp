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

template <CodeContract Contract, CodeStorage T>
void quantize(std::span<const float> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) codes[i] = static_cast<T>(Contract::code(x[i], affine, range));
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
