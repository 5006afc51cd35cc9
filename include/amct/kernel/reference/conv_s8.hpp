// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/row_source.hpp>

namespace amct::kernel::reference {

/// The sum of an output channel at an output position: over all taps that meet the input, (x - zero point) * weight.
///
/// \param weight  weight(output channel, input channel of its group, kernel element)
template <ActivationCode X, class Weight>
[[nodiscard]] std::int64_t sum_of_window(const ConvShape& shape, const OutputPosition& position, std::size_t out,
                                         const X* x, std::int32_t zero_point, const Weight& weight) noexcept {
  const std::size_t first_channel = out / shape.group_out() * shape.group_in();
  std::int64_t sum = 0;
  std::size_t tap = 0;
  for (std::size_t kz = 0; kz < shape.kernel[0]; ++kz) {
    for (std::size_t ky = 0; ky < shape.kernel[1]; ++ky) {
      for (std::size_t kx = 0; kx < shape.kernel[2]; ++kx, ++tap) {
        const std::int64_t z = tap_position(shape, 0, position.at[0], kz);
        const std::int64_t y = tap_position(shape, 1, position.at[1], ky);
        const std::int64_t at = tap_position(shape, 2, position.at[2], kx);
        if (z == kOutside || y == kOutside || at == kOutside) continue;
        const std::size_t line = (position.image * shape.input[0] + static_cast<std::size_t>(z)) * shape.input[1] +
                                 static_cast<std::size_t>(y);
        const X* const pixel =
            x + (line * shape.input[2] + static_cast<std::size_t>(at)) * shape.channels_in + first_channel;
        for (std::size_t in = 0; in < shape.group_in(); ++in) {
          sum += (std::int64_t{pixel[in]} - zero_point) * weight(out, in, tap);
        }
      }
    }
  }
  return sum;
}

/// The definition of the convolution: the epilogue of each exact sum. Sums that fit int32 enter it as int32.
template <ActivationCode X, class Weight, class E, class T>
void convolve(const ConvShape& shape, const X* x, std::int32_t zero_point, const Weight& weight, const E& epilogue,
              bool is_wide, const ResultRows<T>& y) noexcept {
  for (std::size_t r = 0; r < shape.batch * shape.output_size(); ++r) {
    const OutputPosition position = output_position(shape, r);
    for (std::size_t c = 0; c < shape.channels_out; ++c) {
      const std::int64_t sum = sum_of_window(shape, position, c, x, zero_point, weight);
      T& result = y.data[r * y.row + c];
      if constexpr (WideEpilogueTo<E, T>) {
        result = is_wide ? epilogue(sum, {r, c}) : epilogue(static_cast<std::int32_t>(sum), {r, c});
      } else {
        result = epilogue(static_cast<std::int32_t>(sum), {r, c});
      }
    }
  }
}

}  // namespace amct::kernel::reference
