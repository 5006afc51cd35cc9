// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/blas.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "support/graph_builder.hpp"

using support::values;
using support::whole_numbers;

TEST_CASE("gemm multiplies plain and transposed matrices, writing or accumulating") {
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
      const auto a = values(whole_numbers({static_cast<std::int64_t>(m * k)}, 1));
      const auto b = values(whole_numbers({static_cast<std::int64_t>(k * n)}, 2));
      std::vector<float> c(m * n, 100.0F);
      amct::exec::gemm(m, n, k, a.data(), transpose_a, b.data(), transpose_b, c.data(), accumulate);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double sum = accumulate ? 100.0 : 0.0;
          for (std::size_t l = 0; l < k; ++l) {
            sum += static_cast<double>(a[transpose_a ? l * m + i : i * k + l]) *
                   static_cast<double>(b[transpose_b ? j * k + l : l * n + j]);
          }
          CHECK(static_cast<double>(c[i * n + j]) == sum);
        }
      }
    }
  }
}

TEST_CASE("An empty inner size gives zeros, or leaves what is there") {
  std::vector<float> c{1, 2};
  amct::exec::gemm(1, 2, 0, nullptr, false, nullptr, false, c.data(), true);
  CHECK(c == std::vector<float>{1, 2});
  amct::exec::gemm(1, 2, 0, nullptr, false, nullptr, false, c.data(), false);
  CHECK(c == std::vector<float>{0, 0});
}
