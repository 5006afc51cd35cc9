// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/fourier.hpp>
#include <amct/exec/type_attribute.hpp>

/// \file
/// Operators of sound processing. They compute in double precision.

namespace amct::exec::ops {

namespace detail {

/// An input of one integer.
[[nodiscard]] inline std::int64_t one_integer(const OpContext& context, std::size_t index, std::int64_t least) {
  const auto values = context.integers(index);
  if (values.size() != 1 || values[0] < least) {
    context.fail("input " + std::to_string(index) + " is " + to_string(Shape(values)) + ", expected one number from " +
                 std::to_string(least) + " on");
  }
  return values[0];
}

/// Makes output 0 of doubles that fill(values) gives, converted to its type.
template <class Fill>
void make_from_doubles(const OpContext& context, ElementType type, Shape shape, Fill&& fill) {
  Tensor& y = context.make_output(0, type, std::move(shape));
  Tensor values(ElementType::float64, y.shape());
  fill(values.data<double>());
  const Tensor converted = amct::cast(values, type);
  std::copy(converted.raw().begin(), converted.raw().end(), y.raw().begin());
}

/// The size of a transform, which takes several times its memory.
[[nodiscard]] inline std::int64_t transform_size(const OpContext& context, std::int64_t size) {
  if (size < 1 || size > std::int64_t{1} << 24) {
    context.fail("a transform of " + std::to_string(size) + " elements, expected 1 to 2^24");
  }
  return size;
}

/// Signals [outer, size, inner] of real (parts 1) or complex (parts 2) numbers.
struct Signals {
  std::size_t outer, size, inner, parts;
  Tensor values;

  [[nodiscard]] std::complex<double> at(std::size_t o, std::size_t n, std::size_t i) const noexcept {
    const double* const value = values.data<double>().data() + ((o * size + n) * inner + i) * parts;
    return {value[0], parts == 2 ? value[1] : 0.0};
  }
};

[[nodiscard]] inline Signals read_signals(const OpContext& context, std::size_t axis) {
  const Tensor& x = context.input(0);
  const Shape& shape = x.shape();
  const std::size_t last = shape.rank() - 1;
  if (shape[last] != 1 && shape[last] != 2) {
    context.fail("input " + to_string(shape) + ", expected real numbers [...,1] or complex ones [...,2]");
  }
  return {static_cast<std::size_t>(shape.count(0, axis)), static_cast<std::size_t>(shape[axis]),
          static_cast<std::size_t>(shape.count(axis + 1, last)), static_cast<std::size_t>(shape[last]),
          amct::cast(x, ElementType::float64)};
}

}  // namespace detail

/// ONNX HannWindow, HammingWindow and BlackmanWindow: a sum of cosines
/// c0 - c1 · cos(2πn/N) + c2 · cos(4πn/N), where N is the size, or one less if the window is symmetric.
template <const std::array<double, 3>& kTerms>
void cosine_window(const OpContext& context) {
  const std::int64_t size = detail::one_integer(context, 0, 0);
  const bool periodic = context.node.attribute_or<std::int64_t>("periodic", 1) != 0;
  const auto last = static_cast<double>(std::max<std::int64_t>(1, periodic ? size : size - 1));
  const double step = 2.0 * std::numbers::pi / last;
  const ElementType type = type_attribute(context, "output_datatype", ElementType::float32);
  detail::make_from_doubles(context, type, {size}, [&](std::span<double> window) {
    for (std::size_t n = 0; n < window.size(); ++n) {
      const double angle = step * static_cast<double>(n);
      window[n] = kTerms[0] - kTerms[1] * std::cos(angle) + kTerms[2] * std::cos(2.0 * angle);
    }
  });
}

inline constexpr std::array<double, 3> kHann{0.5, 0.5, 0.0};
inline constexpr std::array<double, 3> kHamming{25.0 / 46.0, 21.0 / 46.0, 0.0};
inline constexpr std::array<double, 3> kBlackman{0.42, 0.5, 0.08};

/// ONNX DFT of opset 17 along one axis; the signal is cut or filled with zeros to dft_length.
inline void dft(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 1), shape.rank());
  if (axis + 1 == shape.rank()) context.fail("axis " + std::to_string(axis) + " holds the parts of complex numbers");
  const detail::Signals signals = detail::read_signals(context, axis);
  const auto size = detail::transform_size(context, context.has(1) ? detail::one_integer(context, 1, 1) : shape[axis]);
  const bool inverse = context.node.attribute_or<std::int64_t>("inverse", 0) != 0;
  const bool onesided = context.node.attribute_or<std::int64_t>("onesided", 0) != 0;
  if (onesided && (inverse || signals.parts == 2)) context.fail("only the transform of real numbers can be one-sided");
  Shape result = shape;
  result[axis] = onesided ? size / 2 + 1 : size;
  result[shape.rank() - 1] = 2;
  const auto kept = static_cast<std::size_t>(result[axis]);
  const double scale = inverse ? 1.0 / static_cast<double>(size) : 1.0;
  detail::make_from_doubles(context, context.input(0).type(), std::move(result), [&](std::span<double> output) {
    for (std::size_t row = 0; row < signals.outer * signals.inner; ++row) {
      const std::size_t o = row / signals.inner;
      const std::size_t i = row % signals.inner;
      Complexes values(static_cast<std::size_t>(size));
      for (std::size_t n = 0; n < std::min(values.size(), signals.size); ++n) values[n] = signals.at(o, n, i);
      fourier_transform(values, inverse);
      for (std::size_t n = 0; n < kept; ++n) {
        const std::size_t position = (o * kept + n) * signals.inner + i;
        output[2 * position] = values[n].real() * scale;
        output[2 * position + 1] = values[n].imag() * scale;
      }
    }
  });
}

