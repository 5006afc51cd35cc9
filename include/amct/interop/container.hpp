// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The array functions of amct for containers of other libraries. interop/eigen.hpp and interop/xtensor.hpp tell where
/// the elements of theirs lie (a Door); everything else is here. Include those, not this header.
///
/// Elements are taken in the order in which they lie in memory, so that a container without gaps is a span, whatever
/// its storage order. Axes are those of the container: axis 0 of a matrix is its rows, column-major or not.

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/residual.hpp>
#include <amct/observe/concept.hpp>
#include <amct/quantize/arq.hpp>

namespace amct {

namespace interop {

/// One axis of a container: its size, and how many elements apart two neighbours along it lie.
struct Axis {
  std::size_t size = 0;
  std::ptrdiff_t stride = 0;
  std::size_t index = 0;  ///< which axis of the container; set by amct
};

/// What amct must know of a container type C. A specialisation has
/// - `Element`, the type of its elements;
/// - `axes(const C&)`, an array or vector of Axis;
/// - `data(C&)`, and the same for const C&, a pointer to the element whose indices are all 0;
/// - instead of these two, for an expression that lies nowhere yet: `evaluate(const C&)`, a container of its values.
template <class C>
struct Door;

template <class C>
using DoorOf = Door<std::remove_cvref_t<C>>;

/// A type that some included interop header knows.
template <class C>
concept Container = requires {
  typename DoorOf<C>::Element;
};

template <Container C>
using ElementOf = typename DoorOf<C>::Element;

/// A container whose elements can be looked at where they are.
template <class C>
concept InMemory = Container<C> && requires(const std::remove_cvref_t<C>& c) {
  { DoorOf<C>::data(c) } -> std::convertible_to<const ElementOf<C>*>;
};

/// A container, map, block or view that can be written to: not const, and not an expression to be computed.
template <class C>
concept Writable = Container<C> && requires(std::remove_reference_t<C>& c) {
  { DoorOf<C>::data(c) } -> std::convertible_to<ElementOf<C>*>;
};

}  // namespace interop

/// A container or expression of float32 elements. Others: cast first (Eigen `m.cast<float>()`, `xt::cast<float>(a)`).
template <class C>
concept FloatContainer = interop::Container<C> && std::same_as < interop::ElementOf<C>,
float > ;

/// A container or expression of codes: int8 or int16 elements.
template <class C>
concept CodeContainer = interop::Container<C> && CodeStorage<interop::ElementOf<C>>;

/// A float32 container that can be written to.
template <class C>
concept FloatTarget = FloatContainer<C> && interop::Writable<C>;

/// An int8 or int16 container that can be written to.
template <class C>
concept CodeTarget = CodeContainer<C> && interop::Writable<C>;

namespace interop::detail {

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
    assert(*index < axes.size());
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

