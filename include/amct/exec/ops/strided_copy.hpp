// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/core/shape.hpp>

/// \file
/// The one copy behind all operators that move elements: it knows their width, not their type.

namespace amct::exec {

/// One axis of a copy: its size, and the steps of source and target along it in bytes. A source step of 0 repeats, a
/// negative one reverses.
struct CopyAxis {
  std::size_t size;
  std::ptrdiff_t from;
  std::ptrdiff_t to;
};

/// Bytes from one position to the next along each axis of a dense tensor.
[[nodiscard]] inline std::vector<std::ptrdiff_t> byte_steps(const Shape& shape, std::size_t width) {
  std::vector<std::ptrdiff_t> steps(shape.rank());
  auto step = static_cast<std::ptrdiff_t>(width);
  for (std::size_t i = shape.rank(); i-- > 0;) {
    steps[i] = step;
    step *= shape[i];
  }
  return steps;
}

namespace detail {

/// Elements as wide as this are copied by one load and store.
using Wide = std::array<std::uint64_t, 2>;

template <class T>
[[nodiscard]] T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

template <class T>
void copy_row(const std::byte* from, std::byte* to, const CopyAxis& axis) noexcept {
  for (std::size_t i = 0; i < axis.size; ++i, from += axis.from, to += axis.to) store(to, load<T>(from));
}

/// `count` copies of `bytes` behind each other, each made of twice as many.
inline void repeat(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t count) noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 12;  // which stays in the nearest cache
  std::memcpy(to, from, bytes);
  for (std::size_t done = 1; done < count;) {
    const std::size_t more = std::min({done, count - done, kMost / bytes + 1});
    std::memcpy(to + done * bytes, to, more * bytes);
    done += more;
  }
}

/// Four rows of four 32-bit elements, turned.
inline void transpose_4x4(const std::byte* from, std::ptrdiff_t from_step, std::byte* to,
                          std::ptrdiff_t to_step) noexcept {
  using Four [[gnu::vector_size(16)]] = std::uint32_t;
  const auto a = load<Four>(from);
  const auto b = load<Four>(from + from_step);
  const auto c = load<Four>(from + 2 * from_step);
  const auto d = load<Four>(from + 3 * from_step);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store(to + to_step, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store(to + 2 * to_step, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store(to + 3 * to_step, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

/// A transposition: the source is dense along `columns`, the target along `rows`. In blocks, so that each cache line
/// is used up while it is there.
template <class T>
void copy_transposed(const std::byte* from, std::byte* to, const CopyAxis& columns, const CopyAxis& rows) noexcept {
  constexpr auto kWidth = static_cast<std::ptrdiff_t>(sizeof(T));
  constexpr std::ptrdiff_t kBlock = 16;
  constexpr std::ptrdiff_t kTurned = sizeof(T) == 4 ? 4 : 1;  // elements of each side that are moved together
  const auto last_column = static_cast<std::ptrdiff_t>(columns.size);
  const auto last_row = static_cast<std::ptrdiff_t>(rows.size);
  const auto block = [&](std::ptrdiff_t c, std::ptrdiff_t end_c, std::ptrdiff_t r, std::ptrdiff_t end_r) {
    for (; c < end_c; ++c) {
      for (std::ptrdiff_t i = r; i < end_r; ++i) {
        store(to + c * columns.to + i * kWidth, load<T>(from + c * kWidth + i * rows.from));
      }
    }
  };
  for (std::ptrdiff_t c = 0; c < last_column; c += kBlock) {
    const std::ptrdiff_t end_c = std::min(c + kBlock, last_column);
    for (std::ptrdiff_t r = 0; r < last_row; r += kBlock) {
      const std::ptrdiff_t end_r = std::min(r + kBlock, last_row);
      std::ptrdiff_t turned_c = c;
      std::ptrdiff_t turned_r = r;
      if constexpr (kTurned == 4) {
        turned_c = end_c - (end_c - c) % kTurned;
        turned_r = end_r - (end_r - r) % kTurned;
        for (std::ptrdiff_t i = c; i < turned_c; i += kTurned) {
          for (std::ptrdiff_t k = r; k < turned_r; k += kTurned) {
            transpose_4x4(from + i * kWidth + k * rows.from, rows.from, to + i * columns.to + k * kWidth, columns.to);
          }
        }
      }
      block(c, turned_c, turned_r, end_r);
      block(turned_c, end_c, r, end_r);
    }
  }
}

/// A copy with its axes merged where both sides allow it.
class CopyPlan {
 public:
  /// \param axes  none of them empty
  CopyPlan(std::span<const CopyAxis> axes, std::size_t width) : run_(width) {
    std::vector<CopyAxis> ordered;
    std::copy_if(axes.begin(), axes.end(), std::back_inserter(ordered), [](const CopyAxis& a) { return a.size != 1; });
    std::stable_sort(ordered.begin(), ordered.end(), [](const CopyAxis& a, const CopyAxis& b) { return a.to > b.to; });
    for (const CopyAxis& axis : ordered) {
      const auto size = static_cast<std::ptrdiff_t>(axis.size);
      if (!axes_.empty() && axes_.back().from == axis.from * size && axes_.back().to == axis.to * size) {
        axes_.back() = {axes_.back().size * axis.size, axis.from, axis.to};
      } else {
        axes_.push_back(axis);
      }
    }
    const auto step = static_cast<std::ptrdiff_t>(width);
    if (!axes_.empty() && axes_.back().from == step && axes_.back().to == step) {
      run_ *= axes_.back().size;
      axes_.pop_back();
    }
    find_transposition();
  }

  void run(const std::byte* from, std::byte* to) const {
    constexpr std::size_t kPart = std::size_t{1} << 18;  // bytes that are worth a thread
    if (axes_.empty()) {
      parallel_for(run_, kPart,
                   [&](std::size_t first, std::size_t count) { std::memcpy(to + first, from + first, count); });
      return;
    }
    std::size_t bytes = run_;
    for (const CopyAxis& axis : axes_) bytes *= axis.size;
    const auto longest = static_cast<std::size_t>(
        std::max_element(axes_.begin(), axes_.end(), [](auto& a, auto& b) { return a.size < b.size; }) - axes_.begin());
    const CopyAxis split = axes_[longest];
    const std::size_t grain = (split.size * std::min(kPart, bytes) + bytes - 1) / bytes;
    parallel_for(split.size, (grain + 15) / 16 * 16, [&](std::size_t first, std::size_t count) {
      const auto start = static_cast<std::ptrdiff_t>(first);
      walk(0, longest, count, from + start * split.from, to + start * split.to);
    });
  }

 private:
  /// If the target's innermost axis is not dense in the source but another one is, makes that one the last but one.
  void find_transposition() {
    const auto step = static_cast<std::ptrdiff_t>(run_);
    if (axes_.size() < 2 || run_ > sizeof(std::uint64_t) || axes_.back().to != step) return;
    const auto dense = std::find_if(axes_.begin(), axes_.end() - 1, [&](auto& axis) { return axis.from == step; });
    if (dense == axes_.end() - 1) return;
    std::rotate(dense, dense + 1, axes_.end() - 1);
    transposed_ = true;
  }

  /// Copies the axes from `depth` on; of the axis `split` only `count` positions.
  void walk(std::size_t depth, std::size_t split, std::size_t count, const std::byte* from,
            std::byte* to) const noexcept {
    CopyAxis axis = axes_[depth];
    if (depth == split) axis.size = count;
    const std::size_t left = axes_.size() - depth;
    if (left == 2 && transposed_) {
      CopyAxis rows = axes_[depth + 1];
      if (depth + 1 == split) rows.size = count;
      return transpose(from, to, axis, rows);
    }
    if (left == 1) return row(from, to, axis);
    for (std::size_t i = 0; i < axis.size; ++i, from += axis.from, to += axis.to)
      walk(depth + 1, split, count, from, to);
  }

  void row(const std::byte* from, std::byte* to, const CopyAxis& axis) const noexcept {
    if (axis.from == 0 && axis.to == static_cast<std::ptrdiff_t>(run_)) return repeat(from, to, run_, axis.size);
    switch (run_) {
      case 1: return copy_row<std::uint8_t>(from, to, axis);
      case 2: return copy_row<std::uint16_t>(from, to, axis);
      case 4: return copy_row<std::uint32_t>(from, to, axis);
      case 8: return copy_row<std::uint64_t>(from, to, axis);
      case 16: return copy_row<Wide>(from, to, axis);
      default: break;
    }
    for (std::size_t i = 0; i < axis.size; ++i, from += axis.from, to += axis.to) std::memcpy(to, from, run_);
  }

  void transpose(const std::byte* from, std::byte* to, const CopyAxis& columns, const CopyAxis& rows) const noexcept {
    constexpr std::size_t kFew = 8;  // are done one after the other, along the other axis
    if (columns.size >= kFew && rows.size >= kFew) {
      switch (run_) {
        case 1: return copy_transposed<std::uint8_t>(from, to, columns, rows);
        case 2: return copy_transposed<std::uint16_t>(from, to, columns, rows);
        case 4: return copy_transposed<std::uint32_t>(from, to, columns, rows);
        case 8: return copy_transposed<std::uint64_t>(from, to, columns, rows);
        default: break;
      }
    }
    const auto [few, many] = columns.size < rows.size ? std::pair(columns, rows) : std::pair(rows, columns);
    for (std::size_t i = 0; i < few.size; ++i, from += few.from, to += few.to) row(from, to, many);
  }

  std::vector<CopyAxis> axes_;
  std::size_t run_;  ///< bytes that lie together on both sides
  bool transposed_ = false;
};

}  // namespace detail

/// Copies elements of `width` bytes between two tensors that must not overlap. Large copies run on several threads.
/// \param axes  in any order; their steps in the target must be positive and no two positions may meet there
inline void strided_copy(const std::byte* from, std::byte* to, std::span<const CopyAxis> axes, std::size_t width) {
  const bool nothing = std::any_of(axes.begin(), axes.end(), [](const CopyAxis& axis) { return axis.size == 0; });
  if (!nothing) detail::CopyPlan(axes, width).run(from, to);
}

/// Fills `to`, whose size is a multiple of it, with copies of `element`.
inline void fill_elements(std::span<std::byte> to, std::span<const std::byte> element) {
  const CopyAxis axis{to.size() / element.size(), 0, static_cast<std::ptrdiff_t>(element.size())};
  strided_copy(element.data(), to.data(), {&axis, 1}, element.size());
}

}  // namespace amct::exec
