// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace amct {

/// A float32 matrix read with steps: element (i, j) is data[i * row + j * column].
struct StridedMatrix {
  const float* data = nullptr;
  std::size_t row = 0;
  std::size_t column = 1;

  [[nodiscard]] float at(std::size_t i, std::size_t j) const noexcept { return data[i * row + j * column]; }
};

/// A float32 matrix whose columns lie in runs: element (k, n) is data[rows[k] + runs[n / run_length] + n % run_length].
/// The unrolled windows of a convolution are such a matrix, without being copied: rows are taps, runs are output rows.
/// \pre  kWindowSlack more floats can be read behind the last element
struct WindowMatrix {
  const float* data = nullptr;
  std::span<const std::size_t> rows;
  std::span<const std::size_t> runs;
  std::size_t run_length = 1;

  [[nodiscard]] float at(std::size_t k, std::size_t n) const noexcept {
    return data[rows[k] + runs[n / run_length] + n % run_length];
  }
};

/// Floats that vector bodies may read behind a WindowMatrix, and do not use.
inline constexpr std::size_t kWindowSlack = 64;

/// Where the result of a matrix multiplication goes, and what its sums start with.
struct GemmResult {
  float* data = nullptr;
  std::size_t row = 0;          ///< step from a row to the next
  const float* bias = nullptr;  ///< a value for each row, added to its sums in the end; not with accumulate
  bool accumulate = false;      ///< sums start with what is in data, else with 0
};

}  // namespace amct

namespace amct::kernel {

/// Products that are summed in one chain. A longer sum is a sum of chains, whose rounding errors grow more slowly.
inline constexpr std::size_t kChain = 128;

/// A rectangle of the result.
struct GemmPart {
  std::size_t first_row = 0, rows = 0, first_column = 0, columns = 0;
};

}  // namespace amct::kernel

namespace amct::kernel::reference {

/// The definition: each element is a sum of chains of fused multiplications and additions over ascending k, kChain of
/// them each. The first one starts with 0 or the old result, the others with 0. The bias comes last: with a large one
/// in front every step would be rounded as coarsely as the bias.
template <class Right>
void gemm_f32(const GemmPart& part, std::size_t depth, const StridedMatrix& a, const Right& b,
              const GemmResult& c) noexcept {
  for (std::size_t i = part.first_row; i < part.first_row + part.rows; ++i) {
    for (std::size_t j = part.first_column; j < part.first_column + part.columns; ++j) {
      float& result = c.data[i * c.row + j];
      float sum = c.accumulate ? result : 0.0F;
      for (std::size_t first = 0; first < depth; first += kChain) {
        float chain = first == 0 ? sum : 0.0F;
        const std::size_t end = std::min(depth, first + kChain);
        for (std::size_t k = first; k < end; ++k) chain = std::fma(a.at(i, k), b.at(k, j), chain);
        sum = first == 0 ? chain : sum + chain;
      }
      result = c.accumulate || c.bias == nullptr ? sum : sum + c.bias[i];
    }
  }
}

}  // namespace amct::kernel::reference
