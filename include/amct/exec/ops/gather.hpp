// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/indices.hpp>

/// \file
/// Operators that read at positions given by data.

namespace amct::exec::ops {

/// ONNX Gather: the slices of one axis that the indices name, as the axes of the indices.
inline void gather(const OpContext& context) {
  const Tensor& x = context.input(0);
  const Shape& from = x.shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 0), from.rank());
  const auto indices = checked_indices(context, 1, from[axis]);
  const Shape& named = context.input(1).shape();
  std::vector<std::int64_t> dims(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), named.begin(), named.end());
  dims.insert(dims.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  Tensor& y = context.make_output(0, x.type(), Shape(std::move(dims)));
  if (y.size() == 0) return;

  const std::size_t slice = static_cast<std::size_t>(from.count(axis + 1, from.rank())) * size_of(x.type());
  const std::size_t row = static_cast<std::size_t>(from[axis]) * slice;
  const std::byte* source = x.raw().data();
  std::byte* target = y.raw().data();
  for (std::int64_t outer = 0; outer < from.count(0, axis); ++outer, source += row) {
    for (const std::size_t index : indices) {
      std::memcpy(target, source + index * slice, slice);
      target += slice;
    }
  }
}

/// ONNX GatherElements: like the indices in shape; each element is read at its own position, but along one axis at its
/// index.
inline void gather_elements(const OpContext& context) {
  const Tensor& x = context.input(0);
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 0), x.shape().rank());
  const Shape shape = context.input(1).shape();
  const auto positions = element_positions(context, x.shape(), axis, 1);
  Tensor& y = context.make_output(0, x.type(), shape);
  const std::size_t width = size_of(x.type());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(y.raw().data() + i * width, x.raw().data() + positions[i] * width, width);
  }
}

/// ONNX GatherND: the last axis of the indices holds positions of the input's axes behind the `batch_dims` first ones,
/// which both have.
inline void gather_nd(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto batch_axes = context.node.attribute_or<std::int64_t>("batch_dims", 0);
  const SlicePositions slices = slice_positions(context, x.shape(), 1, batch_axes);
  const Shape& named = context.input(1).shape();
  std::vector<std::int64_t> dims(named.begin(), named.end() - 1);
  dims.insert(dims.end(), x.shape().end() - static_cast<std::ptrdiff_t>(slices.rank), x.shape().end());
  Tensor& y = context.make_output(0, x.type(), Shape(std::move(dims)));
  if (y.size() == 0) return;
  const std::size_t bytes = slices.size * size_of(x.type());
  for (std::size_t i = 0; i < slices.starts.size(); ++i) {
    std::memcpy(y.raw().data() + i * bytes, x.raw().data() + slices.starts[i] * size_of(x.type()), bytes);
  }
}

inline void add_gather(OpSet& set) {
  set.add("Gather", gather);
  set.add("GatherElements", gather_elements);
  set.add("GatherND", gather_nd);
}

}  // namespace amct::exec::ops
