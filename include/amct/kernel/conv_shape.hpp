// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <amct/core/status.hpp>

namespace amct {

/// Sizes along depth, height and width. Data with fewer spatial axes have a 1 in front.
using SpatialSizes = std::array<std::size_t, 3>;

/// The sizes of a convolution of channels-last data: x [batch, depth, height, width, channels_in] gives
/// y [batch, depth, height, width, channels_out]. Weights are in ONNX's order, [channels_out, channels_in / groups,
/// kernel...], transposed [channels_in, channels_out / groups, kernel...].
///
/// Kernel element t of output position o meets input position o * stride + t * dilation - pad_begin; transposed, the
/// position i with o = i * stride + t * dilation - pad_begin, if there is one. What it meets outside of the input is a
/// real 0. The output may have any size: padding behind the input, output_padding and ceil_mode need nothing else.
struct ConvShape {
  std::size_t batch = 1;
  std::size_t channels_in = 1;
  std::size_t channels_out = 1;
  std::size_t groups = 1;
  SpatialSizes input{1, 1, 1};
  SpatialSizes output{1, 1, 1};  ///< see fit_output
  SpatialSizes kernel{1, 1, 1};
  SpatialSizes stride{1, 1, 1};
  SpatialSizes dilation{1, 1, 1};
  SpatialSizes pad_begin{0, 0, 0};
  bool is_transposed = false;

  [[nodiscard]] constexpr std::size_t input_size() const noexcept { return input[0] * input[1] * input[2]; }
  [[nodiscard]] constexpr std::size_t output_size() const noexcept { return output[0] * output[1] * output[2]; }
  [[nodiscard]] constexpr std::size_t kernel_size() const noexcept { return kernel[0] * kernel[1] * kernel[2]; }
  [[nodiscard]] constexpr std::size_t group_in() const noexcept { return channels_in / groups; }
  [[nodiscard]] constexpr std::size_t group_out() const noexcept { return channels_out / groups; }

  [[nodiscard]] constexpr std::size_t x_size() const noexcept { return batch * input_size() * channels_in; }
  [[nodiscard]] constexpr std::size_t y_size() const noexcept { return batch * output_size() * channels_out; }
  [[nodiscard]] constexpr std::size_t weight_size() const noexcept { return channels_out * group_in() * kernel_size(); }

  /// Where the weight of an output channel and an input channel of its group stands.
  [[nodiscard]] constexpr std::size_t weight_index(std::size_t out, std::size_t in, std::size_t tap) const noexcept {
    if (!is_transposed) return (out * group_in() + in) * kernel_size() + tap;
    const std::size_t group = out / group_out();
    return ((group * group_in() + in) * group_out() + out % group_out()) * kernel_size() + tap;
  }

  /// Whether each channel has a filter of its own.
  [[nodiscard]] constexpr bool is_depthwise() const noexcept {
    return groups == channels_in && channels_in == channels_out;
  }
  /// Whether the rows of x are what the weights are multiplied with.
  [[nodiscard]] constexpr bool is_pointwise() const noexcept {
    return kernel_size() == 1 && stride == SpatialSizes{1, 1, 1} && pad_begin == SpatialSizes{0, 0, 0} &&
           input == output;
  }

  /// Sets the usual output sizes: as many positions as fit into the padded input; transposed, all that the input
  /// reaches without the padding, and output_padding.
  /// \return bad_option if the padding or the kernel is larger than what it is taken from, or for an input, a kernel or
  /// a
  ///         stride of 0
  Status fit_output(const SpatialSizes& pad_end = {0, 0, 0}, const SpatialSizes& output_padding = {0, 0, 0}) noexcept {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (input[axis] == 0) return bad("input", 0, "at least 1");
      if (kernel[axis] == 0) return bad("kernel", 0, "at least 1");
      if (stride[axis] == 0) return bad("stride", 0, "at least 1");
      const std::size_t reach = (kernel[axis] - 1) * dilation[axis] + 1;
      const std::size_t pads = pad_begin[axis] + pad_end[axis];
      const std::size_t whole =
          is_transposed ? (input[axis] - 1) * stride[axis] + reach + output_padding[axis] : input[axis] + pads;
      const std::size_t less = is_transposed ? pads + 1 : reach;
      if (const Status fits = check_option(whole >= less, "kernel", static_cast<double>(reach), "what the input holds");
          !fits) {
        return fits;
      }
      output[axis] = is_transposed ? whole - pads : (whole - reach) / stride[axis] + 1;
    }
    return {};
  }

