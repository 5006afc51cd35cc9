// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Walks over the elements of containers, and the elements as a span.
///
/// Elements are taken in the order in which they lie in memory, so that a container without gaps is a span, whatever
/// its storage order. Axes are those of the container: axis 0 of a matrix is its rows, column-major or not.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/interop/container_door.hpp>

namespace amct {

namespace interop::detail {

// Calls are qualified: the namespaces of containers have functions of such names as well.

/// A walk over the elements of a container, axis by axis, the first of `axes` outermost.
template <class T, class Axes>
struct Walk {
  T* data;
  Axes axes;

  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t product = 1;
    for (const Axis& axis : axes) product *= axis.size;
    return product;
  }

  template <class Other>
  [[nodiscard]] bool has_shape_of(const Other& other) const noexcept {
    return std::ranges::equal(axes, other.axes, {}, &Axis::size, &Axis::size);
  }

  /// True if at most one axis is longer than 1: then all orders of axes give the same walk.
  [[nodiscard]] bool is_vector() const noexcept {
    return std::ranges::count_if(axes, [](const Axis& axis) { return axis.size != 1; }) <= 1;
  }

  /// True if the walk goes through memory without a gap.
  [[nodiscard]] bool dense() const noexcept {
    std::size_t inside = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (axes[i].size > 1 && axes[i].stride != static_cast<std::ptrdiff_t>(inside)) return size() == 0;
      inside *= axes[i].size;
    }
    return true;
  }

  /// Where the channels along the container's axis `index` lie in the walk; without one, all is one channel.
  [[nodiscard]] ChannelLayout layout(std::optional<std::size_t> index) const noexcept {
    ChannelLayout layout = ChannelLayout::per_tensor(size());
    if (!index) return layout;
    assert(*index < axes.size() && "an axis of the container");
    layout.inner = 1;
    for (const Axis& axis : axes) {
      if (axis.index == *index) {
        layout.channels_per_group = axis.size;
        layout.outer = std::exchange(layout.inner, 1);
      } else {
        layout.inner *= axis.size;
      }
    }
    return layout;
  }

  /// Joins axes between which there is no gap, and moves those of size 1 to the front, so that rows are long. The walk
  /// stays the same, layout() does not.
  void join_axes() noexcept {
    if (axes.size() == 0) return;
    std::size_t inner = axes.size() - 1;
    for (std::size_t i = inner; i-- > 0;) {
      if (axes[i].size == 1) continue;
      if (axes[inner].size == 1) {
        std::swap(axes[i], axes[inner]);
      } else if (axes[i].stride == static_cast<std::ptrdiff_t>(axes[inner].size) * axes[inner].stride) {
        axes[inner].size *= std::exchange(axes[i].size, 1);
      } else {
        std::swap(axes[i], axes[--inner]);
      }
    }
  }

  /// Copies the elements [first, first + to.size()). \pre at least one axis
  void read(std::size_t first, std::span<std::remove_const_t<T>> to) const {
    for_each_row(first, to.size(), [out = to.data()](T* row, std::ptrdiff_t stride, std::size_t count) mutable {
      if (stride == 1 && count >= kLongRow) {
        out = std::copy_n(row, count, out);
      } else {
        for (std::size_t i = 0; i < count; ++i) *out++ = row[static_cast<std::ptrdiff_t>(i) * stride];
      }
    });
  }

  /// Overwrites the elements [first, first + from.size()). \pre at least one axis
  void write(std::size_t first, std::span<const T> from) const {
    for_each_row(first, from.size(), [in = from.data()](T* row, std::ptrdiff_t stride, std::size_t count) mutable {
      if (stride == 1 && count >= kLongRow) {
        std::copy_n(std::exchange(in, in + count), count, row);
      } else {
        for (std::size_t i = 0; i < count; ++i) row[static_cast<std::ptrdiff_t>(i) * stride] = *in++;
      }
    });
  }

 private:
  static constexpr std::size_t kLongRow = 16;  ///< worth a call of memcpy

