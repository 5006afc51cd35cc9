// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/integer_product.hpp>
#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/stages.hpp>

namespace amct {

namespace kernel {

/// Whether the epilogue takes int64 sums, because int32 does not suffice; fails if it must and cannot.
struct Width {
  Status status{};
  bool is_wide = false;
};

template <class T, RowSource Rows, class... Stages>
[[nodiscard]] Width find_width(const Rows& rows, const PackedWeights& weights,
                               const Epilogue<Stages...>& epilogue) noexcept {
  const auto bias = leading_bias(epilogue);
  const std::size_t column = weights.first_beyond_int32(rows.limits(), rows.zero_point(), bias);
  if (column == weights.columns()) return {};
  if constexpr (WideEpilogueTo<Epilogue<Stages...>, T>) return {{}, true};
  const auto largest = static_cast<double>(weights.largest_sum(column, rows.limits(), rows.zero_point()));
  return {{StatusCode::sum_overflow, column, largest}, true};
}

}  // namespace kernel

/// C[rows, columns] = epilogue(A * B): the sums over the depth of (activation - zero point) * weight, exact, each
/// through the epilogue. The bits are the same on every instruction set and for any number of threads.
///
/// Sums are int32 where sum |w| * max |x - zero point| + |bias| of every column proves that they fit. Longer ones are
/// int64, if the epilogue takes these; else the call is refused. They never wrap.
///
/// \param rows      activations: CodeRows or another RowSource
/// \param weights   packed once; runs and run length must be those of the rows
/// \param epilogue  stages from a sum to a T
/// \param c         results, apart from the rows; may be read by no stage but AddResidual at the same place
/// \return size_mismatch, or sum_overflow with the column and its largest possible sum; then nothing is written
/// \note O(rows columns depth). Allocates scratch memory on each thread, and ends the program if there is none. Large
/// products are split over threads.
template <RowSource Rows, class... Stages, class T>
requires EpilogueTo<Epilogue<Stages...>, T> Status gemm_s8(const Rows& rows, const PackedWeights& weights,
                                                           const Epilogue<Stages...>& epilogue,
                                                           const ResultRows<T>& c) {
  if (rows.runs() != weights.runs() || rows.run_length() != weights.run_length()) {
    return {StatusCode::size_mismatch, 0, static_cast<double>(rows.run_length())};
  }
  const kernel::Width width = kernel::find_width<T>(rows, weights, epilogue);
  if (!width.status.ok()) return width.status;
  const kernel::IntegerProduct<Rows, Epilogue<Stages...>, T> product(rows, weights, epilogue, width.is_wide, c);
  parallel_for(product.split().parts(), product.split().together(), [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] { product.compute(first, count); });
  });
  return {};
}

}  // namespace amct
