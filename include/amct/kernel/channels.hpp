// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <amct/core/fp_environment.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/arch.hpp>

/// \file
/// How array functions walk a tensor whose channels have parameters of their own. Long runs of one channel are
/// computed as tensors of their own. Short ones, such as the channels of a channels-last tensor or small groups, are
/// computed many at a time from a row of parameters, one for each element.

namespace amct::kernel {

/// Runs from this length on are computed alone.
inline constexpr std::size_t kLongRun = 128;
/// Elements that a row describes, whole blocks of every kernel. A shorter row is continued by a block, which vector
/// bodies read for its last elements.
inline constexpr std::size_t kRow = 1024;
inline constexpr std::size_t kRowEnd = 128;
inline constexpr std::size_t kRowMemory = kRow + kRowEnd;

/// Fills a part of a row's array, or up to 15 elements more, which a later fill or nobody cares about.
template <class T>
void fill_row(T* begin, std::size_t count, T value) noexcept {
  constexpr std::size_t kAtOnce = 16;  // a fixed count lets the compiler use vectors
  for (std::size_t i = 0; i < count; i += kAtOnce) std::fill_n(begin + i, kAtOnce, value);
}

/// Repeats the first `period` elements of a row's array over `count`.
template <class T>
void repeat_row(T* begin, std::size_t period, std::size_t count) noexcept {
  for (std::size_t done = period; done < count; done *= 2) {
    std::copy_n(begin, std::min(done, count - done), begin + done);
  }
}

/// Describes rows of at most kRow elements with `row.set(channel, at, count)`, `row.set_each(channel, count)` (one
/// element of each channel from there on) and `row.repeat(period, count)`, and calls `row.apply(first, count)` for the
/// elements that a row describes. \pre `first` and `count` are whole rows of the layout, in elements
template <class Row>
void for_each_row(const ChannelLayout& layout, std::size_t first, std::size_t count, Row& row) {
  const std::size_t period = layout.channels_per_group * layout.inner;
  // Longer rows are applied faster, but take longer to describe.
  const std::size_t length = std::clamp(count / 16, kRow / 4, kRow);
  const std::size_t repeats = std::clamp<std::size_t>(length / period, 1, count / period);
  const std::size_t end = first + count;
  while (first < end) {
    const std::size_t group_size = layout.outer * period;
    const std::size_t group = first / group_size;
    const std::size_t group_end = std::min(end, (group + 1) * group_size);
    for (std::size_t start = 0; start < period; start += kRow) {
      const std::size_t width = std::min(kRow, period - start);
      const std::size_t row_begin = group * group_size + start;
      if (layout.inner == 1) {
        row.set_each(group * layout.channels_per_group + start, width);
      } else {
        for_each_run(layout, row_begin, width,
                     [&](std::size_t channel, std::size_t at, std::size_t n) { row.set(channel, at - row_begin, n); });
      }
      row.repeat(width, repeats * width + kRowEnd);
      for (std::size_t at = first; at < group_end; at += repeats * period) {
        row.apply(at + start, std::min(repeats * width, group_end - at));
      }
    }
    first = group_end;
  }
}

template <class Row>
void for_each_row(const GroupLayout& layout, std::size_t first, std::size_t count, Row& row) {
  for (const std::size_t end = first + count; first < end; first += kRow) {
    const std::size_t width = std::min(kRow, end - first);
    for_each_run(layout, first, width,
                 [&](std::size_t channel, std::size_t at, std::size_t n) { row.set(channel, at - first, n); });
    if (width < kRow) row.repeat(width, width + kRowEnd);
    row.apply(first, width);
  }
}

/// Elements of a part for one thread; whole rows where rows are needed.
[[nodiscard]] constexpr std::size_t parallel_grain(const ChannelLayout& layout) noexcept {
  if (layout.run() >= kLongRun) return kParallelGrain;
  const std::size_t row = layout.channels_per_group * layout.inner;
  return std::max<std::size_t>(1, kParallelGrain / row) * row;
}
[[nodiscard]] constexpr std::size_t parallel_grain(const GroupLayout&) noexcept { return kParallelGrain; }

/// Walks all channels, on several threads if the tensor is large, under the default floating-point environment.
/// `alone(channel, first, count)` computes a run; `make_row()` gives a row of parameters for short
/// ones, as for_each_row takes it. Rows are for vector bodies alone: without
/// `in_reach`, which says that these can compute all the parameters, every run is computed alone.
template <Granularity G, class Alone, class MakeRow>
void for_each_channel(const G& layout, bool in_reach, const Alone& alone, const MakeRow& make_row) {
  if (layout.size() == 0) return;
  const bool rows = in_reach && layout.run() < kLongRun && simd::active() != simd::Arch::scalar;
  parallel_for(layout.size(), parallel_grain(layout), [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] {
      if (!rows) return for_each_run(layout, first, count, alone);
      auto row = make_row();
      for_each_row(layout, first, count, row);
    });
  });
}

}  // namespace amct::kernel
