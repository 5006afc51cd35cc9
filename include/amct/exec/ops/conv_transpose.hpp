// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/exec/promote.hpp>
#include <amct/exec/scratch.hpp>
#include <amct/kernel/gemm_f32.hpp>

namespace amct::exec::ops {

namespace detail {

/// An attribute with one entry for each spatial axis, right-aligned to three.
[[nodiscard]] inline std::array<std::int64_t, 3> spatial_or(const OpContext& context, const char* name,
                                                            std::size_t spatial, std::int64_t least,
                                                            std::array<std::int64_t, 3> otherwise) {
  const auto* values = context.node.attribute<std::vector<std::int64_t>>(name);
  if (values == nullptr) return otherwise;
  if (values->size() != spatial) {
    context.fail(std::string(name) + " has " + std::to_string(values->size()) + " entries, expected " +
                 std::to_string(spatial));
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    otherwise[3 - spatial + i] = (*values)[i];
    exec::detail::require_between(context, name, (*values)[i], least);
  }
  return otherwise;
}

/// Sizes of a transposed convolution: the window is that of the convolution it reverses, so its "output" is our input.
[[nodiscard]] inline Window transposed_window(const OpContext& context, const Shape& x, const Shape& weight) {
  Window window = read_window(context, x, kernel_of(context, weight));
  const std::size_t spatial = x.rank() - 2;
  const AutoPad auto_pad = auto_pad_of(context);
  const auto extra = spatial_or(context, "output_padding", spatial, 0, {0, 0, 0});
  const auto wanted = spatial_or(context, "output_shape", spatial, 1, {0, 0, 0});
  if (auto_pad == AutoPad::valid) window.pad_begin = window.pad_end = {0, 0, 0};
  window.output = window.input;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    const std::int64_t full = (window.output[i] - 1) * window.stride[i] + reach + extra[i];
    const bool is_same = auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower;
    if (wanted[i] != 0 || is_same) {
      window.input[i] = wanted[i] != 0 ? wanted[i] : window.output[i] * window.stride[i];
      const std::int64_t total = std::max<std::int64_t>(0, full - window.input[i]);
      window.pad_begin[i] = auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
      window.pad_end[i] = total - window.pad_begin[i];
    } else {
      window.input[i] = full - window.pad_begin[i] - window.pad_end[i];
    }
    if (window.input[i] < 1) context.fail("the output would be empty");
  }
  return window;
}

/// What a transposed convolution computes with, checked.
struct ConvTransposeSizes {
  std::size_t group_in, group_out, kernel, from_size, to_size;

  /// Output channels whose products are computed before they are added up: as many as make 16 MiB, at least one.
  [[nodiscard]] std::size_t channels_at_once() const noexcept {
    constexpr std::size_t kFloats = std::size_t{4} << 20;
    return std::clamp<std::size_t>(kFloats / (kernel * std::max<std::size_t>(1, from_size)), 1, group_out);
  }
};

/// Adds the products of `channels` output channels, [channels, kernel, input positions], where they belong.
inline void add_products(const ConvTransposeSizes& sizes, const Window& window, std::size_t channels,
                         const float* products, const float* bias, float* y) {
  constexpr std::size_t kAdded = std::size_t{1} << 16;  // additions that are worth a thread's time
  const std::size_t size = sizes.kernel * sizes.from_size;
  parallel_for(channels, kAdded / std::max<std::size_t>(1, size) + 1, [&](std::size_t first, std::size_t count) {
    for (std::size_t c = first; c < first + count; ++c) {
      float* const plane = y + c * sizes.to_size;
      std::fill_n(plane, sizes.to_size, bias == nullptr ? 0.0F : bias[c]);
      for_each_tap_row(window, [&](std::int64_t k, std::int64_t o, std::int64_t i, std::int64_t length) {
        const float* const from = products + c * size + static_cast<std::size_t>(k) * sizes.from_size + o;
        float* const to = plane + i;
        const std::int64_t stride = window.stride[2];
        for (std::int64_t j = 0; j < length; ++j) to[j * stride] += from[j];
      });
    }
  });
}

}  // namespace detail

/// ONNX ConvTranspose over one to three spatial axes, float32: weight [Cin, Cout/g, ...], bias [Cout].
///
/// Each product of a kernel element is a chain of fused multiplications and additions over the input channels that
/// starts with 0; a result is the bias plus its products, over ascending kernel elements. The bits are the same on
/// every instruction set and for any number of threads.
inline void conv_transpose(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Tensor& weight = context.floats(1);
  if (x.shape().rank() < 3 || weight.shape().rank() != x.shape().rank() || weight.shape()[0] != x.shape()[1]) {
    context.fail("input " + to_string(x.shape()) + " and weight " + to_string(weight.shape()) + " do not fit");
  }
  const std::int64_t groups = detail::groups_of(context, x.shape()[1]);
  const std::int64_t channels_out = weight.shape()[1] * groups;
  const Window window = detail::transposed_window(context, x.shape(), weight.shape());
  const float* const bias = detail::conv_bias(context, channels_out);

  Window result = window;
  std::swap(result.input, result.output);
  const auto y = context.make_output(windowed_shape(result, x.shape()[0], channels_out, x.shape().rank() - 2));
  const detail::ConvTransposeSizes sizes{
      static_cast<std::size_t>(x.shape()[1] / groups), static_cast<std::size_t>(weight.shape()[1]),
      static_cast<std::size_t>(window.kernel_size()), static_cast<std::size_t>(window.output_size()),
      static_cast<std::size_t>(window.input_size())};
  if (y.empty()) return;
  if (window.kernel_size() > kMostElements / std::max<std::int64_t>(1, window.output_size())) {
    context.fail("the products would be more than 2^29 elements; try smaller inputs");
  }
  const std::size_t at_once = sizes.channels_at_once();
  const std::size_t weight_row = sizes.group_out * sizes.kernel;
  Scratch products(context, at_once * sizes.kernel * sizes.from_size);
  for (std::size_t p = 0; p < static_cast<std::size_t>(x.shape()[0] * groups); ++p) {
    const std::size_t group = p % static_cast<std::size_t>(groups);
    const float* const source = x.data<float>().data() + p * sizes.group_in * sizes.from_size;
    const float* const w = weight.data<float>().data() + group * sizes.group_in * weight_row;
    for (std::size_t c = 0; c < sizes.group_out; c += at_once) {
      const std::size_t channels = std::min(at_once, sizes.group_out - c);
      gemm_f32(channels * sizes.kernel, sizes.from_size, sizes.group_in,
               StridedMatrix{w + c * sizes.kernel, 1, weight_row}, StridedMatrix{source, sizes.from_size, 1},
               GemmResult{.data = products.data(), .row = sizes.from_size});
      detail::add_products(sizes, window, channels, products.data(),
                           bias == nullptr ? nullptr : bias + group * sizes.group_out + c,
                           y.data() + (p * sizes.group_out + c) * sizes.to_size);
    }
  }
}

inline void add_conv_transpose(OpSet& set) { set.add("ConvTranspose", in_float32(conv_transpose)); }

}  // namespace amct::exec::ops
