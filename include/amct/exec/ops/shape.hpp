// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>

/// \file
/// Operators that move elements without changing them; they work for every element type.

namespace amct::exec::ops {

inline void constant(const OpContext& context) {
  const auto* value = context.node.attribute<Tensor>("value");
  if (value == nullptr) context.fail("only the attribute \"value\" is supported", ErrorCode::model_unsupported);
  context.outputs[0] = *value;
}

inline void identity(const OpContext& context) { context.outputs[0] = context.input(0); }

inline void flatten(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto rank = static_cast<std::int64_t>(x.shape().rank());
  const auto axis = context.node.attribute_or<std::int64_t>("axis", 1);
  const std::size_t split = axis == rank ? x.shape().rank() : context.axis(axis, x.shape().rank());
  context.outputs[0] = x;
  context.outputs[0].reshape({x.shape().count(0, split), x.shape().count(split, x.shape().rank())});
}

inline void reshape(const OpContext& context) {
  const Tensor& x = context.input(0);
  std::vector<std::int64_t> dims = context.integers(1);
  const bool zero_is_zero = context.node.attribute_or<std::int64_t>("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zero_is_zero) dims[i] = i < x.shape().rank() ? x.shape()[i] : 0;
    if (dims[i] == -1 && open < 0) {
      open = static_cast<std::ptrdiff_t>(i);
    } else {
      constexpr std::int64_t kMost = std::int64_t{1} << 31;  // keeps the product from overflowing
      if (dims[i] > 0 && known > kMost / dims[i]) context.fail("the new shape is too large");
      known *= dims[i];
    }
  }
  if (open >= 0 && known > 0) dims[static_cast<std::size_t>(open)] = static_cast<std::int64_t>(x.size()) / known;
  Shape shape(std::move(dims));
  const bool valid = std::all_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim >= 0; });
  if (!valid || shape.size() != x.size()) {
    context.fail("input " + to_string(x.shape()) + " cannot take the shape " + to_string(shape));
  }
  context.outputs[0] = x;
  context.outputs[0].reshape(std::move(shape));
}

namespace detail {

[[nodiscard]] inline std::vector<std::int64_t> axes_of(const OpContext& context) {
  if (const auto* axes = context.node.attribute<std::vector<std::int64_t>>("axes")) return *axes;
  return context.has(1) ? context.integers(1) : std::vector<std::int64_t>{};
}

}  // namespace detail

inline void squeeze(const OpContext& context) {
  const Tensor& x = context.input(0);
  std::vector<char> drop(x.shape().rank(), 0);
  const auto axes = detail::axes_of(context);
  for (const auto axis : axes) drop[context.axis(axis, x.shape().rank())] = 1;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < x.shape().rank(); ++i) {
    const bool dropped = axes.empty() ? x.shape()[i] == 1 : drop[i] != 0;
    if (dropped && x.shape()[i] != 1)
      context.fail("axis " + std::to_string(i) + " of " + to_string(x.shape()) + " is not 1");
    if (!dropped) dims.push_back(x.shape()[i]);
  }
  context.outputs[0] = x;
  context.outputs[0].reshape(Shape(std::move(dims)));
}

inline void unsqueeze(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto axes = detail::axes_of(context);
  const std::size_t rank = x.shape().rank() + axes.size();
  std::vector<char> inserted(rank, 0);
  for (const auto axis : axes) inserted[context.axis(axis, rank)] = 1;
  if (static_cast<std::size_t>(std::accumulate(inserted.begin(), inserted.end(), 0)) != axes.size()) {
    context.fail("an axis is given twice");
  }
  std::vector<std::int64_t> dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(inserted[i] != 0 ? 1 : x.shape()[next++]);
  context.outputs[0] = x;
  context.outputs[0].reshape(Shape(std::move(dims)));
}

inline void transpose(const OpContext& context) {
  const Tensor& x = context.input(0);
  const std::size_t rank = x.shape().rank();
  std::vector<std::int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const auto order = context.node.attribute_or<std::vector<std::int64_t>>("perm", reversed);
  auto sorted = order;
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted != reversed) context.fail("perm is not an order of the " + std::to_string(rank) + " axes");

  std::vector<std::size_t> stride(rank);  // of the input along each axis of the output
  std::vector<std::int64_t> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(order[i]);
    dims[i] = x.shape()[axis];
    stride[i] = static_cast<std::size_t>(x.shape().count(axis + 1, rank));
  }
  Tensor& y = context.outputs[0] = Tensor(x.type(), Shape(std::move(dims)));
  const std::size_t width = size_of(x.type());
  std::vector<std::size_t> position(rank, 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < y.size(); ++to) {
    std::memcpy(y.raw().data() + to * width, x.raw().data() + from * width, width);
    for (std::size_t i = rank; i-- > 0;) {
      from += stride[i];
      if (++position[i] < static_cast<std::size_t>(y.shape()[i])) break;
      from -= stride[i] * position[i];
      position[i] = 0;
    }
  }
}

inline void concat(const OpContext& context) {
  const Tensor& first = context.input(0);
  const std::size_t rank = first.shape().rank();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 0), rank);
  std::vector<std::int64_t> dims = first.shape().dims();
  dims[axis] = 0;
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const Tensor& part = context.input(i);
    bool fits = part.type() == first.type() && part.shape().rank() == rank;
    for (std::size_t a = 0; fits && a < rank; ++a) fits = a == axis || part.shape()[a] == first.shape()[a];
    if (!fits) context.fail("inputs " + to_string(first.shape()) + " and " + to_string(part.shape()) + " do not fit");
    dims[axis] += part.shape()[axis];
  }
  Tensor& y = context.outputs[0] = Tensor(first.type(), Shape(std::move(dims)));
  const std::size_t width = size_of(first.type());
  const auto rows = static_cast<std::size_t>(first.shape().count(0, axis));
  std::byte* target = y.raw().data();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Tensor* part : context.inputs) {
      const std::size_t bytes = static_cast<std::size_t>(part->shape().count(axis, rank)) * width;
      if (bytes != 0) std::memcpy(target, part->raw().data() + row * bytes, bytes);
      target += bytes;
    }
  }
}

/// ONNX Pad with a constant border of float32.
inline void pad(const OpContext& context) {
  const Tensor& x = context.floats(0);
  if (context.node.attribute_or<std::string>("mode", "constant") != "constant") {
    context.fail("only the mode \"constant\" is supported", ErrorCode::model_unsupported);
  }
  const auto pads = context.integers(1);
  const std::size_t rank = x.shape().rank();
  if (pads.size() != 2 * rank)
    context.fail("pads has " + std::to_string(pads.size()) + " entries, expected " + std::to_string(2 * rank));
  const float border = context.scalar_or(2, 0.0F);
  std::vector<std::int64_t> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = x.shape()[i] + pads[i] + pads[rank + i];
    if (dims[i] < 0) context.fail("pads would remove more than there is");
  }
  const Shape shape(std::move(dims));
  const auto y = context.make_output(shape);
  const auto from = x.data<float>();
  std::vector<std::int64_t> position(rank, 0);
  for (std::size_t to = 0; to < y.size(); ++to) {
    std::int64_t index = 0;
    bool inside = true;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t p = position[i] - pads[i];
      inside = inside && p >= 0 && p < x.shape()[i];
      index = index * x.shape()[i] + p;
    }
    y[to] = inside ? from[static_cast<std::size_t>(index)] : border;
    for (std::size_t i = rank; i-- > 0;) {
      if (++position[i] < shape[i]) break;
      position[i] = 0;
    }
  }
}

}  // namespace amct::exec::ops
