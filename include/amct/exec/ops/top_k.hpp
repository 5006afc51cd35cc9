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
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/sort_keys.hpp>

namespace amct::exec::ops {

namespace detail {

/// K: an input of one element since opset 10, an attribute before; at most the positions there are.
[[nodiscard]] inline std::int64_t top_k_count(const OpContext& context, std::int64_t size) {
  std::int64_t count = 0;
  if (context.opset < 10) {
    count = context.node.attribute_or<std::int64_t>("k", 0);
  } else {
    const auto given = context.integers(1);
    if (given.size() != 1) context.fail("K has " + std::to_string(given.size()) + " elements, expected one");
    count = given[0];
  }
  if (count < 0 || count > size) {
    context.fail("K is " + std::to_string(count) + ", expected 0 to " + std::to_string(size));
  }
  return count;
}

}  // namespace detail

/// ONNX TopK: the K largest (or smallest) elements along an axis, best first, and their positions. Of equal ones the
/// first comes first; NaN counts as the largest number.
inline void top_k(const OpContext& context) {
  const Tensor& x = context.input(0);
  const std::size_t rank = x.shape().rank();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", -1), rank);
  const bool largest = context.node.attribute_or<std::int64_t>("largest", 1) != 0;
  const auto size = static_cast<std::size_t>(x.shape()[axis]);
  const auto count = static_cast<std::size_t>(detail::top_k_count(context, x.shape()[axis]));
  Shape shape = x.shape();
  shape[axis] = static_cast<std::int64_t>(count);
  Tensor& values = context.make_output(0, x.type(), shape);
  const bool wants_positions = context.wants_output(1);
  if (wants_positions) (void)context.make_output(1, ElementType::int64, shape);

  const std::size_t width = size_of(x.type());
  const auto inner = static_cast<std::size_t>(x.shape().count(axis + 1, rank));
  const auto rows = static_cast<std::size_t>(x.shape().count(0, axis)) * inner;
  const auto keys = sort_keys(x);
  std::vector<std::size_t> order(size);
  for (std::size_t row = 0; row < rows && count != 0; ++row) {
    const std::size_t first = row / inner * inner * size + row % inner;
    const auto key = [&](std::size_t i) { return keys[first + i * inner]; };
    std::iota(order.begin(), order.end(), 0);
    const auto better = [&](std::size_t a, std::size_t b) {
      if (key(a) != key(b)) return largest ? key(a) > key(b) : key(a) < key(b);
      return a < b;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), better);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t to = row / inner * inner * count + row % inner + i * inner;
      std::memcpy(values.raw().data() + to * width, x.raw().data() + (first + order[i] * inner) * width, width);
      if (wants_positions) context.outputs[1].data<std::int64_t>()[to] = static_cast<std::int64_t>(order[i]);
    }
  }
}

inline void add_top_k(OpSet& set) { set.add("TopK", top_k); }

}  // namespace amct::exec::ops
