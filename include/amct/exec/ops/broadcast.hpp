// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>

namespace amct::exec {

/// The shape two operands give together by numpy's rules.
[[nodiscard]] inline Shape broadcast_shape(const OpContext& context, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from_a = i + a.rank() >= rank ? a[i + a.rank() - rank] : 1;
    const std::int64_t from_b = i + b.rank() >= rank ? b[i + b.rank() - rank] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      context.fail("shapes " + to_string(a) + " and " + to_string(b) + " cannot be broadcast");
    }
    dims[i] = from_a == 1 ? from_b : from_a;
  }
  return Shape(std::move(dims));
}

namespace detail {

/// Steps of an operand along each axis of the result; 0 where it is repeated.
[[nodiscard]] inline std::vector<std::size_t> broadcast_strides(const Shape& operand, std::size_t rank) {
  std::vector<std::size_t> strides(rank, 0);
  std::size_t step = 1;
  for (std::size_t i = operand.rank(); i-- > 0;) {
    strides[i + rank - operand.rank()] = operand[i] == 1 ? 0 : step;
    step *= static_cast<std::size_t>(operand[i]);
  }
  return strides;
}

}  // namespace detail

/// Calls visit(i, index_a, index_b) for each element i of `result`, to which both operands are broadcast.
template <class Visit>
void for_each_broadcast(const Shape& result, const Shape& a, const Shape& b, Visit&& visit) {
  const std::size_t size = result.size();
  if (a == result && b == result) {
    for (std::size_t i = 0; i < size; ++i) visit(i, i, i);
    return;
  }
  if (a == result && b.size() == 1) {
    for (std::size_t i = 0; i < size; ++i) visit(i, i, std::size_t{0});
    return;
  }
  const std::size_t rank = result.rank();
  const auto step_a = detail::broadcast_strides(a, rank);
  const auto step_b = detail::broadcast_strides(b, rank);
  std::vector<std::size_t> position(rank, 0);
  std::size_t index_a = 0;
  std::size_t index_b = 0;
  for (std::size_t i = 0; i < size; ++i) {
    visit(i, index_a, index_b);
    for (std::size_t axis = rank; axis-- > 0;) {
      index_a += step_a[axis];
      index_b += step_b[axis];
      if (++position[axis] < static_cast<std::size_t>(result[axis])) break;
      index_a -= step_a[axis] * position[axis];
      index_b -= step_b[axis] * position[axis];
      position[axis] = 0;
    }
  }
}

}  // namespace amct::exec
