// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/window.hpp>

namespace amct::exec::ops {

namespace detail {

/// The bias of a convolution with `channels` outputs, or nothing.
[[nodiscard]] inline std::span<const float> conv_bias(const OpContext& context, std::int64_t channels) {
  if (!context.has(2)) return {};
  const auto bias = context.floats(2).data<float>();
  if (static_cast<std::int64_t>(bias.size()) != channels) {
    context.fail("the bias has " + std::to_string(bias.size()) + " values, expected " + std::to_string(channels));
  }
  return bias;
}

inline void fill_rows(std::span<float> rows, std::span<const float> bias, std::size_t row_size) {
  for (std::size_t r = 0; r * row_size < rows.size(); ++r) {
    std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(r * row_size), row_size, bias.empty() ? 0.0F : bias[r]);
  }
}

[[nodiscard]] inline std::int64_t groups_of(const OpContext& context, std::int64_t input_channels) {
  const auto groups = context.node.attribute_or<std::int64_t>("group", 1);
  if (groups < 1 || input_channels % groups != 0) {
    context.fail(std::to_string(input_channels) + " channels cannot be split into " + std::to_string(groups) + " groups");
  }
  return groups;
}

[[nodiscard]] inline std::vector<std::int64_t> kernel_of(const Shape& weight) {
  return {weight.begin() + 2, weight.end()};
}

}  // namespace detail

/// ONNX Conv over one to three spatial axes, float32: input [N, Cin, ...], weight [Cout, Cin/g, ...], bias [Cout].
inline void conv(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Tensor& weight = context.floats(1);
  if (x.shape().rank() < 3 || weight.shape().rank() != x.shape().rank()) {
    context.fail("input " + to_string(x.shape()) + " and weight " + to_string(weight.shape()) + " do not fit");
  }
  const std::int64_t batch = x.shape()[0];
  const std::int64_t channels_in = x.shape()[1];
  const std::int64_t channels_out = weight.shape()[0];
  const std::int64_t groups = detail::groups_of(context, channels_in);
  const std::int64_t group_in = channels_in / groups;
  const std::int64_t group_out = channels_out / groups;
  if (weight.shape()[1] != group_in || channels_out % groups != 0) {
    context.fail("input " + to_string(x.shape()) + " and weight " + to_string(weight.shape()) + " do not fit with " +
                 std::to_string(groups) + " groups");
  }
  Window window = read_window(context, x.shape(), detail::kernel_of(weight.shape()));
  place_window(context, window);
  const auto bias = detail::conv_bias(context, channels_out);
  const auto y = context.make_output(windowed_shape(window, batch, channels_out, x.shape().rank() - 2));

  const auto in_size = static_cast<std::size_t>(window.input_size());
  const auto out_size = static_cast<std::size_t>(window.output_size());
  const auto kernel = static_cast<std::size_t>(window.kernel_size());
  const std::size_t depth = static_cast<std::size_t>(group_in) * kernel;
  std::vector<float> columns(window.is_identity() || group_in == 1 ? 0 : depth * out_size);
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const float* source = x.data<float>().data() + static_cast<std::size_t>(n * channels_in + g * group_in) * in_size;
      const auto rows = static_cast<std::size_t>(group_out);
      const auto target = y.subspan(static_cast<std::size_t>(n * channels_out + g * group_out) * out_size, rows * out_size);
      const float* w = weight.data<float>().data() + static_cast<std::size_t>(g) * rows * depth;
      detail::fill_rows(target, bias.empty() ? bias : bias.subspan(static_cast<std::size_t>(g) * rows, rows), out_size);
      if (window.is_identity()) {
        gemm(rows, out_size, depth, w, false, source, false, target.data(), true);
      } else if (group_in == 1) {
        for (std::size_t r = 0; r < rows; ++r) {
          float* row = target.data() + r * out_size;
          const float* taps = w + r * kernel;
          for_each_tap(window, [&](std::int64_t k, std::int64_t o, std::int64_t i) { row[o] += taps[k] * source[i]; });
        }
      } else {
        std::fill(columns.begin(), columns.end(), 0.0F);
        for (std::size_t c = 0; c < static_cast<std::size_t>(group_in); ++c) {
          float* block = columns.data() + c * kernel * out_size;
          const float* plane = source + c * in_size;
          for_each_tap(window, [&](std::int64_t k, std::int64_t o, std::int64_t i) {
            block[static_cast<std::size_t>(k) * out_size + static_cast<std::size_t>(o)] = plane[i];
          });
        }
        gemm(rows, out_size, depth, w, false, columns.data(), false, target.data(), true);
      }
    }
  }
}

}  // namespace amct::exec::ops
