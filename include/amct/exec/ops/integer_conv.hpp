// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/codes.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/integer_product.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/kernel/conv_rows.hpp>
#include <amct/kernel/conv_s8.hpp>
#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/packed_weights.hpp>

namespace amct::exec::ops {

namespace detail {

[[nodiscard]] inline SpatialSizes spatial_sizes(const std::array<std::int64_t, 3>& sizes) {
  return {static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1]), static_cast<std::size_t>(sizes[2])};
}

[[nodiscard]] inline ConvShape conv_shape(const ConvSizes& sizes) {
  return {.batch = static_cast<std::size_t>(sizes.batch),
          .channels_in = static_cast<std::size_t>(sizes.channels_in),
          .channels_out = static_cast<std::size_t>(sizes.channels_out),
          .groups = static_cast<std::size_t>(sizes.groups),
          .input = spatial_sizes(sizes.window.input),
          .output = spatial_sizes(sizes.window.output),
          .kernel = spatial_sizes(sizes.window.kernel),
          .stride = spatial_sizes(sizes.window.stride),
          .dilation = spatial_sizes(sizes.window.dilation),
          .pad_begin = spatial_sizes(sizes.window.pad_begin)};
}

/// [batch, rows, columns] -> [batch, columns, rows]: channels behind or in front of the spatial axes.
template <class T>
[[nodiscard]] std::vector<T> swapped_axes(std::span<const T> from, std::size_t batch, std::size_t rows,
                                          std::size_t columns) {
  std::vector<T> result(from.size());
  for (std::size_t b = 0; b < batch; ++b) {
    const T* const in = from.data() + b * rows * columns;
    T* const out = result.data() + b * rows * columns;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
    }
  }
  return result;
}

/// Weights less their zero points, if all of these differences are codes; else empty.
[[nodiscard]] inline std::vector<std::int8_t> centred(const SignedCodes& weights, std::size_t channels) {
  std::vector<std::int8_t> result(weights.codes.size());
  const std::size_t of_channel = weights.codes.size() / channels;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int32_t code = weights.codes[i] - weights.zeros[weights.zeros.size() == 1 ? 0 : i / of_channel];
    if (code < Int8::min || code > Int8::max) return {};
    result[i] = static_cast<std::int8_t>(code);
  }
  return result;
}

/// The sums of one group by a product of copied windows: for weights that the kernel of convolutions does not take,
/// and sums beyond int32.
inline void accumulate_windows(const ConvShape& shape, std::size_t group, std::span<const std::int8_t> x,
                               std::int32_t zero_x, const SignedCodes& w, std::span<std::int32_t> acc) {
  const std::size_t taps = shape.kernel_size();
  const std::size_t depth = taps * shape.group_in();
  const std::size_t columns = shape.group_out();
  const std::span<const std::int8_t> of_group = std::span(w.codes).subspan(group * columns * depth, columns * depth);
  const auto weights = swapped_axes(of_group, columns, shape.group_in(), taps);
  const auto zeros = w.zeros.size() == 1 ? std::span(w.zeros) : std::span(w.zeros).subspan(group * columns, columns);
  const ConvRows<std::int8_t> rows(shape, group, x.data(), zero_x);
  const std::size_t together = std::max<std::size_t>(64, (std::size_t{1} << 22) / depth);
  std::vector<std::int8_t> windows(std::min(together, rows.rows()) * depth);
  std::vector<std::int32_t> sums(std::min(together, rows.rows()) * columns);
  for (std::size_t first = 0; first < rows.rows(); first += together) {
    const std::size_t count = std::min(together, rows.rows() - first);
    rows.copy(first, count, windows.data(), depth);
    multiply_codes(count, windows.data(), {&zero_x, 1}, weights.data(), WeightLayout::transposed(columns, depth), zeros,
                   sums.data());
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(sums.data() + i * columns, columns, acc.data() + (first + i) * shape.channels_out + group * columns);
    }
  }
}

