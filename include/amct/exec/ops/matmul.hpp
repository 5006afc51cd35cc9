// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec::ops {

namespace detail {

/// Calls compute(std::type_identity<T>) for the type of input 0, if matrices of it are multiplied.
template <class Compute>
void in_matrix_type(const OpContext& context, const Compute& compute) {
  switch (context.input(0).type()) {
    case ElementType::float32: return compute(std::type_identity<float>{});
    case ElementType::float64: return compute(std::type_identity<double>{});
    case ElementType::int32: return compute(std::type_identity<std::int32_t>{});
    case ElementType::uint32: return compute(std::type_identity<std::uint32_t>{});
    case ElementType::int64: return compute(std::type_identity<std::int64_t>{});
    case ElementType::uint64: return compute(std::type_identity<std::uint64_t>{});
    default:
      context.unsupported(std::string("matrices are ") + name_of(context.input(0).type()) +
                          ", expected floats or integers of 32 or 64 bits");
  }
}

/// Float16 is computed in float32, float64 as it is.
[[nodiscard]] inline Op half_in_float32(void (*op)(const OpContext&)) {
  return [op, promoted = in_float32(op)](const OpContext& context) {
    context.input(0).type() == ElementType::float16 ? promoted(context) : op(context);
  };
}

/// A factor such as alpha in the type of the matrices; for integers it must be whole.
template <class T>
[[nodiscard]] T factor_of(const OpContext& context, const char* name) {
  const float value = context.node.attribute_or<float>(name, 1.0F);
  if (std::is_integral_v<T> && !(std::trunc(value) == value && std::fabs(value) < 0x1p31F)) {
    context.unsupported(std::string(name) + " is " + std::to_string(value) + ", expected a whole number for integers");
  }
  return std::is_integral_v<T> ? static_cast<T>(static_cast<std::int64_t>(value)) : static_cast<T>(value);
}

/// a * b + c, where the result of the multiplication is rounded; integers wrap.
template <class T>
[[nodiscard]] T multiply_add(T a, T b, T c) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(c));
  } else {
    return a * b + c;
  }
}

}  // namespace detail

AMCT_EXACT_BEGIN

/// y = alpha * y + beta * C, with C broadcast to y.
template <class T>
void scale_and_add(const OpContext& context, std::span<T> y, const Shape& shape) {
  const T alpha = detail::factor_of<T>(context, "alpha");
  if (alpha != T{1}) {
    std::transform(y.begin(), y.end(), y.begin(), [&](T v) { return detail::multiply_add(alpha, v, T{}); });
  }
  if (!context.has(2)) return;
  const Tensor& c = context.input(2, element_type_of<T>);
  if (broadcast_shape(context, c.shape(), shape) != shape) context.fail("C " + to_string(c.shape()) + " is too large");
  const T beta = detail::factor_of<T>(context, "beta");
  const auto values = c.data<T>();
  for_each_broadcast(shape, shape, c.shape(), [&](std::size_t i, std::size_t, std::size_t j) {
    y[i] = detail::multiply_add(beta, values[j], y[i]);
  });
}

AMCT_EXACT_END

/// ONNX Gemm: alpha * A' * B' + beta * C, with C broadcast to the result. The product is that of gemm() in
/// exec/blas.hpp; it is multiplied with alpha, and beta * C is added, with a rounding each.
inline void gemm_op(const OpContext& context) {
  const Tensor& a = context.input(0);
  if (a.shape().rank() != 2 || context.input(1).shape().rank() != 2) {
    context.fail("inputs " + to_string(a.shape()) + " and " + to_string(context.input(1).shape()) +
                 " must be matrices");
  }
  detail::in_matrix_type(context, [&]<class T>(std::type_identity<T>) {
    const Tensor& b = context.input(1, a.type());
    const bool transpose_a = context.node.attribute_or<std::int64_t>("transA", 0) != 0;
    const bool transpose_b = context.node.attribute_or<std::int64_t>("transB", 0) != 0;
    const std::int64_t k = a.shape()[transpose_a ? 0 : 1];
    const Shape shape{a.shape()[transpose_a ? 1 : 0], b.shape()[transpose_b ? 0 : 1]};
    if (b.shape()[transpose_b ? 1 : 0] != k) {
      context.fail("inputs " + to_string(a.shape()) + " and " + to_string(b.shape()) + " do not fit");
    }
    const auto y = context.make_output<T>(shape);
    gemm(static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(k),
         a.data<T>().data(), transpose_a, b.data<T>().data(), transpose_b, y.data(), false);
    scale_and_add<T>(context, y, shape);
  });
}

