// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

namespace amct::exec::ops {

/// The determinant of an n x n matrix, by elimination with the largest pivots; the matrix is used up. O(n^3).
[[nodiscard]] inline double determinant(std::span<double> matrix, std::size_t n) {
  double product = 1.0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + k]) > std::fabs(matrix[pivot * n + k])) pivot = row;
    }
    if (matrix[pivot * n + k] == 0.0) return 0.0;
    if (pivot != k) {
      for (std::size_t i = 0; i < n; ++i) std::swap(matrix[k * n + i], matrix[pivot * n + i]);
      product = -product;
    }
    product *= matrix[k * n + k];
    for (std::size_t row = k + 1; row < n; ++row) {
      const double factor = matrix[row * n + k] / matrix[k * n + k];
      for (std::size_t i = k; i < n; ++i) matrix[row * n + i] -= factor * matrix[k * n + i];
    }
  }
  return product;
}

/// ONNX Det: of the matrices that the last two axes form, computed in double.
inline void det(const OpContext& context) {
  const Tensor& x = context.input(0);
  const Shape& shape = x.shape();
  if (shape.rank() < 2 || shape[shape.rank() - 1] != shape[shape.rank() - 2]) {
    context.fail("input " + to_string(shape) + " has no square matrices");
  }
  const auto n = static_cast<std::size_t>(shape[shape.rank() - 1]);
  Tensor& y = context.make_output(0, x.type(), Shape(std::vector<std::int64_t>(shape.begin(), shape.end() - 2)));
  Tensor wide = cast(x, ElementType::float64);
  Tensor result(ElementType::float64, y.shape());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result.data<double>()[i] = determinant(wide.data<double>().subspan(i * n * n, n * n), n);
  }
  cast_into(result, y);
}

inline void add_det(OpSet& set) { set.add("Det", det); }

}  // namespace amct::exec::ops
