// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/ops/codes.hpp>
#include <amct/exec/ops/integer_product.hpp>
#include <amct/exec/ops/matmul.hpp>
#include <amct/kernel/packed_weights.hpp>

namespace amct::exec::ops {

namespace detail {

/// Sizes of a product of codes.
[[nodiscard]] inline BatchedProduct integer_product(const OpContext& context, std::size_t a, std::size_t b) {
  require_8_bits(context, a);
  require_8_bits(context, b);
  return batched_product(context, context.input(a).shape(), context.input(b).shape());
}

/// The accumulators of A and B, which may have a zero point for each row of A and column of B.
inline void accumulate(const BatchedProduct& product, const SignedCodes& a, const SignedCodes& b,
                       std::span<std::int32_t> acc) {
  const auto m = static_cast<std::size_t>(product.m);
  const auto n = static_cast<std::size_t>(product.n);
  const auto k = static_cast<std::size_t>(product.k);
  const WeightLayout layout = WeightLayout::matrix(k, n);
  if (product.right_batch.size() == 1) {  // one matrix for all rows: a single product
    return multiply_codes(product.batch.size() * m, a.codes.data(), a.zeros, b.codes.data(), layout, b.zeros,
                          acc.data());
  }
  for_each_broadcast(product.batch, product.left_batch, product.right_batch,
                     [&](std::size_t i, std::size_t ia, std::size_t ib) {
                       multiply_codes(m, a.codes.data() + ia * m * k, a.zeros, b.codes.data() + ib * k * n, layout,
                                      b.zeros, acc.data() + i * m * n);
                     });
}

/// The only value, or the one of a row.
template <class T>
[[nodiscard]] T at(const std::vector<T>& values, std::size_t index) noexcept {
  return values.size() == 1 ? values[0] : values[index % values.size()];
}

}  // namespace detail

/// ONNX MatMulInteger: int8 or uint8 matrices minus their zero points (one, or one for each row of A or column of B),
/// with int32 results modulo 2^32.
inline void matmul_integer(const OpContext& context) {
  const detail::BatchedProduct product = detail::integer_product(context, 0, 1);
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  const auto zeros_a = zero_points(context, 2, a.type(), static_cast<std::size_t>(product.m));
  const auto zeros_b = zero_points(context, 3, b.type(), static_cast<std::size_t>(product.n));
  detail::accumulate(product, to_signed(a, zeros_a), to_signed(b, zeros_b),
                     context.make_output<std::int32_t>(product.result));
}

/// ONNX QLinearMatMul: the codes of a product of codes. Scales and zero points are one for the tensor, or one for each
/// row of A and of the result or column of B. See requantize_codes for the arithmetic.
inline void qlinear_matmul(const OpContext& context) {
  const detail::BatchedProduct product = detail::integer_product(context, 0, 3);
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(3);
  const auto m = static_cast<std::size_t>(product.m);
  const auto n = static_cast<std::size_t>(product.n);
  const auto scales_a = scales(context, 1, m);
  const auto scales_b = scales(context, 4, n);
  const auto scales_y = scales(context, 6, m);
  require_usable(context, scales_y);
  require_8_bits(context, 7);
  const ElementType type = context.input(7).type();
  const auto zeros_y = zero_points(context, 7, type, m);
  Tensor& y = context.make_output(0, type, product.result);
  std::vector<std::int32_t> acc(y.size());
  detail::accumulate(product, to_signed(a, zero_points(context, 2, a.type(), m)),
                     to_signed(b, zero_points(context, 5, b.type(), n)), acc);
  const bool by_row = std::max({scales_a.size(), scales_y.size(), zeros_y.size()}) > 1;
  const std::size_t all_rows = product.batch.size() * m;
  const std::size_t rows = by_row ? 1 : all_rows;  // with the same parameters
  const ChannelLayout layout{1, rows, scales_b.size(), n / scales_b.size()};
  for (std::size_t row = 0; row < all_rows; row += rows) {
    std::vector<float> multipliers;
    for (const float scale_b : scales_b) {
      multipliers.push_back(detail::at(scales_a, row) * scale_b / detail::at(scales_y, row));
    }
    requantize_codes(std::span(acc).subspan(row * n, rows * n), layout, {}, multipliers, detail::at(zeros_y, row),
                     code_type(context, type), y.raw().subspan(row * n, rows * n));
  }
}

inline void add_integer_matmul(OpSet& set) {
  set.add("MatMulInteger", matmul_integer);
  set.add("QLinearMatMul", qlinear_matmul);
}

}  // namespace amct::exec::ops