  /// Calls `visit(begin, stride, count)` for the rows of the elements [first, first + count).
  template <class Visit>
  void for_each_row(std::size_t first, std::size_t count, Visit&& visit) const {
    const Axis row = axes[axes.size() - 1];
    const Axis plane = axes.size() > 1 ? axes[axes.size() - 2] : Axis{1};  // rows without a division each
    while (count > 0) {
      std::size_t column = first % row.size;
      std::size_t line = first / row.size % plane.size;
      std::size_t rest = first / row.size / plane.size;
      T* begin = data + static_cast<std::ptrdiff_t>(line) * plane.stride;
      for (std::size_t i = axes.size() - 1; i-- > 1 && rest > 0; rest /= axes[i - 1].size) {
        begin += static_cast<std::ptrdiff_t>(rest % axes[i - 1].size) * axes[i - 1].stride;
      }
      for (; line < plane.size && count > 0; ++line, begin += plane.stride, column = 0) {
        const std::size_t run = std::min(count, row.size - column);
        visit(begin + static_cast<std::ptrdiff_t>(column) * row.stride, row.stride, run);
        first += run;
        count -= run;
      }
    }
  }
};

/// A walk in the order of the container's own axes.
template <class T, class Axes>
[[nodiscard]] Walk<T, Axes> number_axes(T* data, Axes axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i].index = i;
  return {data, std::move(axes)};
}

template <InMemory C>
[[nodiscard]] auto read_walk(const C& container) {
  const ElementOf<C>* const data = DoorOf<C>::data(container);
  return detail::number_axes(data, DoorOf<C>::axes(container));
}

template <Writable C>
[[nodiscard]] auto write_walk(C& container) {
  ElementOf<C>* const data = DoorOf<C>::data(container);
  return detail::number_axes(data, DoorOf<C>::axes(container));
}

/// The container as it lies in memory; for an expression, its values.
template <Container C>
[[nodiscard]] decltype(auto) in_memory(const C& container) {
  if constexpr (InMemory<C>) {
    return static_cast<const C&>(container);
  } else {
    return DoorOf<C>::evaluate(container);
  }
}

/// Sorts the axes of walks of one shape as those of `lead` lie in memory, long steps first. Axes of size 1 come first:
/// no step is ever made along them.
template <class Lead, class... Walks>
void sort_axes(Lead lead, Walks&... walks) noexcept {
  const auto step = [&](std::size_t i) {
    const Axis& axis = lead.axes[i];
    if (axis.size <= 1) return std::numeric_limits<std::ptrdiff_t>::max();
    return axis.stride < 0 ? -axis.stride : axis.stride;
  };
  for (std::size_t i = 1; i < lead.axes.size(); ++i) {
    for (std::size_t j = i; j > 0 && step(j - 1) < step(j); --j) {
      std::swap(lead.axes[j - 1], lead.axes[j]);
      (std::swap(walks.axes[j - 1], walks.axes[j]), ...);
    }
  }
}

/// Sorts the axes as those of the first walk lie that is then dense, or else as those of the last.
template <class... Walks>
void sort_by_a_dense_one(Walks&... walks) noexcept {
  static_cast<void>(((detail::sort_axes(walks, walks...), walks.dense()) || ...));
}

/// Elements that are copied at once where a container has gaps.
inline constexpr std::size_t kPiece = 1024;

/// Consecutive elements of a walk as a span: in the container's memory if the walk has no gaps, else in a buffer.
template <class T, class Axes>
class Window {
 public:
  explicit Window(const Walk<T, Axes>& walk) : walk_(walk), dense_(walk.dense()) {
    if (!dense_) walk_.join_axes();
  }

  [[nodiscard]] bool dense() const noexcept { return dense_; }

  /// The elements [first, first + count), or room for them if they are to be written. \pre count <= kPiece unless dense
  [[nodiscard]] std::span<T> open(std::size_t first, std::size_t count) {
    if (dense_) return {walk_.data + first, count};
    const auto room = std::span(buffer_).first(count);
    if constexpr (std::is_const_v<T>) walk_.read(first, room);
    return room;
  }