  /// Calls `visit` with each of the elements [first, first + count). \pre at least one axis
  template <class Visit>
  void for_each(std::size_t first, std::size_t count, Visit&& visit) const {
    const Axis& row = axes[axes.size() - 1];
    while (count > 0) {
      std::size_t rest = first / row.size;
      const std::size_t column = first % row.size;
      auto offset = static_cast<std::ptrdiff_t>(column) * row.stride;
      for (std::size_t i = axes.size() - 1; i-- > 0; rest /= axes[i].size) {
        offset += static_cast<std::ptrdiff_t>(rest % axes[i].size) * axes[i].stride;
      }
      const std::size_t run = std::min(count, row.size - column);
      for (std::size_t i = 0; i < run; ++i) visit(data[offset + static_cast<std::ptrdiff_t>(i) * row.stride]);
      first += run;
      count -= run;
    }
  }
};

/// Sorts the axes of `lead` as they lie in memory, long steps first, and those of `followers` the same way. Axes of
/// size 1 come first: no step is ever made along them.
template <class Lead, class... Followers>
void sort_axes(Lead& lead, Followers&... followers) noexcept {
  const auto step = [&](std::size_t i) {
    const Axis& axis = lead.axes[i];
    if (axis.size <= 1) return std::numeric_limits<std::ptrdiff_t>::max();
    return axis.stride < 0 ? -axis.stride : axis.stride;
  };
  for (std::size_t i = 1; i < lead.axes.size(); ++i) {
    for (std::size_t j = i; j > 0 && step(j - 1) < step(j); --j) {
      std::swap(lead.axes[j - 1], lead.axes[j]);
      (std::swap(followers.axes[j - 1], followers.axes[j]), ...);
    }
  }
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

/// A walk in the order of the container's own axes.
template <InMemory C>
[[nodiscard]] auto walk(C& container) {
  using Element = std::conditional_t<std::is_const_v<C>, const ElementOf<C>, ElementOf<C>>;
  Element* data = DoorOf<C>::data(container);
  Walk<Element, std::remove_cvref_t<decltype(DoorOf<C>::axes(container))>> walk{data, DoorOf<C>::axes(container)};
  for (std::size_t i = 0; i < walk.axes.size(); ++i) walk.axes[i].index = i;
  return walk;
}

/// Elements that are copied at once where a container has gaps.
inline constexpr std::size_t kPiece = 1024;

/// Calls `convert(channel, inputs, outputs)` with spans that cover all elements of two containers of one shape. The
/// spans are the containers' own memory where that has no gaps in the common order: that of `from` if `from` is dense,
/// else that of `to`.
template <Container From, Writable To, class Convert>
void convert_pieces(const From& from, To& to, std::size_t channels, std::optional<std::size_t> axis,
                    Convert&& convert) {
  const auto& source = in_memory(from);
  auto in = walk(source);
  auto out = walk(to);
  assert(std::ranges::equal(in.axes, out.axes, {}, &Axis::size, &Axis::size) && "containers of different shapes");
  sort_axes(in, out);
  const bool in_dense = in.dense();
  if (!in_dense) sort_axes(out, in);
  const bool out_dense = out.dense();
  const ChannelLayout layout = in.layout(axis);
  assert(channels == layout.channels() && "as many scales as channels");
  static_cast<void>(channels);

  std::array<ElementOf<From>, kPiece> in_buffer;
  std::array<ElementOf<To>, kPiece> out_buffer;
  for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    while (count > 0) {
      const std::size_t piece = in_dense && out_dense ? count : std::min(count, kPiece);
      if (!in_dense) in.for_each(first, piece, [to_write = in_buffer.data()](auto x) mutable { *to_write++ = x; });
      convert(channel, std::span<const ElementOf<From>>(in_dense ? in.data + first : in_buffer.data(), piece),
              std::span<ElementOf<To>>(out_dense ? out.data + first : out_buffer.data(), piece));
      if (!out_dense) out.for_each(first, piece, [to_read = out_buffer.data()](auto& y) mutable { y = *to_read++; });
      first += piece;
      count -= piece;
    }
  });
}

}  // namespace interop::detail

/// The elements of a container as a span, for any function that takes one: `observer.observe(amct::elements(m))`.
///
/// A view of the container's memory if that has no gaps, else a packed copy in memory order; of an expression its
/// values. A view lives as long as the container's memory.
class Elements {
 public:
  template <FloatContainer C>
  explicit Elements(const C& container) {
    const auto& source = interop::detail::in_memory(container);
    auto walk = interop::detail::walk(source);
    interop::detail::sort_axes(walk);
    if (interop::InMemory<C> && walk.dense()) {
      view_ = {walk.data, walk.size()};
      return;
    }
    copy_.resize(walk.size());
    if (walk.dense()) {
      std::copy_n(walk.data, copy_.size(), copy_.begin());
    } else {
      walk.for_each(0, copy_.size(), [to = copy_.begin()](float x) mutable { *to++ = x; });
    }
    view_ = copy_;
  }
  Elements(Elements&&) noexcept = default;
  Elements& operator=(Elements&&) noexcept = default;
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() = default;

  [[nodiscard]] std::span<const float> span() const noexcept { return view_; }
  operator std::span<const float>() const noexcept { return view_; }
  /// True if the container had gaps or was an expression.
  [[nodiscard]] bool copied() const noexcept { return !copy_.empty(); }

 private:
  std::vector<float> copy_;
  std::span<const float> view_;
};

/// See Elements.
template <FloatContainer C>
[[nodiscard]] Elements elements(const C& container) {
  return Elements(container);
}

/// Where the channels along an axis of the container lie in its elements(): for column-major containers too.
template <interop::Container C>
[[nodiscard]] ChannelLayout channel_layout(const C& container, std::size_t axis) {
  const auto& source = interop::detail::in_memory(container);
  auto walk = interop::detail::walk(source);
  interop::detail::sort_axes(walk);
  return walk.layout(axis);
}

