// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/blas.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/graph_builder.hpp"

using support::values;
using support::whole_numbers;

namespace {

/// Checks gemm with matrices of whole numbers in type T.
template <class T>
void check_gemm() {
  for (const auto& sizes : {std::array<std::size_t, 3>{1, 1, 1}, {2, 3, 4}, {7, 5, 3}, {1, 9, 17}, {33, 1, 2}}) {
    const std::size_t m = sizes[0];
    const std::size_t n = sizes[1];
    const std::size_t k = sizes[2];
    for (int form = 0; form < 8; ++form) {
      const bool transpose_a = (form & 1) != 0;
      const bool transpose_b = (form & 2) != 0;
      const bool accumulate = (form & 4) != 0;
      CAPTURE(m);
      CAPTURE(form);
      const auto floats_a = values(whole_numbers({static_cast<std::int64_t>(m * k)}, 1));
      const auto floats_b = values(whole_numbers({static_cast<std::int64_t>(k * n)}, 2));
      std::vector<T> a;
      std::vector<T> b;
      for (const float value : floats_a) a.push_back(static_cast<T>(static_cast<std::int64_t>(value)));
      for (const float value : floats_b) b.push_back(static_cast<T>(static_cast<std::int64_t>(value)));
      std::vector<T> c(m * n, T{100});
      amct::exec::gemm(m, n, k, a.data(), transpose_a, b.data(), transpose_b, c.data(), accumulate);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          T sum = accumulate ? T{100} : T{0};
          for (std::size_t l = 0; l < k; ++l) {
            sum = static_cast<T>(sum + a[transpose_a ? l * m + i : i * k + l] * b[transpose_b ? j * k + l : l * n + j]);
          }
          CHECK(c[i * n + j] == sum);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("gemm multiplies plain and transposed matrices, writing or accumulating") {
  check_gemm<float>();
  check_gemm<double>();
  check_gemm<std::int64_t>();
  check_gemm<std::uint32_t>();
}

TEST_CASE("Sums of integers wrap") {
  const std::int32_t a[] = {INT32_MAX, INT32_MAX};
  const std::int32_t b[] = {2, 3};
  std::int32_t c = 0;
  amct::exec::gemm(1, 1, 2, a, false, b, false, &c, false);
  CHECK(c == INT32_MAX - 4);  // 5 * (2^31 - 1) modulo 2^32
}

TEST_CASE("An empty inner size gives zeros, or leaves what is there") {
  std::vector<float> c{1, 2};
  amct::exec::gemm(1, 2, 0, nullptr, false, nullptr, false, c.data(), true);
  CHECK(c == std::vector<float>{1, 2});
  amct::exec::gemm(1, 2, 0, nullptr, false, nullptr, false, c.data(), false);
  CHECK(c == std::vector<float>{0, 0});
}
