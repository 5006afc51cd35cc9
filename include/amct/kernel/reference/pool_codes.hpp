// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace amct::kernel::reference {

/// The largest code of each channel among some pixels, at least one.
template <class T>
void largest_codes(std::span<const T* const> pixels, std::size_t channels, const T*, T* to) noexcept {
  std::copy_n(pixels[0], channels, to);
  for (const T* const pixel : pixels.subspan(1)) {
    for (std::size_t c = 0; c < channels; ++c) to[c] = std::max(to[c], pixel[c]);
  }
}

}  // namespace amct::kernel::reference