/// ONNX STFT: the transforms of frames [batch, frames, bins, 2] of signals [batch, length, 1 or 2], one every
/// frame_step samples, each multiplied by the window if there is one.
inline void stft(const OpContext& context) {
  const Shape& shape = context.input(0).shape();
  if (shape.rank() != 3) context.fail("input " + to_string(shape) + ", expected [batch,length,1 or 2]");
  const detail::Signals signals = detail::read_signals(context, 1);
  const std::int64_t step = detail::one_integer(context, 1, 1);
  const Tensor window = context.has(2) ? amct::cast(context.input(2), ElementType::float64) : Tensor();
  if (!context.has(2) && !context.has(3)) context.fail("has neither a window nor a frame_length");
  const auto size = context.has(3) ? detail::one_integer(context, 3, 1) : static_cast<std::int64_t>(window.size());
  if (context.has(2) && window.shape() != Shape{size}) {
    context.fail("the window is " + to_string(window.shape()) + ", expected [" + std::to_string(size) + ']');
  }
  if (detail::transform_size(context, size) > shape[1]) {
    context.fail("frames of " + std::to_string(size) + " do not fit a signal of " + std::to_string(shape[1]));
  }
  const bool onesided = context.node.attribute_or<std::int64_t>("onesided", 1) != 0;
  if (onesided && signals.parts == 2) context.fail("only the transform of real numbers can be one-sided");
  const std::int64_t frames = (shape[1] - size) / step + 1;
  const std::int64_t kept = onesided ? size / 2 + 1 : size;
  const auto fill = [&](std::span<double> output) {
    double* target = output.data();
    for (std::size_t row = 0; row < signals.outer * static_cast<std::size_t>(frames); ++row) {
      const std::size_t b = row / static_cast<std::size_t>(frames);
      const std::size_t start = row % static_cast<std::size_t>(frames) * static_cast<std::size_t>(step);
      Complexes values(static_cast<std::size_t>(size));
      for (std::size_t n = 0; n < values.size(); ++n) {
        values[n] = signals.at(b, start + n, 0) * (context.has(2) ? window.data<double>()[n] : 1.0);
      }
      fourier_transform(values, false);
      for (std::size_t n = 0; n < static_cast<std::size_t>(kept); ++n) {
        *target++ = values[n].real();
        *target++ = values[n].imag();
      }
    }
  };
  detail::make_from_doubles(context, context.input(0).type(), {shape[0], frames, kept, 2}, fill);
}

/// ONNX MelWeightMatrix: weights [dft_length / 2 + 1, num_mel_bins] that turn a spectrum into mel bins. Bin i is a
/// triangle over the frequencies i to i + 2 of num_mel_bins + 2 that lie evenly on the mel scale.
inline void mel_weight_matrix(const OpContext& context) {
  const std::int64_t bins = detail::one_integer(context, 0, 1);
  const std::int64_t length = detail::one_integer(context, 1, 1);
  const std::int64_t rate = detail::one_integer(context, 2, 1);
  const auto hertz = [&](std::size_t index) {
    const Tensor value = amct::cast(context.input(index), ElementType::float64);
    const bool one = value.size() == 1 && value.data<double>()[0] >= 0.0 && value.data<double>()[0] <= 1e9;
    if (!one) context.fail("input " + std::to_string(index) + " is no frequency");
    return value.data<double>()[0];
  };
  const auto mel = [&](double frequency) { return 2595.0 * std::log10(1.0 + frequency / 700.0); };
  const double low = mel(hertz(3));
  const double step = (mel(hertz(4)) - low) / static_cast<double>(bins + 2);
  const auto at = [&](std::int64_t i) {  // the row of a mel frequency
    const double frequency = 700.0 * (std::pow(10.0, (low + step * static_cast<double>(i)) / 2595.0) - 1.0);
    return static_cast<std::int64_t>(
        std::floor(static_cast<double>(length + 1) * frequency / static_cast<double>(rate)));
  };
  const std::int64_t rows = length / 2 + 1;
  const auto fill = [&](std::span<double> weights) {
    std::fill(weights.begin(), weights.end(), 0.0);
    const auto put = [&](std::int64_t row, std::int64_t bin, std::int64_t part, std::int64_t whole) {
      const double weight = static_cast<double>(part) / static_cast<double>(whole);
      if (row < rows) weights[static_cast<std::size_t>(row * bins + bin)] = weight;
    };
    for (std::int64_t i = 0; i < bins; ++i) {
      const std::int64_t first = at(i);
      const std::int64_t centre = at(i + 1);
      const std::int64_t end = at(i + 2);
      for (std::int64_t k = first; k < std::min(centre, rows); ++k) put(k, i, k - first, centre - first);
      put(centre, i, 1, 1);
      for (std::int64_t k = centre + 1; k < std::min(end, rows); ++k) put(k, i, end - k, end - centre);
    }
  };
  const ElementType type = type_attribute(context, "output_datatype", ElementType::float32);
  detail::make_from_doubles(context, type, {rows, bins}, fill);
}

inline void add_signal(OpSet& set) {
  set.add("HannWindow", cosine_window<kHann>);
  set.add("HammingWindow", cosine_window<kHamming>);
  set.add("BlackmanWindow", cosine_window<kBlackman>);
  set.add("DFT", dft);
  set.add("STFT", stft);
  set.add("MelWeightMatrix", mel_weight_matrix);
}

}  // namespace amct::exec::ops
