// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/sort_keys.hpp>

namespace amct::exec::ops {

namespace detail {

/// Slices that are equal, as positions along the axis in rising order; the first one stands for all.
using EqualSlices = std::vector<std::size_t>;

/// The slices of [outer, size, inner] along the middle axis, grouped.
/// \param sorted  groups in the order of their elements, else of their first slice
[[nodiscard]] inline std::vector<EqualSlices> group_slices(const Tensor& x, std::size_t outer, std::size_t size,
                                                           std::size_t inner, bool sorted) {
  const auto keys = sort_keys(x);
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < inner; ++i) {
        const std::uint64_t left = keys[(o * size + a) * inner + i];
        const std::uint64_t right = keys[(o * size + b) * inner + i];
        if (left != right) return left < right ? -1 : 1;
      }
    }
    return 0;
  };
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  std::vector<EqualSlices> groups;
  for (const std::size_t slice : order) {
    if (groups.empty() || compare(groups.back()[0], slice) != 0) groups.emplace_back();
    groups.back().push_back(slice);
  }
  if (!sorted) std::sort(groups.begin(), groups.end(), [](auto& a, auto& b) { return a[0] < b[0]; });
  return groups;
}

[[nodiscard]] inline std::span<std::int64_t> make_indices(const OpContext& context, std::size_t output,
                                                          std::size_t size) {
  return context.make_output(output, ElementType::int64, {static_cast<std::int64_t>(size)}).data<std::int64_t>();
}

}  // namespace detail

/// ONNX Unique: the different slices along an axis, or without one the different elements; where each is first, which
/// of them each slice equals, and how many do.
inline void unique(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto* given = context.node.attribute<std::int64_t>("axis");
  const std::size_t axis = given == nullptr ? 0 : context.axis(*given, x.shape().rank());
  const Shape shape = given == nullptr ? Shape{static_cast<std::int64_t>(x.size())} : x.shape();
  const auto outer = static_cast<std::size_t>(shape.count(0, axis));
  const auto size = static_cast<std::size_t>(shape[axis]);
  const auto inner = static_cast<std::size_t>(shape.count(axis + 1, shape.rank()));
  const bool sorted = context.node.attribute_or<std::int64_t>("sorted", 1) != 0;
  const auto groups = detail::group_slices(x, outer, size, inner, sorted);

  Shape result = shape;
  result[axis] = static_cast<std::int64_t>(groups.size());
  Tensor& y = context.make_output(0, x.type(), std::move(result));
  const std::size_t bytes = inner * size_of(x.type());
  for (std::size_t o = 0; o < outer && bytes != 0; ++o) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::memcpy(y.raw().data() + (o * groups.size() + g) * bytes, x.raw().data() + (o * size + groups[g][0]) * bytes,
                  bytes);
    }
  }
  if (context.wants_output(1)) {
    const auto firsts = detail::make_indices(context, 1, groups.size());
    std::transform(groups.begin(), groups.end(), firsts.begin(),
                   [](auto& g) { return static_cast<std::int64_t>(g[0]); });
  }
  if (context.wants_output(2)) {
    const auto inverse = detail::make_indices(context, 2, size);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t slice : groups[g]) inverse[slice] = static_cast<std::int64_t>(g);
    }
  }
  if (context.wants_output(3)) {
    const auto counts = detail::make_indices(context, 3, groups.size());
    std::transform(groups.begin(), groups.end(), counts.begin(),
                   [](auto& g) { return static_cast<std::int64_t>(g.size()); });
  }
}

inline void add_unique(OpSet& set) { set.add("Unique", unique); }

}  // namespace amct::exec::ops