  /// Lets the container have what was written.
  void close([[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t count) const {
    if constexpr (!std::is_const_v<T>) {
      if (!dense_) walk_.write(first, std::span(buffer_).first(count));
    }
  }

 private:
  Walk<T, Axes> walk_;
  bool dense_;
  std::array<std::remove_const_t<T>, kPiece> buffer_;  // not set before it is used
};

/// Consecutive elements of whole channels, or of a part of one channel.
struct Piece {
  std::size_t first = 0;    ///< the first element
  std::size_t channel = 0;  ///< its channel
  ChannelLayout layout;     ///< of these elements alone

  [[nodiscard]] bool is_one_channel() const noexcept { return layout.channels() == 1; }
  /// The values of the channels of this piece, of one value a channel of all; none stays none.
  template <class T>
  [[nodiscard]] std::span<const T> of(std::span<const T> values) const noexcept {
    return values.empty() ? values : values.subspan(channel, layout.channels());
  }
};

/// Calls `visit` with pieces of at most `most` elements that cover a layout in its order. \pre one group
template <class Visit>
void for_each_piece(const ChannelLayout& whole, std::size_t most, Visit&& visit) {
  const std::size_t size = whole.size();
  const std::size_t channels = whole.channels_per_group;
  const std::size_t row = channels * whole.inner;
  Piece piece;
  for (; piece.first < size; piece.first += piece.layout.size()) {
    piece.channel = piece.first % row / whole.inner;
    if (row <= most) {
      piece.layout = {1, std::min(most / row, whole.outer - piece.first / row), channels, whole.inner};
    } else if (whole.inner <= most) {
      piece.layout = {1, 1, std::min(most / whole.inner, channels - piece.channel), whole.inner};
    } else {
      piece.layout = {1, 1, 1, std::min(most, whole.inner - piece.first % whole.inner)};
    }
    visit(std::as_const(piece));
  }
}

/// Calls `visit(piece, spans...)` with spans that cover all elements of the windows: at once if these are dense.
template <class Visit, class... Windows>
void visit_pieces(const ChannelLayout& layout, const Visit& visit, Windows... windows) {
  const bool at_once = (windows.dense() && ...);
  detail::for_each_piece(layout, at_once ? layout.size() : kPiece, [&](const Piece& piece) {
    const std::size_t count = piece.layout.size();
    visit(piece, windows.open(piece.first, count)...);
    (windows.close(piece.first, count), ...);
  });
}

}  // namespace interop::detail

/// The elements of a container as a span, for any function that takes one: `observer.observe(amct::elements(m))`.
///
/// A view of the container's memory if that has no gaps, else a packed copy in memory order; of an expression its
/// values. A view lives as long as the container's memory.
template <class T>
class Elements {
 public:
  template <interop::ContainerOf<T> C>
  explicit Elements(const C& container) {
    const auto& source = interop::detail::in_memory(container);
    auto walk = interop::detail::read_walk(source);
    interop::detail::sort_axes(walk, walk);
    if (interop::InMemory<C> && walk.dense()) {
      view_ = {walk.data, walk.size()};
      return;
    }
    copy_.resize(walk.size());
    if (walk.dense()) {
      std::copy_n(walk.data, copy_.size(), copy_.begin());
    } else {
      walk.join_axes();
      walk.read(0, copy_);
    }
    view_ = copy_;
  }
  Elements(Elements&&) noexcept = default;
  Elements& operator=(Elements&&) noexcept = default;
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() = default;

  [[nodiscard]] std::span<const T> span() const noexcept { return view_; }
  operator std::span<const T>() const noexcept { return view_; }
  /// True if the container had gaps or was an expression.
  [[nodiscard]] bool copied() const noexcept { return !copy_.empty(); }

 private:
  std::vector<T> copy_;
  std::span<const T> view_;
};

template <interop::Container C>
explicit Elements(const C&) -> Elements<interop::ElementOf<C>>;

/// See Elements.
template <interop::Container C>
[[nodiscard]] auto elements(const C& container) {
  return Elements(container);
}

/// Where the channels along an axis of the container lie in its elements(): for column-major containers too.
template <interop::Container C>
[[nodiscard]] ChannelLayout channel_layout(const C& container, std::size_t axis) {
  const auto& source = interop::detail::in_memory(container);
  auto walk = interop::detail::read_walk(source);
  interop::detail::sort_axes(walk, walk);
  return walk.layout(axis);
}

}  // namespace amct
