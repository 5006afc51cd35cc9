// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <Eigen/Core>

namespace amct::exec {

/// C[m, n] = A[m, k] * B[k, n] + (accumulate ? C : 0), all dense row-major float32 unless marked as transposed, in
/// which case A is stored [k, m] or B is stored [n, k]. The seam behind which another BLAS can stand.
inline void gemm(std::size_t m, std::size_t n, std::size_t k, const float* a, bool transpose_a, const float* b,
                 bool transpose_b, float* c, bool accumulate) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto view = [](const float* data, std::size_t rows, std::size_t columns) {
    return Eigen::Map<const Matrix>(data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  };
  Eigen::Map<Matrix> result(c, static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(n));
  if (!accumulate) result.setZero();
  if (k == 0) return;
  const auto left = transpose_a ? view(a, k, m) : view(a, m, k);
  const auto right = transpose_b ? view(b, n, k) : view(b, k, n);
  if (!transpose_a && !transpose_b) {
    result.noalias() += left * right;
  } else if (transpose_a && !transpose_b) {
    result.noalias() += left.transpose() * right;
  } else if (!transpose_a && transpose_b) {
    result.noalias() += left * right.transpose();
  } else {
    result.noalias() += left.transpose() * right.transpose();
  }
}

}  // namespace amct::exec