/// The accumulators [N, Cout, ...] of a convolution of codes, modulo 2^32. Padding counts as the zero point of x.
[[nodiscard]] inline std::vector<std::int32_t> accumulate(const OpContext& context, const ConvSizes& sizes,
                                                          const SignedCodes& x, const SignedCodes& w) {
  const ConvShape shape = conv_shape(sizes);
  std::vector<std::int32_t> acc(shape.y_size());
  if (acc.empty() || x.codes.empty() || w.codes.empty()) return acc;
  const auto pixels =
      swapped_axes(std::span<const std::int8_t>(x.codes), shape.batch, shape.channels_in, shape.input_size());
  const std::int32_t zero_x = x.zeros[0];
  PackedConv packed;
  Status status{StatusCode::sum_overflow};
  if (const auto weights = centred(w, shape.channels_out); !weights.empty()) {
    status = packed.pack(shape, weights);
    if (status) {
      status = convolve<std::int8_t>(shape, packed, pixels, zero_x, Epilogue<>{},
                                     ResultRows<std::int32_t>{acc.data(), shape.channels_out});
    }
  }
  if (status.code != StatusCode::sum_overflow) check(status, {.layer = context.node.name});
  if (!status) {
    for (std::size_t g = 0; g < shape.groups; ++g) accumulate_windows(shape, g, pixels, zero_x, w, acc);
  }
  return swapped_axes(std::span<const std::int32_t>(acc), shape.batch, shape.output_size(), shape.channels_out);
}

[[nodiscard]] inline Shape integer_conv_shape(const ConvSizes& sizes, const Shape& x) {
  return windowed_shape(sizes.window, sizes.batch, sizes.channels_out, x.rank() - 2);
}

}  // namespace detail

/// ONNX ConvInteger: a convolution of int8 or uint8 codes minus their zero points (one for x; one, or one for each
/// output channel, for w) with int32 results modulo 2^32.
inline void conv_integer(const OpContext& context) {
  require_8_bits(context, 0);
  require_8_bits(context, 1);
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  const detail::ConvSizes sizes = detail::conv_sizes(context, x.shape(), w.shape());
  const auto zero_x = zero_points(context, 2, x.type(), 1);
  const auto zeros_w = zero_points(context, 3, w.type(), static_cast<std::size_t>(sizes.channels_out));
  const auto acc = detail::accumulate(context, sizes, to_signed(x, zero_x), to_signed(w, zeros_w));
  std::copy(acc.begin(), acc.end(),
            context.make_output<std::int32_t>(detail::integer_conv_shape(sizes, x.shape())).begin());
}

/// ONNX QLinearConv: the codes of a convolution of codes. Scale and zero point of w may be given for each output
/// channel; the bias is int32 with the scale scale_x * scale_w. See requantize_codes for the arithmetic.
inline void qlinear_conv(const OpContext& context) {
  for (const std::size_t index : {0U, 3U, 7U}) require_8_bits(context, index);
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(3);
  const detail::ConvSizes sizes = detail::conv_sizes(context, x.shape(), w.shape());
  const auto channels = static_cast<std::size_t>(sizes.channels_out);
  const float scale_x = scales(context, 1, 1)[0];
  auto scales_w = scales(context, 4, channels);
  const auto scale_y = scales(context, 6, 1);
  require_usable(context, scale_y);
  const ElementType type = context.input(7).type();
  const std::int32_t zero_y = zero_points(context, 7, type, 1)[0];
  std::span<const std::int32_t> bias;
  if (context.has(8)) bias = context.data<std::int32_t>(8);
  if (context.has(8) && bias.size() != channels) {
    context.fail("the bias has " + std::to_string(bias.size()) + " values, expected " + std::to_string(channels));
  }
  Tensor& y = context.make_output(0, type, detail::integer_conv_shape(sizes, x.shape()));
  const auto acc = detail::accumulate(context, sizes, to_signed(x, zero_points(context, 2, x.type(), 1)),
                                      to_signed(w, zero_points(context, 5, w.type(), channels)));
  scales_w.resize(channels, scales_w[0]);
  for (float& scale : scales_w) scale = scale_x * scale / scale_y[0];
  requantize_codes(acc, channels_on(y.shape(), 1), bias, scales_w, zero_y, code_type(context, type), y.raw());
}

inline void add_integer_conv(OpSet& set) {
  set.add("ConvInteger", conv_integer);
  set.add("QLinearConv", qlinear_conv);
}

}  // namespace amct::exec::ops
