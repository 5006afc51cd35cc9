// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/reference/pool_codes.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/lines.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/pool_codes-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

template <ActivationCode T>
void largest_codes(std::span<const T* const> pixels, std::size_t channels, const T* end, T* to) noexcept {
  AMCT_DISPATCH(largest_codes(pixels, channels, end, to))
}

/// A max pool of one line of the output after the other: the largest of the lines that windows meet, then the largest
/// of their pixels.
template <ActivationCode T>
class MaxPoolLines {
 public:
  MaxPoolLines(const ConvShape& shape, std::span<const T> x, std::span<T> y)
      : shape_(shape), x_(x), y_(y), size_(shape.input[2] * shape.channels_in), line_(size_) {}

  /// Computes a line, of those of all images and planes.
  void compute(std::size_t index) {
    const std::size_t first = index * shape_.output[2];
    const Line line = find_line(output_position(shape_, first));
    for (std::size_t i = 0; i < shape_.output[2]; ++i) {
      compute_pixel(line, i, y_.data() + (first + i) * shape_.channels_in);
    }
  }

 private:
  /// A line of the input's size, and where memory behind it can be read up to; null if there is none.
  struct Line {
    const T* data = nullptr;
    const T* end = nullptr;
  };

  [[nodiscard]] Line find_line(const OutputPosition& position) {
    met_.clear();
    for (std::size_t kz = 0; kz < shape_.kernel[0]; ++kz) {
      const std::int64_t z = tap_position(shape_, 0, position.at[0], kz);
      for (std::size_t ky = 0; ky < shape_.kernel[1]; ++ky) {
        const std::int64_t y = tap_position(shape_, 1, position.at[1], ky);
        if (z == kOutside || y == kOutside) continue;
        const std::size_t plane = position.image * shape_.input[0] + static_cast<std::size_t>(z);
        met_.push_back(x_.data() + (plane * shape_.input[1] + static_cast<std::size_t>(y)) * size_);
      }
    }
    const T* const end = x_.data() + x_.size();
    if (met_.empty()) return {};
    if (met_.size() == 1) return {met_[0], end};
    largest_codes<T>(met_, size_, end, line_.data());
    return {line_.data(), line_.data() + size_};
  }

  void compute_pixel(const Line& line, std::size_t at, T* to) {
    met_.clear();
    for (std::size_t kx = 0; line.data != nullptr && kx < shape_.kernel[2]; ++kx) {
      const std::int64_t x = tap_position(shape_, 2, at, kx);
      if (x != kOutside) met_.push_back(line.data + static_cast<std::size_t>(x) * shape_.channels_in);
    }
    if (met_.empty()) {
      std::fill_n(to, shape_.channels_in, std::numeric_limits<T>::lowest());
    } else {
      largest_codes<T>(met_, shape_.channels_in, line.end, to);
    }
  }

  const ConvShape& shape_;
  std::span<const T> x_;
  std::span<T> y_;
  std::size_t size_;  ///< codes of a line of the input
  std::vector<T> line_;
  std::vector<const T*> met_;  ///< lines or pixels
};

}  // namespace kernel

/// A max pool of codes, which needs no arithmetic: scales are positive, so the largest code is that of the largest
/// value.
///
/// \param shape  channels_in == channels_out; groups have no meaning
/// \param x      [batch, depth, height, width, channels]
/// \param y      the largest code of each channel that the window meets; without any, the lowest of the type
/// \return what shape.check() says, or size_mismatch; then nothing is written
/// \note O(y * window), less where windows overlap; allocates a line. Large pools are split over threads.
template <ActivationCode T>
Status max_pool_codes(const ConvShape& shape, std::span<const T> x, std::span<T> y) {
  if (const Status status = shape.check(); !status) return status;
  if (shape.channels_in != shape.channels_out) {
    return {StatusCode::size_mismatch, 0, static_cast<double>(shape.channels_out)};
  }
  if (x.size() != shape.x_size()) return {StatusCode::size_mismatch, 0, static_cast<double>(x.size())};
  if (y.size() != shape.y_size()) return {StatusCode::size_mismatch, 0, static_cast<double>(y.size())};
  constexpr std::size_t kWork = std::size_t{1} << 18;  // codes read that are worth a thread's time
  const std::size_t line = shape.input[2] * shape.channels_in * shape.kernel[0] * shape.kernel[1];
  parallel_for(shape.batch * shape.output[0] * shape.output[1], kWork / std::max<std::size_t>(1, line) + 1,
               [&](std::size_t first, std::size_t count) {
                 kernel::MaxPoolLines<T> lines(shape, x, y);
                 for (std::size_t i = first; i < first + count; ++i) lines.compute(i);
               });
  return {};
}

}  // namespace amct
