// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <amct/core/parallel.hpp>
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
    context.fail(std::to_string(input_channels) + " channels cannot be split into " + std::to_string(groups) +
                 " groups");
  }
  return groups;
}

[[nodiscard]] inline std::vector<std::int64_t> kernel_of(const Shape& weight) {
  return {weight.begin() + 2, weight.end()};
}

/// Sizes of one convolution, checked.
struct ConvSizes {
  std::int64_t batch, channels_in, channels_out, groups;
  Window window;

  [[nodiscard]] std::size_t input_size() const noexcept { return static_cast<std::size_t>(window.input_size()); }
  [[nodiscard]] std::size_t output_size() const noexcept { return static_cast<std::size_t>(window.output_size()); }
  [[nodiscard]] std::size_t group_in() const noexcept { return static_cast<std::size_t>(channels_in / groups); }
  [[nodiscard]] std::size_t group_out() const noexcept { return static_cast<std::size_t>(channels_out / groups); }
  /// Weights of one output channel.
  [[nodiscard]] std::size_t depth() const noexcept {
    return group_in() * static_cast<std::size_t>(window.kernel_size());
  }
  /// Floats of scratch for one image: the unrolled windows of a group, where they are needed.
  [[nodiscard]] std::size_t scratch() const noexcept {
    return window.is_identity() || group_in() == 1 ? 0 : depth() * output_size();
  }
};

[[nodiscard]] inline ConvSizes conv_sizes(const OpContext& context, const Shape& x, const Shape& weight) {
  const auto refuse = [&](const std::string& more) {
    context.fail("input " + to_string(x) + " and weight " + to_string(weight) + " do not fit" + more);
  };
  if (x.rank() < 3 || weight.rank() != x.rank()) refuse("");
  const std::int64_t groups = groups_of(context, x[1]);
  if (weight[1] != x[1] / groups || weight[0] % groups != 0) refuse(" with " + std::to_string(groups) + " groups");
  ConvSizes sizes{x[0], x[1], weight[0], groups, read_window(context, x, kernel_of(weight))};
  place_window(context, sizes.window);
  return sizes;
}

/// One group of one image: target = weight * unrolled source (+ what is in target already).
inline void conv_group(const ConvSizes& sizes, const float* source, const float* weight, float* target,
                       float* columns) {
  const std::size_t out_size = sizes.output_size();
  if (sizes.window.is_identity()) {
    return gemm(sizes.group_out(), out_size, sizes.depth(), weight, false, source, false, target, true);
  }
  const std::size_t kernel = static_cast<std::size_t>(sizes.window.kernel_size());
  if (sizes.group_in() == 1) {
    for (std::size_t r = 0; r < sizes.group_out(); ++r) {
      float* row = target + r * out_size;
      const float* taps = weight + r * kernel;
      for_each_tap(sizes.window,
                   [&](std::int64_t k, std::int64_t o, std::int64_t i) { row[o] += taps[k] * source[i]; });
    }
    return;
  }
  std::fill_n(columns, sizes.scratch(), 0.0F);
  for (std::size_t c = 0; c < sizes.group_in(); ++c) {
    float* block = columns + c * kernel * out_size;
    const float* plane = source + c * sizes.input_size();
    for_each_tap(sizes.window, [&](std::int64_t k, std::int64_t o, std::int64_t i) {
      block[static_cast<std::size_t>(k) * out_size + static_cast<std::size_t>(o)] = plane[i];
    });
  }
  gemm(sizes.group_out(), out_size, sizes.depth(), weight, false, columns, false, target, true);
}

/// Images a thread takes at once: enough multiplications that handing them over does not matter.
[[nodiscard]] inline std::size_t images_at_once(const ConvSizes& sizes) noexcept {
  constexpr std::size_t kWork = std::size_t{1} << 20;
  const std::size_t one = static_cast<std::size_t>(sizes.channels_out) * sizes.output_size() * sizes.depth();
  return std::max<std::size_t>(1, kWork / std::max<std::size_t>(1, one));
}

}  // namespace detail

/// ONNX Conv over one to three spatial axes, float32: input [N, Cin, ...], weight [Cout, Cin/g, ...], bias [Cout].
/// Images are spread over threads; each is computed the same way whatever their number.
inline void conv(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Tensor& weight = context.floats(1);
  const detail::ConvSizes sizes = detail::conv_sizes(context, x.shape(), weight.shape());
  const auto bias = detail::conv_bias(context, sizes.channels_out);
  const auto y =
      context.make_output(windowed_shape(sizes.window, sizes.batch, sizes.channels_out, x.shape().rank() - 2));
  const std::size_t in_image = static_cast<std::size_t>(sizes.channels_in) * sizes.input_size();
  const std::size_t out_image = static_cast<std::size_t>(sizes.channels_out) * sizes.output_size();
  std::atomic<bool> no_memory{false};
  parallel_for(
      static_cast<std::size_t>(sizes.batch), detail::images_at_once(sizes), [&](std::size_t first, std::size_t count) {
        const std::unique_ptr<float[]> columns(new (std::nothrow) float[sizes.scratch()]);
        if (columns == nullptr) {
          no_memory = true;
          return;
        }
        for (std::size_t n = first; n < first + count; ++n) {
          const auto image = y.subspan(n * out_image, out_image);
          detail::fill_rows(image, bias, sizes.output_size());
          for (std::size_t g = 0; g < static_cast<std::size_t>(sizes.groups); ++g) {
            detail::conv_group(sizes, x.data<float>().data() + n * in_image + g * sizes.group_in() * sizes.input_size(),
                               weight.data<float>().data() + g * sizes.group_out() * sizes.depth(),
                               image.data() + g * sizes.group_out() * sizes.output_size(), columns.get());
          }
        }
      });
  if (no_memory) throw std::bad_alloc{};
}

}  // namespace amct::exec::ops
