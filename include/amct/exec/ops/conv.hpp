// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/tap_layout.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/exec/promote.hpp>
#include <amct/exec/scratch.hpp>
#include <amct/kernel/gemm_f32.hpp>

namespace amct::exec::ops {

namespace detail {

/// The bias of a convolution with `channels` outputs, or null.
[[nodiscard]] inline const float* conv_bias(const OpContext& context, std::int64_t channels) {
  if (!context.has(2)) return nullptr;
  const auto bias = context.floats(2).data<float>();
  if (static_cast<std::int64_t>(bias.size()) != channels) {
    context.fail("the bias has " + std::to_string(bias.size()) + " values, expected " + std::to_string(channels));
  }
  return bias.data();
}

[[nodiscard]] inline std::int64_t groups_of(const OpContext& context, std::int64_t input_channels) {
  const auto groups = context.node.attribute_or<std::int64_t>("group", 1);
  if (groups < 1 || input_channels % groups != 0) {
    context.fail(std::to_string(input_channels) + " channels cannot be split into " + std::to_string(groups) +
                 " groups");
  }
  return groups;
}

/// The spatial sizes of a weight; kernel_shape must name the same, if given.
[[nodiscard]] inline std::vector<std::int64_t> kernel_of(const OpContext& context, const Shape& weight) {
  const std::vector<std::int64_t> kernel(weight.begin() + 2, weight.end());
  const auto* named = context.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (named != nullptr && *named != kernel) {
    context.fail("kernel_shape is " + to_string(Shape(*named)) + ", but the weight is " + to_string(weight));
  }
  return kernel;
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
};

[[nodiscard]] inline ConvSizes conv_sizes(const OpContext& context, const Shape& x, const Shape& weight) {
  const auto refuse = [&](const std::string& more) {
    context.fail("input " + to_string(x) + " and weight " + to_string(weight) + " do not fit" + more);
  };
  if (x.rank() < 3 || weight.rank() != x.rank()) refuse("");
  const std::int64_t groups = groups_of(context, x[1]);
  if (weight[1] != x[1] / groups || weight[0] % groups != 0) refuse(" with " + std::to_string(groups) + " groups");
  ConvSizes sizes{x[0], x[1], weight[0], groups, read_window(context, x, kernel_of(context, weight))};
  place_window(context, sizes.window);
  return sizes;
}

/// Multiplies the weights of every group with its part of every image.
/// \param right  right(image, group) is the right factor
template <class MakeRight>
void multiply_groups(const ConvSizes& sizes, std::size_t images, const float* weight, const float* bias, float* y,
                     const MakeRight& right) {
  const std::size_t rows = sizes.group_out();
  const std::size_t columns = sizes.output_size();
  const std::size_t depth = sizes.depth();
  const auto groups = static_cast<std::size_t>(sizes.groups);
  gemm_f32(
      images * groups, rows, columns, depth,
      [&](std::size_t p) {
        return StridedMatrix{weight + p % groups * rows * depth, depth, 1};
      },
      [&](std::size_t p) { return right(p / groups, p % groups); },
      [&](std::size_t p) {
        return GemmResult{.data = y + p * rows * columns,
                          .row = columns,
                          .bias = bias == nullptr ? nullptr : bias + p % groups * rows};
      });
}

/// Images whose rearranged copies are made at once: as many as stay in a cache, at least one.
[[nodiscard]] inline std::size_t images_at_once(std::size_t images, std::size_t image_size) noexcept {
  constexpr std::size_t kFloats = std::size_t{1} << 17;
  return std::clamp<std::size_t>(kFloats / std::max<std::size_t>(1, image_size), 1, std::max<std::size_t>(1, images));
}

/// A convolution with any window, over rearranged copies of the images.
inline void conv_windows(const OpContext& context, const ConvSizes& sizes, const float* x, const float* weight,
                         const float* bias, float* y) {
  const TapLayout layout(context, sizes.window, sizes.channels_in);
  const auto rows = layout.rows(sizes.group_in());
  const auto channels = static_cast<std::size_t>(sizes.channels_in);
  const auto images = static_cast<std::size_t>(sizes.batch);
  const std::size_t plane = layout.plane_size();
  const std::size_t at_once = images_at_once(images, channels * plane);
  Scratch scratch(context, at_once * channels * plane + kWindowSlack);
  std::fill_n(scratch.data(), at_once * channels * plane + kWindowSlack, 0.0F);
  constexpr std::size_t kCopied = std::size_t{1} << 16;  // floats that are worth a thread's time
  for (std::size_t first = 0; first < images; first += at_once) {
    const std::size_t count = std::min(at_once, images - first);
    const float* const from = x + first * channels * sizes.input_size();
    parallel_for(count * channels, kCopied / std::max<std::size_t>(1, plane) + 1,
                 [&](std::size_t c, std::size_t planes) {
                   for (std::size_t i = c; i < c + planes; ++i) {
                     layout.arrange(from + i * sizes.input_size(), scratch.data() + i * plane);
                   }
                 });
    const std::size_t image_out = static_cast<std::size_t>(sizes.channels_out) * sizes.output_size();
    multiply_groups(sizes, count, weight, bias, y + first * image_out, [&](std::size_t image, std::size_t group) {
      return layout.windows(scratch.data() + (image * channels + group * sizes.group_in()) * plane, rows);
    });
  }
}

}  // namespace detail

/// ONNX Conv over one to three spatial axes, float32: input [N, Cin, ...], weight [Cout, Cin/g, ...], bias [Cout].
///
/// The products of each result run over channels and within them over kernel elements, and are summed as gemm_f32
/// says; elements in the padding count as 0. The bits are the same on every instruction set and for any number of
/// threads.
inline void conv(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Tensor& weight = context.floats(1);
  const detail::ConvSizes sizes = detail::conv_sizes(context, x.shape(), weight.shape());
  const float* const bias = detail::conv_bias(context, sizes.channels_out);
  float* const y =
      context.make_output(windowed_shape(sizes.window, sizes.batch, sizes.channels_out, x.shape().rank() - 2)).data();
  const float* const from = x.data<float>().data();
  const float* const w = weight.data<float>().data();
  if (!sizes.window.is_identity()) return detail::conv_windows(context, sizes, from, w, bias, y);
  const std::size_t group_size = sizes.group_in() * sizes.input_size();
  const auto groups = static_cast<std::size_t>(sizes.groups);
  detail::multiply_groups(sizes, static_cast<std::size_t>(sizes.batch), w, bias, y,
                          [&](std::size_t image, std::size_t group) {
                            return StridedMatrix{from + (image * groups + group) * group_size, sizes.input_size(), 1};
                          });
}

inline void add_conv(OpSet& set) { set.add("Conv", in_float32(conv)); }

}  // namespace amct::exec::ops
