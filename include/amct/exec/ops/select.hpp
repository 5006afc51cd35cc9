// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

/// \file
/// Operators whose result is as large as data say.

namespace amct::exec::ops {

/// ONNX NonZero: the positions of the elements that are not zero, one a column, in the order of the elements.
inline void non_zero(const OpContext& context) {
  const Tensor flags = amct::cast(context.input(0), ElementType::boolean);
  const Shape& shape = flags.shape();
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags.data<bool>()[i]) found.push_back(static_cast<std::int64_t>(i));
  }
  const auto count = static_cast<std::int64_t>(found.size());
  const auto positions = context.make_output<std::int64_t>({static_cast<std::int64_t>(shape.rank()), count});
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t inner = shape.count(axis + 1, shape.rank());
    std::transform(found.begin(), found.end(), positions.begin() + static_cast<std::ptrdiff_t>(axis * found.size()),
                   [&](std::int64_t i) { return i / inner % shape[axis]; });
  }
}

/// ONNX Compress: the slices along an axis whose flag is set, or without one the elements. There may be fewer flags
/// than slices.
inline void compress(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto flags = context.data<bool>(1);
  const auto* given = context.node.attribute<std::int64_t>("axis");
  const std::size_t axis = given == nullptr ? 0 : context.axis(*given, x.shape().rank());
  Shape shape = given == nullptr ? Shape{static_cast<std::int64_t>(x.size())} : x.shape();
  const auto size = static_cast<std::size_t>(shape[axis]);
  if (flags.size() > size) {
    context.fail(std::to_string(flags.size()) + " flags for " + std::to_string(size) + " positions");
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) kept.push_back(i);
  }
  const auto outer = static_cast<std::size_t>(shape.count(0, axis));
  const std::size_t slice = static_cast<std::size_t>(shape.count(axis + 1, shape.rank())) * size_of(x.type());
  shape[axis] = static_cast<std::int64_t>(kept.size());
  Tensor& y = context.make_output(0, x.type(), std::move(shape));
  if (y.size() == 0) return;
  std::byte* target = y.raw().data();
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::size_t i : kept) {
      std::memcpy(target, x.raw().data() + (o * size + i) * slice, slice);
      target += slice;
    }
  }
}

inline void add_select(OpSet& set) {
  set.add("NonZero", non_zero);
  set.add("Compress", compress);
}

}  // namespace amct::exec::ops
