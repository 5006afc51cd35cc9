// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/compare.hpp>

namespace amct::exec::ops {

/// ONNX ArgMax and ArgMin: the position of the element along one axis that comes first in the order `before`, by
/// default the first of several equal ones. NaN comes before all.
template <class T>
void arg_first(const OpContext& context, bool (*before)(T, T)) {
  const Tensor& x = context.input(0);
  const Shape& shape = x.shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 0), shape.rank());
  const bool last = context.node.attribute_or<std::int64_t>("select_last_index", 0) != 0;
  if (shape[axis] == 0) context.fail("input " + to_string(shape) + " has no elements along the axis");
  std::vector<std::int64_t> dims = shape.dims();
  dims[axis] = 1;
  if (context.node.attribute_or<std::int64_t>("keepdims", 1) == 0) {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  const auto y = context.make_output<std::int64_t>(Shape(std::move(dims)));
  const auto from = x.data<T>();
  const auto length = static_cast<std::size_t>(shape[axis]);
  const auto inner = static_cast<std::size_t>(shape.count(axis + 1, shape.rank()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t start = i / inner * inner * length + i % inner;
    std::size_t best = 0;
    T value = from[start];
    for (std::size_t k = 1; k < length && !arithmetic::is_nan(value); ++k) {
      const T next = from[start + k * inner];
      if (before(next, value) || (last && next == value) || arithmetic::is_nan(next)) {
        best = k;
        value = next;
      }
    }
    y[i] = static_cast<std::int64_t>(best);
  }
}

inline void arg_max(const OpContext& context) {
  with_number_type(context, [&]<class T>() { arg_first<T>(context, comparison::greater<T>); });
}
inline void arg_min(const OpContext& context) {
  with_number_type(context, [&]<class T>() { arg_first<T>(context, comparison::less<T>); });
}

inline void add_arg_max(OpSet& set) {
  set.add("ArgMax", with_halves(arg_max));
  set.add("ArgMin", with_halves(arg_min));
}

}  // namespace amct::exec::ops
