// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Packed 4-bit codes in containers, as the functions of the same names for spans.
///
/// Neighbours along `axis` share a byte, whatever the storage orders. `bytes` has the shape of the codes, but
/// packed4_size(length) elements along that axis; or it is a vector, with the bytes in the order in which the codes lie
/// in memory. Without an axis the codes are packed in that order as one line, and `bytes` is a vector of
/// packed4_size(size) elements. Other shapes are refused (asserted). A vector has at most one axis longer than 1.
///
/// Where packed neighbours are neighbours in memory and the lines have no gaps, nothing is copied; else lines pass
/// through small buffers on the stack.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/packed4.hpp>
#include <amct/interop/container_door.hpp>
#include <amct/interop/container_walk.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/packed4.hpp>
#include <amct/kernel/quantize.hpp>

namespace amct {

namespace interop::detail {

/// A walk over bytes that goes the same way as one over codes. \pre `bytes` in the order of the container's own axes
template <class T, class BytesAxes, class U, class Axes>
[[nodiscard]] Walk<T, Axes> follow(const Walk<T, BytesAxes>& bytes, const Walk<U, Axes>& codes, std::size_t axis) {
  Walk<T, Axes> result{bytes.data, codes.axes};
  for (Axis& a : result.axes) {
    if (a.index == axis) a.size = packed4_size(a.size);
  }
  const bool same_axes =
      bytes.axes.size() == result.axes.size() &&
      std::ranges::all_of(result.axes, [&](const Axis& a) { return a.size == bytes.axes[a.index].size; });
  if (same_axes) {
    for (Axis& a : result.axes) a.stride = bytes.axes[a.index].stride;
    return result;
  }
  assert(bytes.is_vector() && bytes.size() == result.size() &&
         "half as many bytes along the axis, or a vector of them");
  std::ptrdiff_t stride = 0;
  for (const Axis& a : bytes.axes) {
    if (a.size > 1) stride = a.stride;
  }
  for (std::size_t i = result.axes.size(); i-- > 0;) {
    result.axes[i].stride = stride;
    stride *= static_cast<std::ptrdiff_t>(result.axes[i].size);
  }
  return result;
}

/// Moves an axis of the container to the end of the walk.
template <class Walk>
void move_last(Walk& walk, std::size_t axis) {
  const auto at = std::ranges::find(walk.axes, axis, &Axis::index);
  std::rotate(at, at + 1, walk.axes.end());
}

/// Calls `visit(codes, bytes)` with spans of codes and their bytes, which are parts of lines of `length` neighbours, or
/// all elements at once. One of the windows is written to.
template <class Visit, class Codes, class Bytes>
void visit_lines(std::size_t size, std::size_t length, const Visit& visit, Codes codes, Bytes bytes) {
  static_assert(kPiece % 2 == 0);
  const bool in_place = codes.dense() && bytes.dense();
  if (in_place && length % 2 == 0) length = size;
  const std::size_t most = in_place ? length : kPiece;
  for (std::size_t line = 0; line < size / length; ++line) {
    for (std::size_t at = 0; at < length; at += most) {
      const std::size_t count = std::min(most, length - at);
      const std::size_t first_code = line * length + at;
      const std::size_t first_byte = line * packed4_size(length) + at / 2;
      visit(codes.open(first_code, count), bytes.open(first_byte, packed4_size(count)));
      codes.close(first_code, count);
      bytes.close(first_byte, packed4_size(count));
    }
  }
}

/// Calls `visit(low, high, bytes)` with spans of at most kPiece elements: two strips of `layout.inner` that are
/// neighbours along the packed axis, and their bytes. The last `high` of an odd axis is empty.
template <class Visit, class Codes, class Bytes>
void visit_strips(const Packed4Layout& layout, const Visit& visit, Codes low, Codes high, Bytes bytes) {
  const std::size_t pairs = packed4_size(layout.length);
  for (std::size_t pair = 0; pair < layout.outer * pairs; ++pair) {
    const std::size_t k = pair % pairs * 2;
    const std::size_t strip = (pair / pairs * layout.length + k) * layout.inner;
    const std::size_t next = k + 1 < layout.length ? strip + layout.inner : strip;
    for (std::size_t i = 0; i < layout.inner; i += kPiece) {
      const std::size_t count = std::min(kPiece, layout.inner - i);
      const std::size_t high_count = next != strip ? count : 0;
      const std::size_t byte = pair * layout.inner + i;
      visit(low.open(strip + i, count), high.open(next + i, high_count), bytes.open(byte, count));
      low.close(strip + i, count);
      high.close(next + i, high_count);
      bytes.close(byte, count);
    }
  }
}

/// Strips shorter than this are gathered into lines.
inline constexpr std::size_t kShortStrip = 16;

/// Covers a container of codes, or of their real values, and its bytes with calls of `visit`, as visit_lines or
/// visit_strips do. \pre both walks in the order of the container's own axes
template <class Visit, class Codes, class Bytes>
void visit_packed(std::optional<std::size_t> axis, const Visit& visit, Codes codes, const Bytes& bytes) {
  const std::size_t size = codes.size();
  detail::sort_axes(codes, codes);
  if (!axis) {
    assert(bytes.is_vector() && bytes.size() == packed4_size(size) && "a vector of half as many bytes");
    if (size != 0) detail::visit_lines(size, size, visit, Window(codes), Window(bytes));
    return;
  }
  const ChannelLayout layout = codes.layout(axis);
  const std::size_t length = layout.channels();
  auto packed = detail::follow(bytes, codes, *axis);
  if (size == 0) return;
  if (layout.inner >= kShortStrip) {
    const Packed4Layout strips{layout.outer, length, layout.inner};
    return detail::visit_strips(strips, visit, Window(codes), Window(codes), Window(packed));
  }
  detail::move_last(codes, *axis);
  detail::move_last(packed, *axis);
  detail::visit_lines(size, length, visit, Window(codes), Window(packed));
}

using CodeStrip = std::span<std::int8_t>;
using ConstCodeStrip = std::span<const std::int8_t>;

inline void pack_strips(ConstCodeStrip low, ConstCodeStrip high, CodeStrip bytes) noexcept {
  for (std::size_t i = 0; i < high.size(); ++i) bytes[i] = pair4(low[i], high[i]);
  for (std::size_t i = high.size(); i < low.size(); ++i) bytes[i] = pair4(low[i], 0);
}

inline void unpack_strips(ConstCodeStrip bytes, CodeStrip low, CodeStrip high) noexcept {
  std::ranges::transform(bytes, low.begin(), low4);
  std::ranges::transform(bytes.first(high.size()), high.begin(), high4);
}

/// What visit_packed calls, with codes as the first arguments and bytes as the last.
struct Pack4 {
  void operator()(ConstCodeStrip codes, CodeStrip bytes) const noexcept { amct::pack4(codes, bytes); }
  void operator()(ConstCodeStrip low, ConstCodeStrip high, CodeStrip bytes) const noexcept {
    detail::pack_strips(low, high, bytes);
  }
};

struct Unpack4 {
  void operator()(CodeStrip codes, ConstCodeStrip bytes) const noexcept { amct::unpack4(bytes, codes); }
  void operator()(CodeStrip low, CodeStrip high, ConstCodeStrip bytes) const noexcept {
    detail::unpack_strips(bytes, low, high);
  }
};

template <CodeContract Contract>
struct Quantize4 {
  Affine affine;

