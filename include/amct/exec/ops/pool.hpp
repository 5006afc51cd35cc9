// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/window.hpp>

namespace amct::exec::ops {

namespace detail {

[[nodiscard]] inline Window pool_window(const OpContext& context, const Tensor& x) {
  const auto* kernel = context.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (kernel == nullptr) context.fail("kernel_shape is missing", ErrorCode::model_corrupt);
  Window window = read_window(context, x.shape(), *kernel);
  place_window(context, window);
  return window;
}

/// Number of elements each average divides by: the real ones, or also the padded ones that `pads` names.
[[nodiscard]] inline std::vector<float> pool_divisors(const Window& window, bool count_padding) {
  std::vector<float> divisors(static_cast<std::size_t>(window.output_size()), 0.0F);
  Window counted = window;
  if (count_padding) {
    for (std::size_t i = 0; i < 3; ++i) {
      counted.input[i] += window.pad_begin[i] + window.pad_end[i];
      counted.pad_begin[i] = counted.pad_end[i] = 0;
    }
  }
  for_each_tap(counted,
               [&](std::int64_t, std::int64_t o, std::int64_t) { divisors[static_cast<std::size_t>(o)] += 1.0F; });
  return divisors;
}

}  // namespace detail

/// ONNX MaxPool (values only). NaN in a window gives NaN.
inline void max_pool(const OpContext& context) {
  const Tensor& x = context.floats(0);
  if (context.outputs.size() > 1) context.fail("the Indices output is not supported", ErrorCode::model_unsupported);
  const Window window = detail::pool_window(context, x);
  const auto y = context.make_output(windowed_shape(window, x.shape()[0], x.shape()[1], x.shape().rank() - 2));
  std::fill(y.begin(), y.end(), -std::numeric_limits<float>::infinity());
  const auto in_size = static_cast<std::size_t>(window.input_size());
  const auto out_size = static_cast<std::size_t>(window.output_size());
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(x.shape().count(0, 2)); ++plane) {
    const float* source = x.data<float>().data() + plane * in_size;
    float* target = y.data() + plane * out_size;
    for_each_tap(window, [&](std::int64_t, std::int64_t o, std::int64_t i) {
      const bool is_nan = source[i] != source[i];  // stays, since nothing compares greater than it
      if (is_nan || source[i] > target[o]) target[o] = source[i];
    });
  }
}

/// ONNX AveragePool: the sum divided by the number of elements.
inline void average_pool(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Window window = detail::pool_window(context, x);
  const auto y = context.make_output(windowed_shape(window, x.shape()[0], x.shape()[1], x.shape().rank() - 2));
  std::fill(y.begin(), y.end(), 0.0F);
  const auto divisors =
      detail::pool_divisors(window, context.node.attribute_or<std::int64_t>("count_include_pad", 0) != 0);
  const auto in_size = static_cast<std::size_t>(window.input_size());
  const auto out_size = static_cast<std::size_t>(window.output_size());
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(x.shape().count(0, 2)); ++plane) {
    const float* source = x.data<float>().data() + plane * in_size;
    float* target = y.data() + plane * out_size;
    for_each_tap(window, [&](std::int64_t, std::int64_t o, std::int64_t i) { target[o] += source[i]; });
    for (std::size_t o = 0; o < out_size; ++o) target[o] /= divisors[o];
  }
}

/// ONNX GlobalAveragePool.
inline void global_average_pool(const OpContext& context) {
  const Tensor& x = context.floats(0);
  if (x.shape().rank() < 3) context.fail("input " + to_string(x.shape()) + " has no spatial axes");
  std::vector<std::int64_t> dims(x.shape().rank(), 1);
  dims[0] = x.shape()[0];
  dims[1] = x.shape()[1];
  const auto y = context.make_output(Shape(std::move(dims)));
  const auto size = static_cast<std::size_t>(x.shape().count(2, x.shape().rank()));
  for (std::size_t plane = 0; plane < y.size(); ++plane) {
    double sum = 0.0;
    for (const float value : x.data<float>().subspan(plane * size, size)) sum += static_cast<double>(value);
    y[plane] = static_cast<float>(sum / static_cast<double>(size));
  }
}

}  // namespace amct::exec::ops
