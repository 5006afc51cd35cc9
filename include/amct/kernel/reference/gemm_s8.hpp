// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/row_source.hpp>

namespace amct::kernel::reference {

/// One row's sum of products with a column: over all steps, (activation - zero point) * (weight - its zero point).
template <ActivationCode T>
[[nodiscard]] std::int64_t sum_of_products(std::span<const T> row, std::int32_t zero_point,
                                           const PackedWeights& weights, std::size_t column) noexcept {
  std::int64_t sum = 0;
  for (std::size_t run = 0; run < weights.runs(); ++run) {
    const std::size_t first = run * padded_run(weights.run_length());
    for (std::size_t step = first; step < first + weights.run_length(); ++step) {
      const std::int64_t weight = std::int64_t{weights.code(column, step)} - weights.zero_point(column);
      sum += (std::int64_t{row[step]} - zero_point) * weight;
    }
  }
  return sum;
}

/// The definition of the product: the epilogue of each exact sum. Sums that fit int32 enter it as int32.
template <RowSource Rows, class E, class T>
void gemm_s8(const Rows& rows, const PackedWeights& weights, const E& epilogue, bool is_wide, const ResultRows<T>& c) {
  std::vector<typename Rows::Code> row(weights.groups() * PackedWeights::kGroup);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    rows.copy(i, 1, row.data(), row.size());
    for (std::size_t j = 0; j < weights.columns(); ++j) {
      const std::int64_t sum = sum_of_products<typename Rows::Code>(row, rows.zero_point(), weights, j);
      T& result = c.data[i * c.row + j];
      if constexpr (WideEpilogueTo<E, T>) {
        result = is_wide ? epilogue(sum, {i, j}) : epilogue(static_cast<std::int32_t>(sum), {i, j});
      } else {
        result = epilogue(static_cast<std::int32_t>(sum), {i, j});
      }
    }
  }
}

}  // namespace amct::kernel::reference
