// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/codes.hpp>
#include <amct/kernel/gemm_s8.hpp>
#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/requantize.hpp>
#include <amct/kernel/row_source.hpp>

/// \file
/// What the integer matrix products and convolutions of ONNX share. Accumulators are int32, modulo 2^32, and exact
/// otherwise.

namespace amct::exec {

/// 8-bit codes as the kernels take them: those of an unsigned tensor with their top bit flipped, and their zero points
/// lowered by as much.
struct SignedCodes {
  std::vector<std::int8_t> codes{};
  std::vector<std::int32_t> zeros{};  ///< one, or one a row, column or channel
};

[[nodiscard]] inline SignedCodes to_signed(const Tensor& codes, std::vector<std::int32_t> zeros) {
  const auto given = signed_codes<std::int8_t>(codes);
  SignedCodes result{{given.begin(), given.end()}, std::move(zeros)};
  if (codes.type() == ElementType::uint8) {
    flip_signs(std::as_writable_bytes(std::span(result.codes)), 8);
    for (std::int32_t& zero : result.zeros) zero += Int8::min;
  }
  return result;
}

namespace detail {

/// Takes zero points of the rows off from sums that were made without them.
inline void subtract_row_zeros(std::span<std::int32_t> sums, std::span<const std::int32_t> zeros,
                               const PackedWeights& weights) {
  const std::size_t columns = weights.columns();
  for (std::size_t row = 0; row * columns < sums.size(); ++row) {
    const std::int64_t zero = zeros[row % zeros.size()];
    for (std::size_t c = 0; c < columns; ++c) {
      std::int32_t& sum = sums[row * columns + c];
      sum = static_cast<std::int32_t>(sum - zero * weights.sum(c));
    }
  }
}

}  // namespace detail

/// C[m, n] = A[m, k] * B of codes less their zero points, exact modulo 2^32.
/// \param zeros_a  one, or one for each row of A; of fewer rows than A has, they repeat
/// \param layout   how b holds B, in one run
/// \param zeros_b  one, or one for each column of B
inline void multiply_codes(std::size_t m, const std::int8_t* a, std::span<const std::int32_t> zeros_a,
                           const std::int8_t* b, WeightLayout layout, std::span<const std::int32_t> zeros_b,
                           std::int32_t* c) {
  constexpr std::size_t kDepth = 32768;  // 2^15 products of 255 * 255 fit int32
  const std::size_t k = layout.run_length;
  const std::span<std::int32_t> result(c, m * layout.columns);
  std::fill(result.begin(), result.end(), 0);
  if (result.empty()) return;
  const bool one_zero = zeros_a.size() == 1;
  std::vector<std::int32_t> sums(result.size());
  for (std::size_t first = 0; first < k; first += kDepth) {
    layout.run_length = std::min(kDepth, k - first);
    const PackedWeights weights(b + first * layout.code_step, layout, zeros_b);
    const CodeRows<std::int8_t> rows(a + first, m, layout.run_length, k, one_zero ? zeros_a[0] : 0);
    [[maybe_unused]] const Status status =
        gemm_s8(rows, weights, Epilogue<>{}, ResultRows<std::int32_t>{sums.data(), layout.columns});
    assert(status.ok());
    if (!one_zero) detail::subtract_row_zeros(sums, zeros_a, weights);
    std::transform(sums.begin(), sums.end(), result.begin(), result.begin(), add_bias);
  }
}

/// Codes of accumulators [rows, channels, inner]: saturate(round_half_even(acc * multiplier) + zero point), where the
/// multiplier is scale_a * scale_b / scale_y in float32.
///
/// \param multipliers  one for each channel
/// \param bias         one for each channel, or none
/// \param codes        the accumulators' part of a tensor of 8-bit codes
inline void requantize_codes(std::span<const std::int32_t> acc, const ChannelLayout& layout,
                             std::span<const std::int32_t> bias, std::span<const float> multipliers,
                             std::int32_t zero_point, const CodeType& type, std::span<std::byte> codes) {
  std::vector<RequantizeByMultiplier<>::Params> params;
  for (const float multiplier : multipliers) params.push_back({multiplier});
  const std::span<std::int8_t> signed_ones(reinterpret_cast<std::int8_t*>(codes.data()), codes.size());
  requantize<RequantizeByMultiplier<>>(acc, signed_ones, layout, bias, params, type.offset_of(zero_point), type.range);
  if (!type.is_signed) flip_signs(codes, type.range.bits);
}

}  // namespace amct::exec
