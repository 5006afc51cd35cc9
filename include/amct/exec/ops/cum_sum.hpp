// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/accumulator.hpp>
#include <amct/exec/ops/arithmetic.hpp>

namespace amct::exec::ops {

/// ONNX CumSum along the axis that is input 1: each element becomes the sum of those up to it, without itself if
/// `exclusive`, from the end if `reverse`. Floats are summed in double, integers wrap around.
inline void cum_sum(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto axes = context.integers(1);
  if (axes.size() != 1) context.fail("axis has " + std::to_string(axes.size()) + " values, expected one");
  const std::size_t axis = context.axis(axes[0], shape.rank());
  const bool exclusive = context.node.attribute_or<std::int64_t>("exclusive", 0) != 0;
  const bool reverse = context.node.attribute_or<std::int64_t>("reverse", 0) != 0;
  const auto length = static_cast<std::size_t>(shape[axis]);
  const auto inner = static_cast<std::size_t>(shape.count(axis + 1, shape.rank()));
  with_number_type(context, [&]<class T>() {
    const auto x = context.data<T>(0);
    const auto y = context.make_output<T>(shape);
    const std::size_t lines = x.empty() ? 0 : x.size() / length;
    for (std::size_t line = 0; line < lines; ++line) {
      const std::size_t start = line / inner * inner * length + line % inner;
      accumulator::Sum<T> sum;
      for (std::size_t k = 0; k < length; ++k) {
        const std::size_t i = start + (reverse ? length - 1 - k : k) * inner;
        if (exclusive) y[i] = static_cast<T>(sum.sum);
        sum.add(x[i]);
        if (!exclusive) y[i] = static_cast<T>(sum.sum);
      }
    }
  });
}

inline void add_cum_sum(OpSet& set) { set.add("CumSum", with_halves(cum_sum)); }

}  // namespace amct::exec::ops
