// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// Rows of `bytes` that follow each other at some step on both sides.
inline void copy_rows(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step,
                      std::int64_t rows, std::int64_t bytes) {
  const std::array<CopyAxis, 2> axes{CopyAxis{static_cast<std::size_t>(rows), from_step, to_step},
                                     CopyAxis{static_cast<std::size_t>(bytes), 1, 1}};
  strided_copy(from, to, axes, 1);
}

/// The sizes of the parts of a Split: an input since opset 13, an attribute since 2, both in 1; else equal parts.
[[nodiscard]] inline std::vector<std::int64_t> split_sizes(const OpContext& context, std::int64_t whole) {
  auto sizes = context.integers("split", 1);
  const auto parts = static_cast<std::int64_t>(context.outputs.size());
  if (sizes.empty()) {
    if (parts == 0 || whole % parts != 0) {
      context.fail(std::to_string(whole) + " positions cannot be split into " + std::to_string(parts) + " equal parts");
    }
    sizes.assign(context.outputs.size(), whole / parts);
  }
  bool fits = sizes.size() == context.outputs.size();
  std::int64_t rest = whole;
  for (const std::int64_t size : sizes) {
    fits = fits && size >= 0 && size <= rest;
    if (fits) rest -= size;
  }
  if (!fits || rest != 0) {
    context.fail("split " + to_string(Shape(sizes)) + " does not fit " + std::to_string(whole) + " positions and " +
                 std::to_string(parts) + " outputs");
  }
  return sizes;
}

}  // namespace detail

/// ONNX Concat.
inline void concat(const OpContext& context) {
  const Tensor& first = context.input(0);
  const std::size_t rank = first.shape().rank();
  const std::int64_t default_axis = context.opset < 4 ? 1 : 0;
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", default_axis), rank);
  std::vector<std::int64_t> dims = first.shape().dims();
  dims[axis] = 0;
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const Tensor& part = context.input(i);
    bool fits = part.type() == first.type() && part.shape().rank() == rank;
    for (std::size_t a = 0; fits && a < rank; ++a) fits = a == axis || part.shape()[a] == first.shape()[a];
    if (!fits) context.fail("inputs " + to_string(first.shape()) + " and " + to_string(part.shape()) + " do not fit");
    dims[axis] += part.shape()[axis];
  }
  Tensor& y = context.make_output(0, first.type(), Shape(std::move(dims)));
  const auto width = static_cast<std::int64_t>(size_of(first.type()));
  const std::int64_t rows = y.shape().count(0, axis);
  const std::int64_t step = y.shape().count(axis, rank) * width;
  std::byte* target = y.raw().data();
  for (const Tensor* part : context.inputs) {
    const std::int64_t bytes = part->shape().count(axis, rank) * width;
    detail::copy_rows(part->raw().data(), bytes, target, step, rows, bytes);
    target += bytes;
  }
}

/// ONNX Split.
inline void split(const OpContext& context) {
  const Tensor& x = context.input(0);
  const std::size_t rank = x.shape().rank();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 0), rank);
  const auto sizes = detail::split_sizes(context, x.shape()[axis]);
  const auto width = static_cast<std::int64_t>(size_of(x.type()));
  const std::int64_t rows = x.shape().count(0, axis);
  const std::int64_t step = x.shape().count(axis, rank) * width;
  const std::byte* source = x.raw().data();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Shape shape = x.shape();
    shape[axis] = sizes[i];
    const std::int64_t bytes = shape.count(axis, rank) * width;
    if (context.wants_output(i)) {
      Tensor& part = context.make_output(i, x.type(), std::move(shape));
      detail::copy_rows(source, step, part.raw().data(), bytes, rows, bytes);
    }
    source += bytes;
  }
}

inline void add_concat(OpSet& set) {
  set.add("Concat", concat);
  set.add("Split", split);
}

}  // namespace amct::exec::ops
