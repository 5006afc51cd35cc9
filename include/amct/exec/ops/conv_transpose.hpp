// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/window.hpp>

namespace amct::exec::ops {

namespace detail {

/// Sizes of a transposed convolution: the window is that of the convolution it reverses, so its "output" is our input.
[[nodiscard]] inline Window transposed_window(const OpContext& context, const Shape& x, const Shape& weight) {
  if (context.node.attribute<std::vector<std::int64_t>>("output_shape") != nullptr) {
    context.fail("output_shape is not supported", ErrorCode::model_unsupported);
  }
  const auto auto_pad = context.node.attribute_or<std::string>("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") {
    context.fail("auto_pad " + auto_pad + " is not supported", ErrorCode::model_unsupported);
  }
  Window window = read_window(context, x, kernel_of(weight));
  const std::size_t spatial = x.rank() - 2;
  const auto extra =
      context.node.attribute_or<std::vector<std::int64_t>>("output_padding", std::vector<std::int64_t>(spatial, 0));
  if (extra.size() != spatial) context.fail("output_padding does not fit the input");
  window.output = window.input;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    const std::int64_t padding = i + spatial >= 3 ? extra[i + spatial - 3] : 0;
    exec::detail::require_between(context, "output_padding", padding, 0);
    window.input[i] =
        (window.output[i] - 1) * window.stride[i] + reach + padding - window.pad_begin[i] - window.pad_end[i];
    if (window.input[i] < 1) context.fail("the output would be empty");
  }
  return window;
}

}  // namespace detail

/// ONNX ConvTranspose over one to three spatial axes, float32: weight [Cin, Cout/g, ...], bias [Cout].
inline void conv_transpose(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Tensor& weight = context.floats(1);
  if (x.shape().rank() < 3 || weight.shape().rank() != x.shape().rank() || weight.shape()[0] != x.shape()[1]) {
    context.fail("input " + to_string(x.shape()) + " and weight " + to_string(weight.shape()) + " do not fit");
  }
  const std::int64_t batch = x.shape()[0];
  const std::int64_t channels_in = x.shape()[1];
  const std::int64_t groups = detail::groups_of(context, channels_in);
  const std::int64_t channels_out = weight.shape()[1] * groups;
  Window window = detail::transposed_window(context, x.shape(), weight.shape());
  const auto bias = detail::conv_bias(context, channels_out);

  Window result_shape = window;
  std::swap(result_shape.input, result_shape.output);
  const auto y = context.make_output(windowed_shape(result_shape, batch, channels_out, x.shape().rank() - 2));

  const auto from_size = static_cast<std::size_t>(window.output_size());
  const auto to_size = static_cast<std::size_t>(window.input_size());
  const auto kernel = static_cast<std::size_t>(window.kernel_size());
  const auto group_in = static_cast<std::size_t>(channels_in / groups);
  const auto group_out = static_cast<std::size_t>(weight.shape()[1]);
  std::vector<float> columns(group_out * kernel * from_size);
  for (std::size_t n = 0; n < static_cast<std::size_t>(batch); ++n) {
    detail::fill_rows(y.subspan(n * static_cast<std::size_t>(channels_out) * to_size,
                                static_cast<std::size_t>(channels_out) * to_size),
                      bias, to_size);
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) {
      const float* source = x.data<float>().data() + (n * static_cast<std::size_t>(groups) + g) * group_in * from_size;
      const float* w = weight.data<float>().data() + g * group_in * group_out * kernel;
      gemm(group_out * kernel, from_size, group_in, w, true, source, false, columns.data(), false);
      for (std::size_t c = 0; c < group_out; ++c) {
        float* plane = y.data() + (n * static_cast<std::size_t>(channels_out) + g * group_out + c) * to_size;
        const float* block = columns.data() + c * kernel * from_size;
        for_each_tap(window, [&](std::int64_t k, std::int64_t o, std::int64_t i) {
          plane[i] += block[static_cast<std::size_t>(k) * from_size + static_cast<std::size_t>(o)];
        });
      }
    }
  }
}

}  // namespace amct::exec::ops
