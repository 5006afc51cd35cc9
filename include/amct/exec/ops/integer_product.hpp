// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/codes.hpp>
#include <amct/kernel/requantize.hpp>

/// \file
/// What the integer matrix products and convolutions of ONNX share. Accumulators are int32, modulo 2^32, and exact
/// otherwise.

namespace amct::exec {

/// The codes of 8 bits in an input minus their zero points, as whole numbers in float32.
/// \param zeros   one, or one for each channel of the layout
[[nodiscard]] inline std::vector<float> centred(const Tensor& codes, const ChannelLayout& layout,
                                                std::span<const std::int32_t> zeros) {
  std::vector<float> result(codes.size());
  const auto fill = [&](const auto& from) {
    const bool alike = std::all_of(zeros.begin(), zeros.end(), [&](std::int32_t zero) { return zero == zeros[0]; });
    for_each_run(alike ? ChannelLayout::per_tensor(codes.size()) : layout,
                 [&](std::size_t channel, std::size_t first, std::size_t count) {
                   for (std::size_t i = first; i < first + count; ++i) {
                     result[i] = static_cast<float>(from[i] - zeros[channel]);
                   }
                 });
  };
  if (codes.type() == ElementType::int8) fill(codes.data<std::int8_t>());
  else fill(codes.data<std::uint8_t>());
  return result;
}

/// C[m, n] += A[m, k] * B[k, n] for whole numbers of at most 255 in magnitude, exact modulo 2^32. Sums of up to 258
/// such products are exact in float32 in any order, so the float product computes them.
inline void multiply_integers(std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b,
                              std::int32_t* c) {
  constexpr std::size_t kDepth = 256;
  std::vector<float> product(m * n);
  std::vector<float> columns(k > kDepth ? m * kDepth : 0);
  for (std::size_t first = 0; first < k; first += kDepth) {
    const std::size_t depth = std::min(kDepth, k - first);
    if (k > kDepth) {
      for (std::size_t row = 0; row < m; ++row) std::copy_n(a + row * k + first, depth, columns.data() + row * depth);
    }
    gemm(m, n, depth, k > kDepth ? columns.data() : a, false, b + first * n, false, product.data(), false);
    for (std::size_t i = 0; i < m * n; ++i) c[i] = add_bias(c[i], static_cast<std::int32_t>(product[i]));
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
