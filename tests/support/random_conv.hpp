// SPDX-License-Identifier: Apache-2.0
// Random small convolutions of codes, and what they are, computed from the other side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <amct/kernel/conv_shape.hpp>

#include "support/draws.hpp"

namespace support {

/// A convolution over one to three axes, of any kind, with at most some thousand products.
[[nodiscard]] inline amct::ConvShape draw_conv(Draws& draws) {
  amct::ConvShape shape;
  shape.is_transposed = draws.one_in(4);
  shape.batch = draws.one_in(4) ? 2 : 1;
  shape.groups = draws.one_in(3) ? draws.from(2, 4) : 1;
  shape.channels_in = shape.groups * draws.from(1, 6);
  shape.channels_out = shape.groups * draws.from(1, 6);
  if (draws.one_in(3)) shape.groups = shape.channels_out = shape.channels_in = draws.from(1, 35);
  const std::size_t axes = draws.from(1, 3);
  for (std::size_t axis = 3 - axes; axis < 3; ++axis) {
    shape.input[axis] = draws.from(1, axis == 2 ? 9 : 5);
    shape.kernel[axis] = draws.from(1, axes == 1 ? 9 : 3);
    shape.stride[axis] = draws.from(1, 3);
    shape.dilation[axis] = draws.one_in(3) ? draws.from(2, 3) : 1;
    shape.pad_begin[axis] = draws.from(0, 2);
  }
  const amct::SpatialSizes pad_end{0, axes > 1 ? draws.from(0, 2) : 0, draws.from(0, 2)};
  const bool fits = shape.fit_output(pad_end).ok();
  for (std::size_t axis = 3 - axes; axis < 3; ++axis) {
    if (!fits || shape.output[axis] > 12 || draws.one_in(8)) shape.output[axis] = draws.from(1, 6);
  }
  return shape;
}

/// The place of an element of a channels-last tensor.
[[nodiscard]] inline std::size_t place(const amct::SpatialSizes& sizes, std::size_t channels, std::size_t image,
                                       std::size_t z, std::size_t y, std::size_t x, std::size_t channel) {
  return (((image * sizes[0] + z) * sizes[1] + y) * sizes[2] + x) * channels + channel;
}

/// Where an input element and a kernel element meet along an axis; -1 if nowhere.
[[nodiscard]] inline std::int64_t meeting(const amct::ConvShape& shape, std::size_t axis, std::size_t i,
                                          std::size_t t) {
  const auto at = static_cast<std::int64_t>(i);
  const auto step = static_cast<std::int64_t>(t * shape.dilation[axis]);
  const auto stride = static_cast<std::int64_t>(shape.stride[axis]);
  const auto pad = static_cast<std::int64_t>(shape.pad_begin[axis]);
  std::int64_t o = 0;
  if (shape.is_transposed) {
    o = at * stride + step - pad;
  } else {
    if (at + pad < step || (at + pad - step) % stride != 0) return -1;
    o = (at + pad - step) / stride;
  }
  return o >= 0 && o < static_cast<std::int64_t>(shape.output[axis]) ? o : -1;
}

/// The sums of a convolution, in int64: each input element goes to all sums that it is part of, where the library looks
/// from each sum for its elements.
template <class X>
[[nodiscard]] std::vector<std::int64_t> scattered_sums(const amct::ConvShape& s, const std::vector<X>& x,
                                                       std::int32_t zero_point, const std::vector<std::int8_t>& w) {
  std::vector<std::int64_t> sums(s.y_size(), 0);
  const std::size_t in_group = s.channels_in / s.groups;
  const std::size_t out_group = s.channels_out / s.groups;
  const auto spread = [&](std::size_t image, const amct::SpatialSizes& i, const amct::SpatialSizes& o,
                          std::size_t tap) {
    for (std::size_t in = 0; in < s.channels_in; ++in) {
      const std::int64_t value =
          std::int64_t{x[place(s.input, s.channels_in, image, i[0], i[1], i[2], in)]} - zero_point;
      const std::size_t group = in / in_group;
      for (std::size_t k = 0; k < out_group; ++k) {
        const std::size_t out = group * out_group + k;
        const std::size_t row = s.is_transposed ? in * out_group + k : out * in_group + in % in_group;
        sums[place(s.output, s.channels_out, image, o[0], o[1], o[2], out)] += value * w[row * s.kernel_size() + tap];
      }
    }
  };
  const std::size_t taps = s.kernel_size();
  for (std::size_t image = 0; image < s.batch; ++image) {
    for (std::size_t at = 0; at < s.input_size() * taps; ++at) {
      const std::size_t tap = at % taps;
      const std::size_t position = at / taps;
      const amct::SpatialSizes i{position / (s.input[1] * s.input[2]), position / s.input[2] % s.input[1],
                                 position % s.input[2]};
      const amct::SpatialSizes t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
      amct::SpatialSizes o{};
      bool meets = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t there = meeting(s, axis, i[axis], t[axis]);
        meets = meets && there >= 0;
        o[axis] = static_cast<std::size_t>(std::max<std::int64_t>(there, 0));
      }
      if (meets) spread(image, i, o, tap);
    }
  }
  return sums;
}

/// A convolution in words.
[[nodiscard]] inline std::string describe(const amct::ConvShape& s) {
  std::string text = s.is_transposed ? "transposed" : "convolution";
  const auto add = [&](const char* name, std::initializer_list<std::size_t> values) {
    text.append(", ").append(name);
    for (const std::size_t value : values) text.append(1, ' ').append(std::to_string(value));
  };
  const auto add_sizes = [&](const char* name, const amct::SpatialSizes& sizes) {
    add(name, {sizes[0], sizes[1], sizes[2]});
  };
  add("batch", {s.batch});
  add("channels", {s.channels_in, s.channels_out});
  add("groups", {s.groups});
  add_sizes("input", s.input);
  add_sizes("output", s.output);
  add_sizes("kernel", s.kernel);
  add_sizes("stride", s.stride);
  add_sizes("dilation", s.dilation);
  add_sizes("pad", s.pad_begin);
  return text;
}

}  // namespace support
