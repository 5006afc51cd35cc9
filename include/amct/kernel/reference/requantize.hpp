// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/requantize.hpp>

namespace amct::kernel::reference {

AMCT_EXACT_BEGIN

/// The bias, the same for all elements, is added to the accumulators first.
template <RequantizeContract Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, std::int32_t bias,
                const typename Contract::Params& params, std::int32_t offset, CodeRange range) noexcept {
  for (std::size_t i = 0; i < acc.size(); ++i) {
    codes[i] = static_cast<T>(Contract::code(add_bias(acc[i], bias), params, offset, range));
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
