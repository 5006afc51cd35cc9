// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <amct/core/tensor.hpp>

#include "support/graph_builder.hpp"

namespace support {

/// Geometry of a (transposed) convolution, any number of spatial axes up to three.
struct NaiveConv {
  Ints stride, dilation, pad_begin, pad_end;
  std::int64_t groups = 1;
  Ints output_padding = {};

  [[nodiscard]] Attributes attributes() const {
    Ints pads = pad_begin;
    pads.insert(pads.end(), pad_end.begin(), pad_end.end());
    Attributes result{{"strides", stride}, {"dilations", dilation}, {"pads", pads}, {"group", groups}};
    if (!output_padding.empty()) result.push_back({"output_padding", output_padding});
    return result;
  }
};

namespace naive {

/// All positions of a box, last axis fastest.
[[nodiscard]] inline std::vector<Ints> positions(const Ints& box) {
  std::vector<Ints> result{{}};
  for (const auto extent : box) {
    std::vector<Ints> longer;
    for (const auto& prefix : result) {
      for (std::int64_t i = 0; i < extent; ++i) {
        longer.push_back(prefix);
        longer.back().push_back(i);
      }
    }
    result = std::move(longer);
  }
  return result;
}
[[nodiscard]] inline std::size_t offset(const amct::Shape& shape, std::int64_t first, std::int64_t second,
                                        const Ints& rest) {
  std::int64_t index = first * shape[1] + second;
  for (std::size_t i = 0; i < rest.size(); ++i) index = index * shape[i + 2] + rest[i];
  return static_cast<std::size_t>(index);
}
[[nodiscard]] inline Ints spatial(const amct::Shape& shape) { return {shape.begin() + 2, shape.end()}; }
[[nodiscard]] inline bool inside(const Ints& position, const Ints& box) {
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (position[i] < 0 || position[i] >= box[i]) return false;
  }
  return true;
}
[[nodiscard]] inline amct::Shape shaped(std::int64_t n, std::int64_t c, const Ints& rest) {
  Ints dims{n, c};
  dims.insert(dims.end(), rest.begin(), rest.end());
  return amct::Shape(dims);
}

}  // namespace naive

/// Convolution by its definition: gathers for every output element, in double.
[[nodiscard]] inline amct::Tensor naive_conv(const amct::Tensor& x, const amct::Tensor& w, const amct::Tensor* bias,
                                             const NaiveConv& g) {
  const Ints in = naive::spatial(x.shape());
  const Ints kernel = naive::spatial(w.shape());
  Ints out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto reach = g.dilation[i] * (kernel[i] - 1) + 1;
    out.push_back((in[i] + g.pad_begin[i] + g.pad_end[i] - reach) / g.stride[i] + 1);
  }
  const auto channels_out = w.shape()[0];
  const auto group_in = w.shape()[1];
  amct::Tensor y(amct::ElementType::float32, naive::shaped(x.shape()[0], channels_out, out));
  for (std::int64_t n = 0; n < x.shape()[0]; ++n) {
    for (std::int64_t o = 0; o < channels_out; ++o) {
      const auto group = o / (channels_out / g.groups);
      for (const auto& at : naive::positions(out)) {
        double sum = bias == nullptr ? 0.0 : static_cast<double>(bias->data<float>()[static_cast<std::size_t>(o)]);
        for (std::int64_t c = 0; c < group_in; ++c) {
          for (const auto& k : naive::positions(kernel)) {
            Ints from = at;
            for (std::size_t i = 0; i < at.size(); ++i)
              from[i] = at[i] * g.stride[i] + k[i] * g.dilation[i] - g.pad_begin[i];
            if (!naive::inside(from, in)) continue;
            sum += static_cast<double>(x.data<float>()[naive::offset(x.shape(), n, group * group_in + c, from)]) *
                   static_cast<double>(w.data<float>()[naive::offset(w.shape(), o, c, k)]);
          }
        }
        y.data<float>()[naive::offset(y.shape(), n, o, at)] = static_cast<float>(sum);
      }
    }
  }
  return y;
}

/// Transposed convolution by its definition: scatters every input element, in double.
[[nodiscard]] inline amct::Tensor naive_conv_transpose(const amct::Tensor& x, const amct::Tensor& w,
                                                       const amct::Tensor* bias, const NaiveConv& g) {
  const Ints in = naive::spatial(x.shape());
  const Ints kernel = naive::spatial(w.shape());
  Ints out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto extra = g.output_padding.empty() ? 0 : g.output_padding[i];
    out.push_back((in[i] - 1) * g.stride[i] + extra + g.dilation[i] * (kernel[i] - 1) + 1 - g.pad_begin[i] -
                  g.pad_end[i]);
  }
  const auto group_in = x.shape()[1] / g.groups;
  const auto group_out = w.shape()[1];
  amct::Tensor y(amct::ElementType::float32, naive::shaped(x.shape()[0], group_out * g.groups, out));
  std::vector<double> sums(y.size(), 0.0);
  for (std::int64_t n = 0; n < x.shape()[0]; ++n) {
    for (std::int64_t c = 0; c < x.shape()[1]; ++c) {
      for (const auto& at : naive::positions(in)) {
        for (std::int64_t o = 0; o < group_out; ++o) {
          for (const auto& k : naive::positions(kernel)) {
            Ints to = at;
            for (std::size_t i = 0; i < at.size(); ++i)
              to[i] = at[i] * g.stride[i] + k[i] * g.dilation[i] - g.pad_begin[i];
            if (!naive::inside(to, out)) continue;
            sums[naive::offset(y.shape(), n, c / group_in * group_out + o, to)] +=
                static_cast<double>(x.data<float>()[naive::offset(x.shape(), n, c, at)]) *
                static_cast<double>(w.data<float>()[naive::offset(w.shape(), c, o, k)]);
          }
        }
      }
    }
  }
  const std::size_t plane = y.size() / static_cast<std::size_t>(y.shape()[0] * y.shape()[1]);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t channel = i / plane % static_cast<std::size_t>(y.shape()[1]);
    if (bias != nullptr) sums[i] += static_cast<double>(bias->data<float>()[channel]);
    y.data<float>()[i] = static_cast<float>(sums[i]);
  }
  return y;
}

}  // namespace support
