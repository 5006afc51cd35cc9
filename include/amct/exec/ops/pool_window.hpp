// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/window.hpp>

namespace amct::exec {

/// The geometry of a pool over input 0, [N, C, spatial...]. \throws Error naming what does not fit
[[nodiscard]] inline Window pool_window(const OpContext& context) {
  const auto* kernel = context.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (kernel == nullptr) context.fail("kernel_shape is missing", ErrorCode::model_corrupt);
  Window window = read_window(context, context.input(0).shape(), *kernel);
  place_window(context, window);
  return window;
}

/// The shape of a pool's result.
[[nodiscard]] inline Shape pooled_shape(const OpContext& context, const Window& window) {
  const Shape& x = context.input(0).shape();
  return windowed_shape(window, x[0], x[1], x.rank() - 2);
}

/// Consecutive elements [first, last) of a kernel or a row.
struct Taps {
  std::int64_t first = 0, last = 0;

  [[nodiscard]] std::int64_t count() const noexcept { return last - first; }
};

/// The elements k of [0, count) for which start + k * step lies in [low, high).
[[nodiscard]] constexpr Taps taps_between(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t low,
                                          std::int64_t high) noexcept {
  const auto reach = [&](std::int64_t bound) {  // the first k that is not below the bound
    return start >= bound ? 0 : std::min(count, (bound - start + step - 1) / step);
  };
  const std::int64_t first = reach(low);
  return {first, std::max(first, reach(high))};
}

/// The kernel elements of window `o` along an axis that meet real input.
[[nodiscard]] constexpr Taps real_taps(const Window& w, std::size_t axis, std::int64_t o) noexcept {
  return taps_between(o * w.stride[axis] - w.pad_begin[axis], w.dilation[axis], w.kernel[axis], 0, w.input[axis]);
}
/// The outputs along an axis at which kernel element `k` meets real input.
[[nodiscard]] constexpr Taps real_outputs(const Window& w, std::size_t axis, std::int64_t k) noexcept {
  return taps_between(k * w.dilation[axis] - w.pad_begin[axis], w.stride[axis], w.output[axis], 0, w.input[axis]);
}
/// The position along an axis where window `o` has its kernel element `k`.
[[nodiscard]] constexpr std::int64_t position(const Window& w, std::size_t axis, std::int64_t o,
                                              std::int64_t k) noexcept {
  return o * w.stride[axis] - w.pad_begin[axis] + k * w.dilation[axis];
}

/// Calls visit(input position z, y, x) for the real elements of the window at an output position.
template <class Visit>
void for_each_in_window(const Window& w, const std::array<std::int64_t, 3>& at, const Visit& visit) {
  const Taps planes = real_taps(w, 0, at[0]);
  const Taps rows = real_taps(w, 1, at[1]);
  const Taps columns = real_taps(w, 2, at[2]);
  for (std::int64_t kz = planes.first; kz < planes.last; ++kz) {
    for (std::int64_t ky = rows.first; ky < rows.last; ++ky) {
      for (std::int64_t kx = columns.first; kx < columns.last; ++kx) {
        visit(position(w, 0, at[0], kz), position(w, 1, at[1], ky), position(w, 2, at[2], kx));
      }
    }
  }
}

/// Calls visit(output index, its position z, y, x) for all windows of a plane.
template <class Visit>
void for_each_window(const Window& w, const Visit& visit) {
  std::size_t o = 0;
  for (std::int64_t z = 0; z < w.output[0]; ++z) {
    for (std::int64_t y = 0; y < w.output[1]; ++y) {
      for (std::int64_t x = 0; x < w.output[2]; ++x) visit(o++, std::array<std::int64_t, 3>{z, y, x});
    }
  }
}

/// The number of elements each average divides by: the real ones, or also the padded ones that `pads` names, but never
/// those that ceil_mode adds behind the padding.
[[nodiscard]] inline std::vector<float> pool_divisors(const Window& w, bool count_padding) {
  std::array<std::vector<float>, 3> counts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t o = 0; o < w.output[axis]; ++o) {
      const std::int64_t start = o * w.stride[axis] - w.pad_begin[axis];
      const std::int64_t low = count_padding ? -w.pad_begin[axis] : 0;
      const std::int64_t high = w.input[axis] + (count_padding ? w.pad_end[axis] : 0);
      counts[axis].push_back(
          static_cast<float>(taps_between(start, w.dilation[axis], w.kernel[axis], low, high).count()));
    }
  }
  std::vector<float> divisors(static_cast<std::size_t>(w.output_size()));
  for_each_window(w, [&](std::size_t o, const auto& at) {
    divisors[o] = counts[0][static_cast<std::size_t>(at[0])] * counts[1][static_cast<std::size_t>(at[1])] *
                  counts[2][static_cast<std::size_t>(at[2])];
  });
  return divisors;
}

}  // namespace amct::exec
