// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <amct/kernel/gemm_f32.hpp>

namespace amct::exec {

/// A matrix stored [rows, columns], or [columns, rows] if marked as transposed.
[[nodiscard]] inline StridedMatrix matrix(const float* data, std::size_t rows, std::size_t columns,
                                          bool transposed) noexcept {
  return transposed ? StridedMatrix{data, 1, rows} : StridedMatrix{data, columns, 1};
}

/// C[m, n] = A[m, k] * B[k, n] + (accumulate ? C : 0), all dense row-major float32 unless marked as transposed, in
/// which case A is stored [k, m] or B is stored [n, k]. See amct::gemm_f32 for the bits. B is read faster if it is not
/// transposed.
inline void gemm(std::size_t m, std::size_t n, std::size_t k, const float* a, bool transpose_a, const float* b,
                 bool transpose_b, float* c, bool accumulate) {
  gemm_f32(m, n, k, matrix(a, m, k, transpose_a), matrix(b, k, n, transpose_b),
           GemmResult{.data = c, .row = n, .accumulate = accumulate});
}

/// The same for another element type, without vector instructions. Sums run over ascending k; those of integers wrap.
template <class T>
void gemm(std::size_t m, std::size_t n, std::size_t k, const T* a, bool transpose_a, const T* b, bool transpose_b, T* c,
          bool accumulate) {
  using Sum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  if (!accumulate) std::fill_n(c, m * n, T{});
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t l = 0; l < k; ++l) {
      const auto left = static_cast<Sum>(a[transpose_a ? l * m + i : i * k + l]);
      for (std::size_t j = 0; j < n; ++j) {
        const auto right = static_cast<Sum>(b[transpose_b ? j * k + l : l * n + j]);
        c[i * n + j] = static_cast<T>(static_cast<Sum>(c[i * n + j]) + left * right);
      }
    }
  }
}

}  // namespace amct::exec
