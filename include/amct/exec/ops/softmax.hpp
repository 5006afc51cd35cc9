// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/kernel/reduce_f32.hpp>

namespace amct::exec::ops {

namespace detail {

/// The rows over which a softmax goes: [outer, length, inner] along one axis.
struct SoftmaxRows {
  std::size_t outer = 1, length = 1, inner = 1;
};

/// One axis from opset 13 on, by default the last; before that all axes from the given one on, by default from 1.
[[nodiscard]] inline SoftmaxRows softmax_rows(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const bool one_axis = context.opset >= 13;
  const auto value = context.node.attribute_or<std::int64_t>("axis", one_axis ? -1 : 1);
  const bool at_end = !one_axis && value == static_cast<std::int64_t>(shape.rank());
  const std::size_t axis = at_end ? shape.rank() : context.axis(value, shape.rank());
  const std::size_t last = one_axis ? axis + 1 : shape.rank();
  return {static_cast<std::size_t>(shape.count(0, axis)), static_cast<std::size_t>(shape.count(axis, last)),
          static_cast<std::size_t>(shape.count(last, shape.rank()))};
}

/// Calls row(x, y) with each row of the input and of the result, several at once. Rows that are not consecutive are
/// copied.
template <class Row>
void for_each_softmax_row(const OpContext& context, const Row& row) {
  const SoftmaxRows rows = softmax_rows(context);
  const auto [x, y] = context.make_output_over<float>(0);
  if (x.empty()) return;
  const std::size_t grain = std::max<std::size_t>(1, (kElementGrain >> 2) / rows.length);
  parallel_for(rows.outer * rows.inner, grain, [&, x = x, y = y](std::size_t first, std::size_t count) {
    std::vector<float> copy(rows.inner == 1 ? 0 : rows.length);
    for (std::size_t r = first; r < first + count; ++r) {
      const std::size_t start = r / rows.inner * rows.length * rows.inner + r % rows.inner;
      if (rows.inner == 1) {
        row(x.subspan(start, rows.length), y.subspan(start, rows.length));
        continue;
      }
      for (std::size_t i = 0; i < rows.length; ++i) copy[i] = x[start + i * rows.inner];
      row(std::span<const float>(copy), std::span<float>(copy));
      for (std::size_t i = 0; i < rows.length; ++i) y[start + i * rows.inner] = copy[i];
    }
  });
}

}  // namespace detail

/// ONNX Softmax: e^(x - max) divided by the sum of these.
inline void softmax(const OpContext& context) {
  detail::for_each_softmax_row(context, [](std::span<const float> x, std::span<float> y) {
    const auto sum = static_cast<float>(exp_f32(x, max_f32(x), y));
    combine_f32(CombineF32::div, {y.data()}, {&sum, true}, y);
  });
}

/// ONNX LogSoftmax: x - max - log(sum of e^(x - max)).
inline void log_softmax(const OpContext& context) {
  detail::for_each_softmax_row(context, [](std::span<const float> x, std::span<float> y) {
    std::vector<float> powers(x.size());
    const float top = max_f32(x);
    const auto low = static_cast<float>(std::log(exp_f32(x, top, powers)));
    combine_f32(CombineF32::sub, {x.data()}, {&top, true}, y);
    combine_f32(CombineF32::sub, {y.data()}, {&low, true}, y);
  });
}

/// ONNX Hardmax: 1 for the first of the largest elements, 0 for the others.
inline void hardmax(const OpContext& context) {
  detail::for_each_softmax_row(context, [](std::span<const float> x, std::span<float> y) {
    const auto top = std::max_element(x.begin(), x.end()) - x.begin();
    std::fill(y.begin(), y.end(), 0.0F);
    y[static_cast<std::size_t>(top)] = 1.0F;
  });
}

inline void add_softmax(OpSet& set) {
  set.add("Softmax", in_float32(softmax));
  set.add("LogSoftmax", in_float32(log_softmax));
  set.add("Hardmax", in_float32(hardmax));
}

}  // namespace amct::exec::ops