namespace detail {

/// A product of batches of matrices by numpy's rules, in which a vector is a matrix of one row or column.
struct BatchedProduct {
  std::int64_t m, n, k;
  Shape left_batch, right_batch, batch;
  Shape result;
};

[[nodiscard]] inline BatchedProduct batched_product(const OpContext& context, const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) context.fail("a scalar cannot be multiplied as a matrix");
  std::vector<std::int64_t> left = a.dims();
  std::vector<std::int64_t> right = b.dims();
  if (a.rank() == 1) left.insert(left.begin(), 1);
  if (b.rank() == 1) right.push_back(1);
  BatchedProduct product{left[left.size() - 2], right.back(), left.back(), {}, {}, {}, {}};
  if (right[right.size() - 2] != product.k) {
    context.fail("inputs " + to_string(a) + " and " + to_string(b) + " do not fit");
  }
  product.left_batch = Shape(std::vector<std::int64_t>(left.begin(), left.end() - 2));
  product.right_batch = Shape(std::vector<std::int64_t>(right.begin(), right.end() - 2));
  product.batch = broadcast_shape(context, product.left_batch, product.right_batch);
  std::vector<std::int64_t> dims = product.batch.dims();
  if (a.rank() != 1) dims.push_back(product.m);
  if (b.rank() != 1) dims.push_back(product.n);
  product.result = Shape(std::move(dims));
  return product;
}

/// Multiplies matrices that stand one after the other.
template <class T>
void multiply_each(std::size_t m, std::size_t n, std::size_t k,
                   const std::vector<std::pair<std::size_t, std::size_t>>& factors, const T* a, const T* b, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    gemm_f32(
        factors.size(), m, n, k,
        [&](std::size_t p) {
          return StridedMatrix{a + factors[p].first * m * k, k, 1};
        },
        [&](std::size_t p) {
          return StridedMatrix{b + factors[p].second * k * n, n, 1};
        },
        [&](std::size_t p) { return GemmResult{.data = y + p * m * n, .row = n}; });
  } else {
    for (std::size_t p = 0; p < factors.size(); ++p) {
      gemm(m, n, k, a + factors[p].first * m * k, false, b + factors[p].second * k * n, false, y + p * m * n, false);
    }
  }
}

}  // namespace detail

/// ONNX MatMul, with numpy's rules for batches and vectors. See exec/blas.hpp for the order of the sums.
inline void matmul(const OpContext& context) {
  detail::in_matrix_type(context, [&]<class T>(std::type_identity<T>) {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1, a.type());
    const detail::BatchedProduct product = detail::batched_product(context, a.shape(), b.shape());
    const auto y = context.make_output<T>(product.result);
    std::size_t m = static_cast<std::size_t>(product.m);
    std::vector<std::pair<std::size_t, std::size_t>> factors;
    if (product.right_batch.size() == 1) {  // one matrix for all rows: a single product
      m *= product.left_batch.size();
      factors.emplace_back(0, 0);
    } else {
      for_each_broadcast(product.batch, product.left_batch, product.right_batch,
                         [&](std::size_t, std::size_t left, std::size_t right) { factors.emplace_back(left, right); });
    }
    detail::multiply_each(m, static_cast<std::size_t>(product.n), static_cast<std::size_t>(product.k), factors,
                          a.data<T>().data(), b.data<T>().data(), y.data());
  });
}

inline void add_matmul(OpSet& set) {
  set.add("Gemm", detail::half_in_float32(gemm_op));
  set.add("MatMul", detail::half_in_float32(matmul));
}

}  // namespace amct::exec::ops