  /// \return bad_option for a size of 0 or beyond 2^24, for channels that the groups do not divide and for more than
  ///         2^48 elements; a batch of 0 is fine
  [[nodiscard]] Status check() const noexcept {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    const auto within = [](std::size_t size, std::size_t least) { return size >= least && size <= kMost; };
    if (!within(batch, 0)) return bad("batch", batch, "0 to 2^24");
    if (!within(channels_in, 1)) return bad("channels_in", channels_in, "1 to 2^24");
    if (!within(channels_out, 1)) return bad("channels_out", channels_out, "1 to 2^24");
    if (groups == 0 || channels_in % groups != 0 || channels_out % groups != 0) {
      return bad("groups", groups, "a divisor of both numbers of channels");
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!within(input[axis], 1)) return bad("input", input[axis], "1 to 2^24");
      if (!within(output[axis], 1)) return bad("output", output[axis], "1 to 2^24");
      if (!within(kernel[axis], 1)) return bad("kernel", kernel[axis], "1 to 2^24");
      if (!within(stride[axis], 1)) return bad("stride", stride[axis], "1 to 2^24");
      if (!within(dilation[axis], 1)) return bad("dilation", dilation[axis], "1 to 2^24");
      if (!within(pad_begin[axis], 0)) return bad("pad_begin", pad_begin[axis], "0 to 2^24");
    }
    if (!is_small({batch, input[0], input[1], input[2], channels_in})) return bad("input", batch, "2^48 elements");
    if (!is_small({batch, output[0], output[1], output[2], channels_out})) return bad("output", batch, "2^48 elements");
    if (!is_small({channels_out, group_in(), kernel[0], kernel[1], kernel[2]})) {
      return bad("kernel", channels_out, "2^48 elements");
    }
    return {};
  }

  friend constexpr bool operator==(const ConvShape&, const ConvShape&) = default;

 private:
  static Status bad(const char* name, std::size_t value, const char* allowed) noexcept {
    return check_option(false, name, static_cast<double>(value), allowed);
  }
  static constexpr bool is_small(const std::array<std::size_t, 5>& sizes) noexcept {
    std::size_t left = std::size_t{1} << 48;
    for (const std::size_t size : sizes) left /= size == 0 ? 1 : size;
    return left != 0;
  }
};

}  // namespace amct

namespace amct::kernel {

/// A tap that meets no element of the input.
inline constexpr std::int64_t kOutside = -1;

/// The input position that kernel element t of output position o meets along an axis, or kOutside. Strides, dilations,
/// padding and transposed convolutions differ in nothing else.
[[nodiscard]] constexpr std::int64_t tap_position(const ConvShape& shape, std::size_t axis, std::size_t o,
                                                  std::size_t t) noexcept {
  const std::size_t step = t * shape.dilation[axis];
  std::size_t at = shape.is_transposed ? o + shape.pad_begin[axis] : o * shape.stride[axis] + step;
  const std::size_t before = shape.is_transposed ? step : shape.pad_begin[axis];
  if (at < before) return kOutside;
  at -= before;
  if (shape.is_transposed) {
    if (at % shape.stride[axis] != 0) return kOutside;
    at /= shape.stride[axis];
  }
  return at < shape.input[axis] ? static_cast<std::int64_t>(at) : kOutside;
}

/// A position of the output, batch and spatial axes.
struct OutputPosition {
  std::size_t image;
  SpatialSizes at;
};

/// The position of row r of y, a matrix with one row a position.
[[nodiscard]] constexpr OutputPosition output_position(const ConvShape& shape, std::size_t r) noexcept {
  const std::size_t x = r % shape.output[2];
  r /= shape.output[2];
  const std::size_t y = r % shape.output[1];
  r /= shape.output[1];
  return {r / shape.output[0], {r % shape.output[0], y, x}};
}

}  // namespace amct::kernel
