// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/codes.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/integer_product.hpp>
#include <amct/exec/ops/window.hpp>

namespace amct::exec::ops {

namespace detail {

/// The windows of one group of an image side by side: [channels * kernel, output positions], 0 in the padding.
inline void unroll_windows(const ConvSizes& sizes, const float* image, std::vector<float>& columns) {
  const auto kernel = static_cast<std::size_t>(sizes.window.kernel_size());
  columns.assign(sizes.depth() * sizes.output_size(), 0.0F);
  for (std::size_t c = 0; c < sizes.group_in(); ++c) {
    float* block = columns.data() + c * kernel * sizes.output_size();
    const float* plane = image + c * sizes.input_size();
    for_each_tap(sizes.window, [&](std::int64_t k, std::int64_t o, std::int64_t i) {
      block[static_cast<std::size_t>(k) * sizes.output_size() + static_cast<std::size_t>(o)] = plane[i];
    });
  }
}

/// Sizes of a convolution of codes whose unrolled windows can be held in memory.
[[nodiscard]] inline ConvSizes integer_conv_sizes(const OpContext& context, const Tensor& x, const Tensor& w) {
  const ConvSizes sizes = conv_sizes(context, x.shape(), w.shape());
  const auto most = static_cast<std::size_t>(kMostElements);
  if (sizes.depth() != 0 && sizes.output_size() > most / sizes.depth()) {
    context.fail("the windows of an image have more than 2^29 elements");
  }
  return sizes;
}

/// The accumulators [N, Cout, ...] of a convolution of codes. Padding counts as the zero point of x.
inline void accumulate(const ConvSizes& sizes, const Tensor& x, std::span<const std::int32_t> zero_x, const Tensor& w,
                       std::span<const std::int32_t> zeros_w, std::span<std::int32_t> acc) {
  const auto images = centred(x, ChannelLayout::per_tensor(x.size()), zero_x);
  const auto weights = centred(w, channels_on(w.shape(), 0), zeros_w);
  std::fill(acc.begin(), acc.end(), 0);
  std::vector<float> columns;
  const auto parts = static_cast<std::size_t>(sizes.batch * sizes.groups);
  for (std::size_t part = 0; part < parts; ++part) {
    const float* image = images.data() + part * sizes.group_in() * sizes.input_size();
    const std::size_t group = part % static_cast<std::size_t>(sizes.groups);
    if (!sizes.window.is_identity()) unroll_windows(sizes, image, columns);
    multiply_integers(sizes.group_out(), sizes.output_size(), sizes.depth(),
                      weights.data() + group * sizes.group_out() * sizes.depth(),
                      sizes.window.is_identity() ? image : columns.data(),
                      acc.data() + part * sizes.group_out() * sizes.output_size());
  }
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
  const detail::ConvSizes sizes = detail::integer_conv_sizes(context, x, w);
  const auto zero_x = zero_points(context, 2, x.type(), 1);
  const auto zeros_w = zero_points(context, 3, w.type(), static_cast<std::size_t>(sizes.channels_out));
  detail::accumulate(sizes, x, zero_x, w, zeros_w,
                     context.make_output<std::int32_t>(detail::integer_conv_shape(sizes, x.shape())));
}

/// ONNX QLinearConv: the codes of a convolution of codes. Scale and zero point of w may be given for each output
/// channel; the bias is int32 with the scale scale_x * scale_w. See requantize_codes for the arithmetic.
inline void qlinear_conv(const OpContext& context) {
  for (const std::size_t index : {0U, 3U, 7U}) require_8_bits(context, index);
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(3);
  const detail::ConvSizes sizes = detail::integer_conv_sizes(context, x, w);
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
  std::vector<std::int32_t> acc(y.size());
  detail::accumulate(sizes, x, zero_points(context, 2, x.type(), 1), w, zero_points(context, 5, w.type(), channels),
                     acc);
  scales_w.resize(channels, scales_w[0]);
  for (float& scale : scales_w) scale = scale_x * scale / scale_y[0];
  requantize_codes(acc, channels_on(y.shape(), 1), bias, scales_w, zero_y, code_type(context, type), y.raw());
}

inline void add_integer_conv(OpSet& set) {
  set.add("ConvInteger", conv_integer);
  set.add("QLinearConv", qlinear_conv);
}

}  // namespace amct::exec::ops
