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
#include <amct/exec/ops/strided_copy.hpp>

namespace amct::exec::ops {

namespace detail {

/// What a Slice takes of one axis.
struct SliceAxis {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t size = 0;
};

/// An integer list of a Slice, an attribute before opset 10. Numbers beyond any size mean "to the end" and are clipped.
[[nodiscard]] inline std::vector<std::int64_t> slice_list(const OpContext& context, const char* name,
                                                          std::size_t index) {
  std::vector<std::int64_t> values;
  if (const auto* attribute = context.node.attribute<std::vector<std::int64_t>>(name)) {
    values = *attribute;
  } else if (context.has(index)) {
    const Tensor wide = amct::cast(context.input(index), ElementType::int64);
    values.assign(wide.data<std::int64_t>().begin(), wide.data<std::int64_t>().end());
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  for (std::int64_t& value : values) value = std::clamp(value, -kFar, kFar);
  return values;
}

/// Positions from `start` to before `end`, both counted from the end if negative.
[[nodiscard]] inline SliceAxis slice_axis(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t dim) {
  if (dim == 0) return {0, 1, 0};
  const std::int64_t last = step > 0 ? dim : dim - 1;
  start = std::clamp<std::int64_t>(start < 0 ? start + dim : start, 0, last);
  end = std::clamp<std::int64_t>(end < 0 ? end + dim : end, step > 0 ? 0 : -1, last);
  const std::int64_t distance = step > 0 ? end - start : start - end;
  const std::int64_t stride = step > 0 ? step : -step;
  return {start, step, distance > 0 ? (distance - 1) / stride + 1 : 0};
}

[[nodiscard]] inline std::vector<SliceAxis> slice_axes(const OpContext& context, const Shape& shape) {
  std::vector<SliceAxis> slices;
  for (const std::int64_t dim : shape) slices.push_back({0, 1, dim});
  const auto starts = slice_list(context, "starts", 1);
  const auto ends = slice_list(context, "ends", 2);
  auto axes = slice_list(context, "axes", 3);
  auto steps = slice_list(context, "steps", 4);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    context.fail("starts, ends, axes and steps have " + std::to_string(starts.size()) + ", " +
                 std::to_string(ends.size()) + ", " + std::to_string(axes.size()) + " and " +
                 std::to_string(steps.size()) + " entries");
  }
  std::vector<char> given(shape.rank(), 0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = context.axis(axes[i], shape.rank());
    if (std::exchange(given[axis], char{1}) != 0) context.fail("axis " + std::to_string(axis) + " is given twice");
    if (steps[i] == 0) context.fail("the step of axis " + std::to_string(axis) + " is 0");
    slices[axis] = slice_axis(starts[i], ends[i], steps[i], shape[axis]);
  }
  return slices;
}

}  // namespace detail

/// ONNX Slice.
inline void slice(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto slices = detail::slice_axes(context, x.shape());
  std::vector<std::int64_t> dims;
  for (const auto& axis : slices) dims.push_back(axis.size);
  Tensor& y = context.make_output(0, x.type(), Shape(std::move(dims)));

  const std::size_t width = size_of(x.type());
  const auto from = byte_steps(x.shape(), width);
  const auto to = byte_steps(y.shape(), width);
  std::vector<CopyAxis> axes;
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    offset += slices[i].start * from[i];
    axes.push_back({static_cast<std::size_t>(slices[i].size), slices[i].step * from[i], to[i]});
  }
  if (y.size() != 0) strided_copy(x.raw().data() + offset, y.raw().data(), axes, width);
}

inline void add_slice(OpSet& set) { set.add("Slice", slice); }

}  // namespace amct::exec::ops
