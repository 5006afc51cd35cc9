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

/// ONNX Transpose: axis i of the result is axis perm[i] of the input; without perm the axes are reversed.
inline void transpose(const OpContext& context) {
  const Tensor& x = context.input(0);
  const std::size_t rank = x.shape().rank();
  std::vector<std::int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const auto order = context.node.attribute_or<std::vector<std::int64_t>>("perm", reversed);
  auto sorted = order;
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted != reversed) context.fail("perm is not an order of the " + std::to_string(rank) + " axes");

  std::vector<std::int64_t> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) dims[i] = x.shape()[static_cast<std::size_t>(order[i])];
  const std::size_t width = size_of(x.type());
  Tensor& y = context.make_output(0, x.type(), Shape(std::move(dims)));
  const auto from = byte_steps(x.shape(), width);
  const auto to = byte_steps(y.shape(), width);
  std::vector<CopyAxis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    axes[i] = {static_cast<std::size_t>(y.shape()[i]), from[static_cast<std::size_t>(order[i])], to[i]};
  }
  strided_copy(x.raw().data(), y.raw().data(), axes, width);
}

inline void add_transpose(OpSet& set) { set.add("Transpose", transpose); }

}  // namespace amct::exec::ops
