// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/ops/strided_copy.hpp>

/// \file
/// Operators that repeat elements.

namespace amct::exec::ops {

/// ONNX Expand: broadcasts the input and a shape to each other by numpy's rules.
inline void expand(const OpContext& context) {
  const Tensor& x = context.input(0);
  const Shape shape = broadcast_shape(context, x.shape(), Shape(context.integers(1)));
  Tensor& y = context.make_output(0, x.type(), shape);
  const std::size_t width = size_of(x.type());
  const std::size_t added = shape.rank() - x.shape().rank();
  const auto from = byte_steps(x.shape(), width);
  const auto to = byte_steps(shape, width);
  std::vector<CopyAxis> axes;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool repeats = i < added || x.shape()[i - added] == 1;
    axes.push_back({static_cast<std::size_t>(shape[i]), repeats ? 0 : from[i - added], to[i]});
  }
  strided_copy(x.raw().data(), y.raw().data(), axes, width);
}

namespace detail {

/// The input, `repeats[i]` times along axis i.
inline void tile_by(const OpContext& context, const std::vector<std::int64_t>& repeats) {
  const Tensor& x = context.input(0);
  const std::size_t rank = x.shape().rank();
  if (repeats.size() != rank) {
    context.fail("repeats has " + std::to_string(repeats.size()) + " entries, expected " + std::to_string(rank));
  }
  std::vector<std::int64_t> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (repeats[i] < 0) context.fail("repeats has the negative entry " + std::to_string(repeats[i]));
    dims[i] = x.shape()[i] * repeats[i];
  }
  Tensor& y = context.make_output(0, x.type(), Shape(std::move(dims)));
  const std::size_t width = size_of(x.type());
  const auto from = byte_steps(x.shape(), width);
  const auto to = byte_steps(y.shape(), width);
  std::vector<CopyAxis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    axes.push_back({static_cast<std::size_t>(repeats[i]), 0, to[i] * x.shape()[i]});
    axes.push_back({static_cast<std::size_t>(x.shape()[i]), from[i], to[i]});
  }
  strided_copy(x.raw().data(), y.raw().data(), axes, width);
}

}  // namespace detail

/// ONNX Tile.
inline void tile(const OpContext& context) { detail::tile_by(context, context.integers(1)); }

/// ONNX Tile before opset 6: so many tiles along one axis.
inline void tile_one_axis(const OpContext& context) {
  const std::size_t rank = context.input(0).shape().rank();
  const auto count = context.integers(1);
  const auto axis = context.integers(2);
  if (count.size() != 1 || axis.size() != 1) context.fail("tiles and axis must be one number each");
  std::vector<std::int64_t> repeats(rank, 1);
  repeats[context.axis(axis[0], rank)] = count[0];
  detail::tile_by(context, repeats);
}

inline void add_expand(OpSet& set) {
  set.add("Expand", expand);
  set.add("Tile", tile_one_axis);
  set.add("Tile", 6, tile);
}

}  // namespace amct::exec::ops
