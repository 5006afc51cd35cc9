// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/broadcast.hpp>

namespace amct::exec::ops {

/// ONNX Gemm, float32: alpha * A' * B' + beta * C, with C broadcast to the result.
inline void gemm_op(const OpContext& context) {
  const Tensor& a = context.floats(0);
  const Tensor& b = context.floats(1);
  if (a.shape().rank() != 2 || b.shape().rank() != 2) {
    context.fail("inputs " + to_string(a.shape()) + " and " + to_string(b.shape()) + " must be matrices");
  }
  const bool transpose_a = context.node.attribute_or<std::int64_t>("transA", 0) != 0;
  const bool transpose_b = context.node.attribute_or<std::int64_t>("transB", 0) != 0;
  const std::int64_t m = a.shape()[transpose_a ? 1 : 0];
  const std::int64_t k = a.shape()[transpose_a ? 0 : 1];
  const std::int64_t n = b.shape()[transpose_b ? 0 : 1];
  if (b.shape()[transpose_b ? 1 : 0] != k) {
    context.fail("inputs " + to_string(a.shape()) + " and " + to_string(b.shape()) + " do not fit");
  }
  const Shape shape{m, n};
  const auto y = context.make_output(shape);
  gemm(static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k), a.data<float>().data(),
       transpose_a, b.data<float>().data(), transpose_b, y.data(), false);
  const float alpha = context.node.attribute_or<float>("alpha", 1.0F);
  if (alpha != 1.0F) std::transform(y.begin(), y.end(), y.begin(), [&](float v) { return alpha * v; });
  if (!context.has(2)) return;
  const Tensor& c = context.floats(2);
  if (broadcast_shape(context, c.shape(), shape) != shape) context.fail("C " + to_string(c.shape()) + " is too large");
  const float beta = context.node.attribute_or<float>("beta", 1.0F);
  const auto values = c.data<float>();
  for_each_broadcast(shape, shape, c.shape(),
                     [&](std::size_t i, std::size_t, std::size_t j) { y[i] += beta * values[j]; });
}

/// ONNX MatMul, float32, with numpy's rules for batches and vectors.
inline void matmul(const OpContext& context) {
  const Tensor& a = context.floats(0);
  const Tensor& b = context.floats(1);
  std::vector<std::int64_t> left = a.shape().dims();
  std::vector<std::int64_t> right = b.shape().dims();
  if (left.empty() || right.empty()) context.fail("a scalar cannot be multiplied as a matrix");
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  const std::int64_t m = left[left.size() - 2];
  const std::int64_t k = left.back();
  const std::int64_t n = right.back();
  if (right[right.size() - 2] != k) {
    context.fail("inputs " + to_string(a.shape()) + " and " + to_string(b.shape()) + " do not fit");
  }
  const Shape left_batch(std::vector<std::int64_t>(left.begin(), left.end() - 2));
  const Shape right_batch(std::vector<std::int64_t>(right.begin(), right.end() - 2));
  const Shape batch = broadcast_shape(context, left_batch, right_batch);
  std::vector<std::int64_t> dims = batch.dims();
  if (!row) dims.push_back(m);
  if (!column) dims.push_back(n);
  const auto y = context.make_output(Shape(std::move(dims)));
  const float* from_a = a.data<float>().data();
  const float* from_b = b.data<float>().data();
  if (right_batch.size() == 1) {  // one matrix for all rows: a single product
    gemm(left_batch.size() * static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k),
         from_a, false, from_b, false, y.data(), false);
    return;
  }
  for_each_broadcast(batch, left_batch, right_batch, [&](std::size_t i, std::size_t ia, std::size_t ib) {
    gemm(static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k),
         from_a + ia * static_cast<std::size_t>(m * k), false, from_b + ib * static_cast<std::size_t>(k * n), false,
         y.data() + i * static_cast<std::size_t>(m * n), false);
  });
}

}  // namespace amct::exec::ops
