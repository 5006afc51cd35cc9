// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/vec.hpp>

namespace amct::kernel {

/// Pieces of a line that are copied: `count` of them, `bytes` long, which stand and go at equal distances.
struct LineWindows {
  const std::byte* from = nullptr;
  std::size_t from_step = 0;
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::byte* to = nullptr;
  std::size_t to_step = 0;
};

}  // namespace amct::kernel

#define AMCT_KERNEL_BODY <amct/kernel/body/conv_rows-inl.hpp>
#define AMCT_KERNEL_IS_REFERENCE
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

inline void copy_windows(const LineWindows& windows) noexcept { AMCT_DISPATCH(copy_windows(windows)) }

}  // namespace kernel

/// The windows of a group of a convolution as rows of a product: one row an output position, one run of all taps, in
/// the order depth, height, width, input channel of the group. Taps outside of the input are the zero point.
template <ActivationCode T>
class ConvRows {
 public:
  using Code = T;

  /// \param is_flipped  whether the top bits of x are already exchanged, as some kernels want codes of a byte
  /// \pre  shape.check() is ok; x has shape.x_size() elements and lives as long
  ConvRows(const ConvShape& shape, std::size_t group, const T* x, std::int32_t zero_point,
           CodeLimits limits = CodeLimits::of<T>(), bool is_flipped = false) noexcept
      : shape_(shape),
        x_(x + group * shape.group_in()),
        zero_point_(zero_point),
        padding_(static_cast<T>(is_flipped ? zero_point ^ 0x80 : zero_point)),
        limits_(limits),
        is_flipped_(is_flipped),
        width_is_adjacent_(shape.groups == 1 && !shape.is_transposed &&
                           (shape.dilation[2] == 1 || shape.kernel[2] == 1)) {
    if (!width_is_adjacent_) return;
    // The windows that lie within a line are those of [first_inside_, last_inside_).
    const std::size_t stride = shape.stride[2];
    const std::size_t room = shape.input[2] + shape.pad_begin[2];
    first_inside_ = (shape.pad_begin[2] + stride - 1) / stride;
    last_inside_ = room < shape.kernel[2] ? 0 : (room - shape.kernel[2]) / stride + 1;
  }

  [[nodiscard]] std::size_t rows() const noexcept { return shape_.batch * shape_.output_size(); }
  [[nodiscard]] std::size_t runs() const noexcept { return 1; }
  [[nodiscard]] std::size_t run_length() const noexcept { return shape_.kernel_size() * shape_.group_in(); }
  [[nodiscard]] std::int32_t zero_point() const noexcept { return zero_point_; }
  [[nodiscard]] CodeLimits limits() const noexcept { return limits_; }
  /// Whether rows are copied as a kernel wants them, if it wants other signs.
  [[nodiscard]] bool is_flipped() const noexcept { return is_flipped_; }

  void copy(std::size_t first, std::size_t count, T* to, std::size_t stride) const noexcept {
    while (count != 0) {
      const kernel::OutputPosition position = kernel::output_position(shape_, first);
      const std::size_t here = std::min(count, shape_.output[2] - position.at[2]);
      copy_line(position, here, to, stride);
      first += here;
      count -= here;
      to += here * stride;
    }
  }

 private:
  /// Rows of positions side by side.
  void copy_line(const kernel::OutputPosition& position, std::size_t count, T* to, std::size_t stride) const noexcept {
    const std::size_t length = shape_.kernel[2] * shape_.group_in();
    for (std::size_t z = 0; z < shape_.kernel[0]; ++z) {
      const std::int64_t from_z = kernel::tap_position(shape_, 0, position.at[0], z);
      for (std::size_t y = 0; y < shape_.kernel[1]; ++y, to += length) {
        const std::int64_t from_y = kernel::tap_position(shape_, 1, position.at[1], y);
        if (from_z == kernel::kOutside || from_y == kernel::kOutside) {
          for (std::size_t i = 0; i < count; ++i) fill(to + i * stride, length);
          continue;
        }
        const std::size_t plane = position.image * shape_.input[0] + static_cast<std::size_t>(from_z);
        const std::size_t line = plane * shape_.input[1] + static_cast<std::size_t>(from_y);
        copy_taps(x_ + line * shape_.input[2] * shape_.channels_in, position.at[2], position.at[2] + count, to, stride);
      }
    }
  }

  /// What the taps along the width meet in a line of x, for output positions first .. last - 1.
  void copy_taps(const T* line, std::size_t first, std::size_t last, T* to, std::size_t stride) const noexcept {
    for (std::size_t x = first; x < last;) {
      if (x >= first_inside_ && x < last_inside_) {
        const std::size_t from = x * shape_.stride[2] - shape_.pad_begin[2];
        const std::size_t count = std::min(last, last_inside_) - x;
        copy_each(line + from * shape_.channels_in, shape_.stride[2] * shape_.channels_in,
                  shape_.kernel[2] * shape_.group_in(), count, to, stride);
        x += count;
        to += count * stride;
      } else {
        copy_each_tap(line, x, to);
        to += stride;
        ++x;
      }
    }
  }

  void copy_each_tap(const T* line, std::size_t x, T* to) const noexcept {
    const std::size_t channels = shape_.group_in();
    const std::size_t step = shape_.channels_in;
    for (std::size_t t = 0; t < shape_.kernel[2];) {
      const std::int64_t from = kernel::tap_position(shape_, 2, x, t);
      if (from == kernel::kOutside) {
        fill(to, channels);
        to += channels;
        ++t;
        continue;
      }
      // Taps that follow meet positions that follow, until the line ends.
      const auto at = static_cast<std::size_t>(from);
      const std::size_t left = (shape_.input[2] - 1 - at) / shape_.dilation[2] + 1;
      const std::size_t count = shape_.is_transposed ? 1 : std::min(left, shape_.kernel[2] - t);
      copy_each(line + at * step, shape_.dilation[2] * step, channels, count, to, channels);
      to += count * channels;
      t += count;
    }
  }

  static void copy_each(const T* from, std::size_t from_step, std::size_t size, std::size_t count, T* to,
                        std::size_t to_step) noexcept {
    kernel::copy_windows({.from = reinterpret_cast<const std::byte*>(from),
                          .from_step = from_step * sizeof(T),
                          .bytes = size * sizeof(T),
                          .count = count,
                          .to = reinterpret_cast<std::byte*>(to),
                          .to_step = to_step * sizeof(T)});
  }

  void fill(T* to, std::size_t count) const noexcept { std::fill_n(to, count, padding_); }

  ConvShape shape_;
  const T* x_;
  std::int32_t zero_point_;
  T padding_;
  CodeLimits limits_;
  bool is_flipped_;
  bool width_is_adjacent_;
  std::size_t first_inside_ = 0, last_inside_ = 0;
};

}  // namespace amct
