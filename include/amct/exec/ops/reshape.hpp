// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

/// \file
/// Operators that give the same elements another shape.

namespace amct::exec::ops {

inline void identity(const OpContext& context) { context.pass_on(0); }

/// ONNX Flatten: a matrix, split at an axis.
inline void flatten(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto axis = context.node.attribute_or<std::int64_t>("axis", 1);
  const std::size_t split = axis == rank ? shape.rank() : context.axis(axis, shape.rank());
  Shape flat{shape.count(0, split), shape.count(split, shape.rank())};
  context.pass_on(0).reshape(std::move(flat));
}

/// ONNX Reshape; the shape is an attribute before opset 5.
inline void reshape(const OpContext& context) {
  const Shape& from = context.input(0).shape();
  if (context.opset >= 5) (void)context.input(1);
  std::vector<std::int64_t> dims = context.integers("shape", 1);
  const auto refuse = [&] {
    context.fail("input " + to_string(from) + " cannot take the shape " + to_string(Shape(dims)));
  };
  const bool zero_is_zero = context.node.attribute_or<std::int64_t>("allowzero", 0) != 0;
  const auto size = static_cast<std::int64_t>(from.size());
  std::int64_t room = kMostElements;
  std::int64_t known = 1;
  auto open = dims.end();
  for (auto dim = dims.begin(); dim != dims.end(); ++dim) {
    const auto i = static_cast<std::size_t>(dim - dims.begin());
    if (*dim == 0 && !zero_is_zero) *dim = i < from.rank() ? from[i] : 0;
    if (*dim < -1 || (*dim == -1 && open != dims.end())) refuse();
    if (*dim == -1) {
      open = dim;
    } else {
      if (*dim > room) refuse();
      if (*dim > 0) room /= *dim;
      known *= *dim;
    }
  }
  if (open != dims.end()) {
    if (known == 0 || size % known != 0) refuse();
    *open = size / known;
    known = size;
  }
  if (known != size) refuse();
  context.pass_on(0).reshape(Shape(std::move(dims)));
}

/// ONNX Squeeze; the axes are an attribute before opset 13. Without axes, all of size one.
inline void squeeze(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto axes = context.integers("axes", 1);
  std::vector<char> drop(shape.rank(), 0);
  for (const auto axis : axes) drop[context.axis(axis, shape.rank())] = 1;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool dropped = axes.empty() ? shape[i] == 1 : drop[i] != 0;
    if (dropped && shape[i] != 1) context.fail("axis " + std::to_string(i) + " of " + to_string(shape) + " is not 1");
    if (!dropped) dims.push_back(shape[i]);
  }
  context.pass_on(0).reshape(Shape(std::move(dims)));
}

/// ONNX Unsqueeze; the axes, counted in the result, are an attribute before opset 13.
inline void unsqueeze(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto axes = context.integers("axes", 1);
  const std::size_t rank = shape.rank() + axes.size();
  std::vector<char> inserted(rank, 0);
  for (const auto axis : axes) inserted[context.axis(axis, rank)] = 1;
  if (static_cast<std::size_t>(std::accumulate(inserted.begin(), inserted.end(), 0)) != axes.size()) {
    context.fail("an axis is given twice");
  }
  std::vector<std::int64_t> dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(inserted[i] != 0 ? 1 : shape[next++]);
  context.pass_on(0).reshape(Shape(std::move(dims)));
}

/// ONNX Shape: the sizes of the axes from `start` up to `end`, which are clipped to the axes there are.
inline void get_shape(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto clipped = [&](const char* name, std::int64_t otherwise) {
    const auto axis = context.node.attribute_or<std::int64_t>(name, otherwise);
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = clipped("start", 0);
  const std::int64_t size = std::max<std::int64_t>(0, clipped("end", rank) - start);
  const auto sizes = context.make_output<std::int64_t>({size});
  std::copy_n(shape.begin() + start, size, sizes.begin());
}

/// ONNX Size: the number of elements.
inline void get_size(const OpContext& context) {
  context.make_output<std::int64_t>({})[0] = static_cast<std::int64_t>(context.input(0).size());
}

inline void add_reshape(OpSet& set) {
  set.add("Identity", identity);
  set.add("Flatten", flatten);
  set.add("Reshape", reshape);
  set.add("Squeeze", squeeze);
  set.add("Unsqueeze", unsqueeze);
  set.add("Shape", get_shape);
  set.add("Size", get_size);
}

}  // namespace amct::exec::ops
