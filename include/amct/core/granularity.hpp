// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace amct {

/// Where the channels of a dense row-major tensor lie, as the index (group, outer, channel, inner).
///
/// One form serves every weight: Conv [Cout, ...] has outer = 1; Gemm [K, N] with channels on axis 1 has outer = K,
/// inner = 1; ConvTranspose [Cin, Cout/g, ...] has g groups of outer = Cin/g and Cout/g channels each.
/// A whole tensor with one scale is {1, 1, 1, size}.
struct ChannelLayout {
  std::size_t groups = 1;
  std::size_t outer = 1;
  std::size_t channels_per_group = 1;
  std::size_t inner = 0;

  [[nodiscard]] constexpr std::size_t channels() const noexcept { return groups * channels_per_group; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return channels() * outer * inner; }

  /// One channel over all elements.
  [[nodiscard]] static constexpr ChannelLayout per_tensor(std::size_t size) noexcept { return {1, 1, 1, size}; }
};

/// Calls `visit(channel, first, count)` for each contiguous run of elements that share a channel, in memory order.
template <class Visit>
constexpr void for_each_run(const ChannelLayout& layout, Visit&& visit) {
  std::size_t first = 0;
  for (std::size_t g = 0; g < layout.groups; ++g) {
    for (std::size_t o = 0; o < layout.outer; ++o) {
      for (std::size_t c = 0; c < layout.channels_per_group; ++c) {
        visit(g * layout.channels_per_group + c, first, layout.inner);
        first += layout.inner;
      }
    }
  }
}

}  // namespace amct
