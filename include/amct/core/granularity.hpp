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
  /// Length of the runs.
  [[nodiscard]] constexpr std::size_t run() const noexcept { return inner; }

  /// One channel over all elements.
  [[nodiscard]] static constexpr ChannelLayout per_tensor(std::size_t size) noexcept { return {1, 1, 1, size}; }
};

/// Calls `visit(channel, first, count)` for each contiguous run of elements that share a channel, in memory order,
/// within the elements [first, first + count). The runs at the two ends may be cut.
template <class Visit>
constexpr void for_each_run(const ChannelLayout& layout, std::size_t first, std::size_t count, Visit&& visit) {
  if (count == 0) return;
  const std::size_t channels = layout.channels_per_group;
  const std::size_t run = first / layout.inner;
  std::size_t skip = first % layout.inner;
  std::size_t channel = run % channels;
  std::size_t outer = run / channels % layout.outer;
  std::size_t group = run / channels / layout.outer;
  while (count > 0) {
    const std::size_t length = layout.inner - skip < count ? layout.inner - skip : count;
    visit(group * channels + channel, first, length);
    first += length;
    count -= length;
    skip = 0;
    if (++channel < channels) continue;
    channel = 0;
    if (++outer < layout.outer) continue;
    outer = 0;
    ++group;
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
  /// Length of the runs but the last of a row.
  [[nodiscard]] constexpr std::size_t run() const noexcept { return group == 0 ? columns : group; }
};

/// The same for groups: each group is one run.
template <class Visit>
constexpr void for_each_run(const GroupLayout& layout, std::size_t first, std::size_t count, Visit&& visit) {
  if (count == 0) return;
  const std::size_t width = layout.run();
  const std::size_t groups = layout.groups_per_row();
  std::size_t row = first / layout.columns;
  std::size_t column = first % layout.columns;
  while (count > 0) {
    const std::size_t end = column / width * width + width;
    const std::size_t left = (end < layout.columns ? end : layout.columns) - column;
    const std::size_t length = left < count ? left : count;
    visit(row * groups + column / width, first, length);
    first += length;
    count -= length;
    column += length;
    if (column < layout.columns) continue;
    column = 0;
    ++row;
  }
}

/// All runs of a layout.
template <class Layout, class Visit>
constexpr void for_each_run(const Layout& layout, Visit&& visit) {
  for_each_run(layout, 0, layout.size(), visit);
}

namespace detail {

struct IgnoreRun {
  constexpr void operator()(std::size_t, std::size_t, std::size_t) const noexcept {}
};

}  // namespace detail

/// A division of a tensor's elements into channels: ChannelLayout, GroupLayout.
/// `for_each_run(layout, first, count, visit)` reports the runs of some elements in memory order, each element once.
template <class G>
concept Granularity = requires(const G& layout, detail::IgnoreRun visit) {
  { layout.channels() } -> std::same_as<std::size_t>;
  { layout.size() } -> std::same_as<std::size_t>;
  { layout.run() } -> std::same_as<std::size_t>;
  for_each_run(layout, std::size_t{0}, std::size_t{0}, visit);
};

}  // namespace amct
