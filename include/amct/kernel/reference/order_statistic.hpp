// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace amct {

/// The values at a rank from the lower and from the upper end.
struct Tails {
  float low = 0.0F;
  float high = 0.0F;

  friend constexpr bool operator==(const Tails&, const Tails&) = default;
};

}  // namespace amct

namespace amct::kernel::reference {

/// Works on a copy: 4 bytes an element.
[[nodiscard]] constexpr Tails tails(std::span<const float> values, std::size_t smallest, std::size_t largest) {
  std::vector<float> copy(values.begin(), values.end());
  const auto low = copy.begin() + static_cast<std::ptrdiff_t>(smallest - 1);
  std::nth_element(copy.begin(), low, copy.end());
  const float low_value = *low;
  const auto high = copy.end() - static_cast<std::ptrdiff_t>(largest);
  std::nth_element(copy.begin(), high, copy.end());
  return {low_value, *high};
}

}  // namespace amct::kernel::reference
