// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/exec/op_context.hpp>

/// \file
/// Positions that a network computes itself. Every one is checked.

namespace amct::exec {

/// An index into an axis of `size` positions, counted from its end if negative. Refuses one outside.
[[nodiscard]] inline std::size_t checked_index(const OpContext& context, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) {
    context.fail("index " + std::to_string(index) + " is outside an axis of " + std::to_string(size));
  }
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

/// The elements of an input of int32 or int64, as they are.
[[nodiscard]] inline std::vector<std::int64_t> index_values(const OpContext& context, std::size_t input) {
  const Tensor& tensor = context.input(input);
  if (tensor.type() != ElementType::int32 && tensor.type() != ElementType::int64) {
    context.unsupported("input " + std::to_string(input) + " is " + name_of(tensor.type()) +
                        ", expected int32 or int64");
  }
  const Tensor wide = amct::cast(tensor, ElementType::int64);
  const auto values = wide.data<std::int64_t>();
  return {values.begin(), values.end()};
}

/// The indices that an input of int32 or int64 holds into one axis of `size` positions.
[[nodiscard]] inline std::vector<std::size_t> checked_indices(const OpContext& context, std::size_t input,
                                                              std::int64_t size) {
  std::vector<std::size_t> indices;
  for (const std::int64_t value : index_values(context, input)) {
    indices.push_back(checked_index(context, value, size));
  }
  return indices;
}

/// The positions in a dense tensor of `shape` that the indices of input `input` name: each index stands for its own
/// position, but along `axis` for its value.
[[nodiscard]] inline std::vector<std::size_t> element_positions(const OpContext& context, const Shape& shape,
                                                                std::size_t axis, std::size_t input) {
  const Shape& named = context.input(input).shape();
  const std::size_t rank = shape.rank();
  bool fits = named.rank() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) fits = i == axis || named[i] <= shape[i];
  if (!fits) context.fail("indices " + to_string(named) + " do not fit " + to_string(shape));

  std::vector<std::size_t> positions = checked_indices(context, input, shape[axis]);
  std::vector<std::size_t> step(rank);
  for (std::size_t i = 0; i < rank; ++i) step[i] = static_cast<std::size_t>(shape.count(i + 1, rank));
  std::vector<std::size_t> at(rank, 0);
  std::size_t start = 0;  // of the current index, at position 0 of the axis
  for (std::size_t& position : positions) {
    position = start + position * step[axis];
    for (std::size_t i = rank; i-- > 0;) {
      const std::size_t moved = i == axis ? 0 : step[i];
      start += moved;
      if (++at[i] < static_cast<std::size_t>(named[i])) break;
      start -= moved * at[i];
      at[i] = 0;
    }
  }
  return positions;
}

/// Slices of a dense tensor: its last `rank` axes, at several places.
struct SlicePositions {
  std::size_t rank;
  std::size_t size;                 ///< elements of a slice
  std::vector<std::size_t> starts;  ///< element at which each slice starts
};

/// The slices of a tensor of `shape` that input `input` names: its last axis holds positions along the axes of the
/// tensor that follow the first `batch_axes`, in which each index has its own position.
[[nodiscard]] inline SlicePositions slice_positions(const OpContext& context, const Shape& shape, std::size_t input,
                                                    std::int64_t batch_axes = 0) {
  const Shape& named = context.input(input).shape();
  const auto refuse = [&] {
    context.fail("indices " + to_string(named) + " and " + std::to_string(batch_axes) + " batch axes do not fit " +
                 to_string(shape));
  };
  if (batch_axes < 0 || static_cast<std::size_t>(batch_axes) >= named.rank()) refuse();
  const auto batch = static_cast<std::size_t>(batch_axes);
  const auto depth = static_cast<std::size_t>(named[named.rank() - 1]);
  if (depth < 1 || batch > shape.rank() || depth > shape.rank() - batch) refuse();
  for (std::size_t i = 0; i < batch; ++i) {
    if (named[i] != shape[i]) refuse();
  }

  SlicePositions slices{shape.rank() - batch - depth, 0, {}};
  slices.size = static_cast<std::size_t>(shape.count(batch + depth, shape.rank()));
  const auto values = index_values(context, input);
  const auto count = static_cast<std::size_t>(named.count(0, named.rank() - 1));
  const auto per_batch = static_cast<std::size_t>(named.count(batch, named.rank() - 1));
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t start = i / per_batch;
    for (std::size_t k = 0; k < depth; ++k) {
      const std::int64_t size = shape[batch + k];
      start = start * static_cast<std::size_t>(size) + checked_index(context, values[i * depth + k], size);
    }
    slices.starts.push_back(start * slices.size);
  }
  return slices;
}

}  // namespace amct::exec
