// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>

namespace amct {

/// From a width known at run time to a type: calls `use(Int<N>{})`, which returns a Status, with the listed width that
/// `bits` is. Only listed widths are compiled; any other is refused as the option num_bits.
/// \param allowed  the list, for people
template <int... kWidths, class Use>
[[nodiscard]] Status with_bits(int bits, const char* allowed, const Use& use) {
  Status status = check_option(false, "num_bits", bits, allowed);
  ((bits == kWidths ? (void)(status = use(Int<kWidths>{})) : (void)0), ...);
  return status;
}

}  // namespace amct