/// \name Conversions between containers
/// As the functions of the same names for spans. Both containers have the same shape (asserted), storage orders may
/// differ, and both may come from different libraries. Dense containers of one storage order are neither copied nor
/// reordered; else elements pass through a small buffer on the stack. `y` may be `x` itself.
///
/// The forms with `channels` and `axis` use channels[i] for the elements with index i on that axis of the container.
/// @{

template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, CodeTarget Codes>
void quantize(const X& x, Codes&& codes, std::span<const Affine> channels, std::optional<std::size_t> axis,
              CodeRange range) {
  interop::detail::convert_pieces(x, codes, channels.size(), axis, [&](std::size_t channel, auto from, auto to) {
    amct::quantize<Contract>(from, to, channels[channel], range);
  });
}
template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, CodeTarget Codes>
void quantize(const X& x, Codes&& codes, const Affine& affine, CodeRange range) {
  amct::quantize<Contract>(x, codes, std::span(&affine, 1), std::nullopt, range);
}

template <CodeContainer Codes, FloatTarget Y>
void dequantize(const Codes& codes, Y&& y, std::span<const Affine> channels, std::optional<std::size_t> axis) {
  interop::detail::convert_pieces(codes, y, channels.size(), axis, [&](std::size_t channel, auto from, auto to) {
    amct::dequantize(from, to, channels[channel]);
  });
}
template <CodeContainer Codes, FloatTarget Y>
void dequantize(const Codes& codes, Y&& y, const Affine& affine) {
  amct::dequantize(codes, y, std::span(&affine, 1), std::nullopt);
}

template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, FloatTarget Y>
void fake_quantize(const X& x, Y&& y, std::span<const Affine> channels, std::optional<std::size_t> axis,
                   CodeRange range) {
  interop::detail::convert_pieces(x, y, channels.size(), axis, [&](std::size_t channel, auto from, auto to) {
    amct::fake_quantize<Contract>(from, to, channels[channel], range);
  });
}
template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, FloatTarget Y>
void fake_quantize(const X& x, Y&& y, const Affine& affine, CodeRange range) {
  amct::fake_quantize<Contract>(x, y, std::span(&affine, 1), std::nullopt, range);
}

/// @}

/// \name Statistics of a container
/// As the functions, or the member functions, of the same names for spans. Status::index counts elements as they lie in
/// memory: column by column in a column-major matrix.
/// @{

template <FloatContainer X>
Status extend(ValueRange& range, const X& x) {
  return range.extend(elements(x));
}

template <FloatContainer X>
[[nodiscard]] Status check_finite(const X& x) {
  return amct::check_finite(elements(x).span());
}

template <FloatContainer X>
void add_squared_residuals(const X& x, std::span<const ScaleCandidate> candidates, std::span<double> sums) {
  amct::add_squared_residuals(elements(x).span(), candidates, sums);
}

template <Observer O, FloatContainer X>
Status observe(O& observer, const X& batch) {
  return observer.observe(elements(batch));
}

/// @}

/// \name Weights in a container
/// As the members of Arq. `axis` is the axis of the output channels; without one the whole weight has one scale. The
/// storage order may differ from call to call.
/// @{

template <BitWidth B, FloatContainer W>
Status calibrate(Arq<B>& arq, const W& weight, std::optional<std::size_t> axis = std::nullopt) {
  const Elements values(weight);
  return arq.calibrate(values, axis ? channel_layout(weight, *axis) : ChannelLayout::per_tensor(values.span().size()));
}

template <BitWidth B, FloatContainer W, CodeTarget Codes>
requires std::same_as < interop::ElementOf<Codes>,
typename B::storage >
    void quantize(const Arq<B>& arq, const W& weight, Codes&& codes, std::optional<std::size_t> axis = std::nullopt) {
  amct::quantize<DivideAddRound>(weight, codes, arq.channels(), axis, B::range);
}

template <BitWidth B, FloatContainer W, FloatTarget Y>
void fake_quantize(const Arq<B>& arq, const W& weight, Y&& result, std::optional<std::size_t> axis = std::nullopt) {
  amct::fake_quantize<DivideAddRound>(weight, result, arq.channels(), axis, B::range);
}

/// @}

}  // namespace amct
