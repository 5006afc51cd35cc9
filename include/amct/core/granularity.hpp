// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

/// \file
/// Which elements of a dense row-major tensor share a scale. Algorithms walk a layout by `for_each_run` and need not
/// know whether its channels are axes, groups of columns or the whole tensor.

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

/// Groups of `group` consecutive elements of each row; a channel is a group. The last group of a row holds what is
/// left, so `columns` need not be a multiple of `group`. A `group` of 0 means one group a row.
struct GroupLayout {
  std::size_t rows = 1;
  std::size_t columns = 0;
  std::size_t group = 0;

  [[nodiscard]] constexpr std::size_t groups_per_row() const noexcept {
    return group == 0 ? 1 : columns / group + (columns % group != 0 ? 1 : 0);
  }
  [[nodiscard]] constexpr std::size_t channels() const noexcept { return rows * groups_per_row(); }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows * columns; }
};

/// The same for groups: each group is one run.
template <class Visit>
constexpr void for_each_run(const GroupLayout& layout, Visit&& visit) {
  const std::size_t width = layout.group == 0 ? layout.columns : layout.group;
  const std::size_t groups = layout.groups_per_row();
  for (std::size_t channel = 0; channel < layout.channels(); ++channel) {
    const std::size_t start = channel % groups * width;
    const std::size_t left = layout.columns - start;
    visit(channel, channel / groups * layout.columns + start, left < width ? left : width);
  }
}

namespace detail {

struct IgnoreRun {
  constexpr void operator()(std::size_t, std::size_t, std::size_t) const noexcept {}
};

}  // namespace detail

/// A division of a tensor's elements into channels: ChannelLayout, GroupLayout.
/// `for_each_run(layout, visit)` reports runs in memory order; together they cover each of size() elements once.
template <class G>
concept Granularity = requires(const G& layout, detail::IgnoreRun visit) {
  { layout.channels() } -> std::same_as<std::size_t>;
  { layout.size() } -> std::same_as<std::size_t>;
  for_each_run(layout, visit);
};

}  // namespace amct
