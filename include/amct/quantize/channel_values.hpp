// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include <amct/core/granularity.hpp>

namespace amct {

/// The elements of each channel of a tensor, side by side and in memory order, so that kernels for whole arrays can
/// work on channels of any layout, and sums over a channel do not depend on where it lies.
///
/// Channels that lie in one piece are not copied: the values must outlive this object. Otherwise O(n), 4 bytes an
/// element. \pre values.size() == layout.size()
class ChannelValues {
 public:
  ChannelValues(std::span<const float> values, const ChannelLayout& layout)
      : layout_(layout), values_(values), moved_(layout.outer > 1) {
    assert(values.size() == layout.size());
    if (!moved_) return;
    side_by_side_.resize(values.size());
    for_each_piece([&](std::size_t first, std::size_t place, std::size_t count) {
      std::copy_n(values.data() + first, count, side_by_side_.data() + place);
    });
  }

  /// How many elements each channel has.
  [[nodiscard]] std::size_t channel_size() const noexcept { return layout_.outer * layout_.inner; }

  [[nodiscard]] std::span<const float> operator[](std::size_t channel) const noexcept {
    const std::span<const float> all = moved_ ? std::span<const float>(side_by_side_) : values_;
    return all.subspan(channel * channel_size(), channel_size());
  }

 private:
  /// `visit(first, place, count)`: the elements from `first` on belong at `place`.
  template <class Visit>
  void for_each_piece(Visit&& visit) const {
    std::vector<std::size_t> filled(layout_.channels(), 0);
    for_each_run(layout_, [&](std::size_t channel, std::size_t first, std::size_t count) {
      visit(first, channel * channel_size() + filled[channel], count);
      filled[channel] += count;
    });
  }

  ChannelLayout layout_;
  std::span<const float> values_;
  bool moved_;
  std::vector<float> side_by_side_;
};

}  // namespace amct
