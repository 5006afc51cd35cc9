// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

namespace amct::exec::ops {

/// ONNX Trilu: of each matrix the part on and above the k-th diagonal (`upper`), or on and below it; zeros elsewhere.
inline void trilu(const OpContext& context) {
  const Shape shape = context.input(0).shape();
  const std::size_t rank = shape.rank();
  if (rank < 2) context.fail("input " + to_string(shape) + " is no matrix");
  const std::int64_t rows = shape[rank - 2];
  const std::int64_t columns = shape[rank - 1];
  const std::int64_t k = std::clamp(context.scalar_or<std::int64_t>(1, 0), -rows, columns);
  const bool upper = context.node.attribute_or<std::int64_t>("upper", 1) != 0;
  Tensor& y = context.pass_on(0);
  const std::size_t width = size_of(y.type());
  for (std::int64_t i = 0; i < shape.count(0, rank - 1); ++i) {
    const std::int64_t diagonal = i % rows + k;
    const std::int64_t first = upper ? 0 : std::clamp<std::int64_t>(diagonal + 1, 0, columns);
    const std::int64_t last = upper ? std::clamp<std::int64_t>(diagonal, 0, columns) : columns;
    std::byte* const row = y.raw().data() + static_cast<std::size_t>(i * columns) * width;
    if (last > first) {
      std::memset(row + static_cast<std::size_t>(first) * width, 0, static_cast<std::size_t>(last - first) * width);
    }
  }
}

inline void add_trilu(OpSet& set) { set.add("Trilu", trilu); }

}  // namespace amct::exec::ops
