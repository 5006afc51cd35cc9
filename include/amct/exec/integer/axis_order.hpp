// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>

/// \file
/// Axes of tensors whose channels are the last axis instead of the second: [N, spatial..., C].

namespace amct::exec::integer {

/// The order of axes that brings the channels to the end: 0, 2, ..., 1.
[[nodiscard]] inline std::vector<std::int64_t> to_channels_last(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}
/// The reverse: 0, rank - 1, 1, 2, ...
[[nodiscard]] inline std::vector<std::int64_t> from_channels_last(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2) std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}

/// Where an axis is with channels last; counted from the end if negative. Axes outside stay outside.
[[nodiscard]] constexpr std::int64_t axis_with_channels_last(std::int64_t axis, std::size_t rank) noexcept {
  const auto axes = static_cast<std::int64_t>(rank);
  if (axis < 0) axis += axes;
  if (axis < 1 || axis >= axes) return axis;
  return axis == 1 ? axes - 1 : axis - 1;
}

/// A list with an entry for each axis, or with several such lists one behind the other, for channels last.
/// \pre list.size() is a multiple of rank
[[nodiscard]] inline Tensor list_with_channels_last(const Tensor& list, std::size_t rank) {
  const auto order = to_channels_last(rank);
  const std::size_t width = size_of(list.type());
  Tensor result(list.type(), list.shape());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::size_t from = i / rank * rank + static_cast<std::size_t>(order[i % rank]);
    std::copy_n(list.raw().begin() + static_cast<std::ptrdiff_t>(from * width), width,
                result.raw().begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  return result;
}

}  // namespace amct::exec::integer
