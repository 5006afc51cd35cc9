// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec::ops {

namespace detail {

/// The shape that was pooled, as far as the window tells.
[[nodiscard]] inline Shape unpooled_shape(const OpContext& context) {
  const Shape& x = context.input(0).shape();
  const auto* kernel = context.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (kernel == nullptr) context.fail("kernel_shape is missing", ErrorCode::model_corrupt);
  const Window w = read_window(context, x, *kernel);
  std::vector<std::int64_t> dims = x.dims();
  const std::size_t spatial = kernel->size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t axis = 3 - spatial + i;
    dims[2 + i] = (dims[2 + i] - 1) * w.stride[axis] + w.kernel[axis] - w.pad_begin[axis] - w.pad_end[axis];
    if (dims[2 + i] < 1) context.fail("the padding leaves nothing of the result");
  }
  return Shape(std::move(dims));
}

}  // namespace detail

/// ONNX MaxUnpool: puts each element where the matching MaxPool found it, among zeros. The positions count in the shape
/// that the window gives; with an output shape as input 2, that is the upper left part of the result.
inline void max_unpool(const OpContext& context) {
  const auto x = context.floats(0).data<float>();
  const auto indices = context.data<std::int64_t>(1);
  if (context.input(1).shape() != context.input(0).shape()) {
    context.fail("indices are " + to_string(context.input(1).shape()) + ", expected " +
                 to_string(context.input(0).shape()));
  }
  const Shape inner = detail::unpooled_shape(context);
  const Shape outer = context.has(2) ? Shape(context.integers(2)) : inner;
  bool fits = outer.rank() == inner.rank();
  for (std::size_t axis = 0; axis < inner.rank() && fits; ++axis) fits = inner[axis] <= outer[axis];
  if (!fits) context.fail("the output shape is " + to_string(outer) + ", expected at least " + to_string(inner));
  const auto y = context.make_output(outer);
  std::fill(y.begin(), y.end(), 0.0F);
  const auto size = static_cast<std::int64_t>(inner.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = indices[i];
    if (rest < 0 || rest >= size) context.fail("index " + std::to_string(rest) + " is outside " + to_string(inner));
    std::int64_t target = 0;
    std::int64_t step = 1;
    for (std::size_t axis = inner.rank(); axis-- > 0;) {
      target += rest % inner[axis] * step;
      rest /= inner[axis];
      step *= outer[axis];
    }
    y[static_cast<std::size_t>(target)] = x[i];
  }
}

inline void add_max_unpool(OpSet& set) { set.add("MaxUnpool", in_float32(max_unpool)); }

}  // namespace amct::exec::ops
