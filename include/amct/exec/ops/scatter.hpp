// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/indices.hpp>

/// \file
/// Operators that write at positions given by data.

namespace amct::exec::ops {

namespace detail {

enum class Reduction { add, mul, min, max };

/// One element joined with another. Integers wrap around; of a number and NaN the result is NaN.
template <class T>
[[nodiscard]] T combined(Reduction reduction, T a, T b) noexcept {
  if constexpr (std::same_as<T, Half>) {
    return to_half(combined(reduction, to_float(a), to_float(b)));
  } else if constexpr (std::same_as<T, bool>) {
    return reduction == Reduction::add || reduction == Reduction::max ? a || b : a && b;
  } else {
    switch (reduction) {
      case Reduction::min: return a < b || a != a ? a : b;
      case Reduction::max: return a > b || a != a ? a : b;
      default: break;
    }
    // In 64 unsigned bits, since signed ones must not overflow.
    using Wide = std::conditional_t<std::floating_point<T>, T, std::uint64_t>;
    const auto wide_a = static_cast<Wide>(a);
    const auto wide_b = static_cast<Wide>(b);
    return static_cast<T>(reduction == Reduction::add ? wide_a + wide_b : wide_a * wide_b);
  }
}

/// Writes `size` updates from `source` on to the elements of `target` from `position` on.
using Write = void (*)(Tensor& target, std::size_t position, const Tensor& updates, std::size_t source,
                       std::size_t size);

inline void overwrite(Tensor& target, std::size_t position, const Tensor& updates, std::size_t source,
                      std::size_t size) {
  const std::size_t width = size_of(target.type());
  std::memcpy(target.raw().data() + position * width, updates.raw().data() + source * width, size * width);
}

template <class T, Reduction kReduction>
void combine(Tensor& target, std::size_t position, const Tensor& updates, std::size_t source, std::size_t size) {
  T* const to = target.data<T>().data() + position;
  const T* const from = updates.data<T>().data() + source;
  for (std::size_t i = 0; i < size; ++i) to[i] = combined(kReduction, to[i], from[i]);
}

[[nodiscard]] inline Write find_write(const OpContext& context, ElementType type) {
  const auto name = context.node.attribute_or<std::string>("reduction", "none");
  if (name == "none") return overwrite;
  return with_element_type(type, [&]<class T>() -> Write {
    if (name == "add") return combine<T, Reduction::add>;
    if (name == "mul") return combine<T, Reduction::mul>;
    if (name == "min") return combine<T, Reduction::min>;
    if (name == "max") return combine<T, Reduction::max>;
    context.fail("reduction is \"" + name + "\", expected none, add, mul, min or max");
  });
}

/// The updates: input 2, of the data's type and this shape.
[[nodiscard]] inline const Tensor& updates_of(const OpContext& context, const Shape& shape) {
  const Tensor& updates = context.input(2, context.input(0).type());
  if (updates.shape() != shape) {
    context.fail("updates are " + to_string(updates.shape()) + ", expected " + to_string(shape));
  }
  return updates;
}

}  // namespace detail

/// ONNX ScatterElements, and its predecessor Scatter: the input with each update written at its own position, but along
/// one axis at its index. Updates that meet are applied in their order.
inline void scatter_elements(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 0), shape.rank());
  const auto positions = element_positions(context, shape, axis, 1);
  const Tensor& updates = detail::updates_of(context, context.input(1).shape());
  const auto write = detail::find_write(context, updates.type());
  Tensor& y = context.pass_on(0);
  for (std::size_t i = 0; i < positions.size(); ++i) write(y, positions[i], updates, i, 1);
}

/// ONNX ScatterND: the input with each slice of the updates written where the last axis of the indices says. Updates
/// that meet are applied in their order.
inline void scatter_nd(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const SlicePositions slices = slice_positions(context, shape, 1);
  const Shape& named = context.input(1).shape();
  std::vector<std::int64_t> dims(named.begin(), named.end() - 1);
  dims.insert(dims.end(), shape.end() - static_cast<std::ptrdiff_t>(slices.rank), shape.end());
  const Tensor& updates = detail::updates_of(context, Shape(std::move(dims)));
  const auto write = detail::find_write(context, updates.type());
  Tensor& y = context.pass_on(0);
  if (slices.size == 0) return;
  for (std::size_t i = 0; i < slices.starts.size(); ++i)
    write(y, slices.starts[i], updates, i * slices.size, slices.size);
}

inline void add_scatter(OpSet& set) {
  set.add("Scatter", scatter_elements);
  set.add("ScatterElements", scatter_elements);
  set.add("ScatterND", scatter_nd);
}

}  // namespace amct::exec::ops