  void operator()(std::span<const float> x, CodeStrip bytes) const noexcept {
    amct::quantize4<Contract>(x, bytes, affine);
  }
  void operator()(std::span<const float> low, std::span<const float> high, CodeStrip bytes) const noexcept {
    std::array<std::int8_t, 2 * kPiece> codes;
    const CodeStrip low_codes(codes.data(), low.size());
    const CodeStrip high_codes(codes.data() + kPiece, high.size());
    amct::quantize<Contract>(low, low_codes, affine, Int4::range);
    amct::quantize<Contract>(high, high_codes, affine, Int4::range);
    detail::pack_strips(low_codes, high_codes, bytes);
  }
};

struct Dequantize4 {
  Affine affine;

  void operator()(std::span<float> x, ConstCodeStrip bytes) const noexcept { amct::dequantize4(bytes, x, affine); }
  void operator()(std::span<float> low, std::span<float> high, ConstCodeStrip bytes) const noexcept {
    std::array<std::int8_t, 2 * kPiece> codes;
    const CodeStrip low_codes(codes.data(), low.size());
    const CodeStrip high_codes(codes.data() + kPiece, high.size());
    detail::unpack_strips(bytes, low_codes, high_codes);
    amct::dequantize(ConstCodeStrip(low_codes), low, affine);
    amct::dequantize(ConstCodeStrip(high_codes), high, affine);
  }
};

template <class Pack, Container Codes, ByteTarget Bytes>
void pack(std::optional<std::size_t> axis, const Pack& visit, const Codes& codes, Bytes& bytes) {
  detail::visit_packed(axis, visit, detail::read_walk(detail::in_memory(codes)), detail::write_walk(bytes));
}

template <class Unpack, ByteContainer Bytes, Writable Codes>
void unpack(std::optional<std::size_t> axis, const Unpack& visit, const Bytes& bytes, Codes& codes) {
  detail::visit_packed(axis, visit, detail::write_walk(codes), detail::read_walk(detail::in_memory(bytes)));
}

}  // namespace interop::detail

/// Packs codes of -8..7, two a byte.
template <ByteContainer Codes, ByteTarget Bytes>
void pack4(const Codes& codes, Bytes&& bytes, std::optional<std::size_t> axis = std::nullopt) {
  interop::detail::pack(axis, interop::detail::Pack4{}, codes, bytes);
}

/// The reverse; the shape of `codes` tells how many there are.
template <ByteContainer Bytes, ByteTarget Codes>
void unpack4(const Bytes& bytes, Codes&& codes, std::optional<std::size_t> axis = std::nullopt) {
  interop::detail::unpack(axis, interop::detail::Unpack4{}, bytes, codes);
}

/// Turns real values into packed 4-bit codes.
template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, ByteTarget Bytes>
void quantize4(const X& x, Bytes&& bytes, const Affine& affine, std::optional<std::size_t> axis = std::nullopt) {
  interop::detail::pack(axis, interop::detail::Quantize4<Contract>{affine}, x, bytes);
}

/// Turns packed 4-bit codes back into real values; the shape of `x` tells how many there are.
template <ByteContainer Bytes, FloatTarget X>
void dequantize4(const Bytes& bytes, X&& x, const Affine& affine, std::optional<std::size_t> axis = std::nullopt) {
  interop::detail::unpack(axis, interop::detail::Dequantize4{affine}, bytes, x);
}

}  // namespace amct
