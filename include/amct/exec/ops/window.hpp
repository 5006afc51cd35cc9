// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/exec/op_context.hpp>

namespace amct::exec {

/// The sliding window of a convolution or pool over one to three spatial axes, padded in front to three.
struct Window {
  std::array<std::int64_t, 3> input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      pad_begin{0, 0, 0}, pad_end{0, 0, 0};

  [[nodiscard]] std::int64_t input_size() const noexcept { return input[0] * input[1] * input[2]; }
  [[nodiscard]] std::int64_t output_size() const noexcept { return output[0] * output[1] * output[2]; }
  [[nodiscard]] std::int64_t kernel_size() const noexcept { return kernel[0] * kernel[1] * kernel[2]; }
  /// True if the window is one element that visits each position once, so that no copy is needed.
  [[nodiscard]] bool is_identity() const noexcept {
    return kernel_size() == 1 && input == output && stride == std::array<std::int64_t, 3>{1, 1, 1};
  }
};

namespace detail {

/// Sizes beyond any real one could overflow what is computed from them.
inline void require_between(const OpContext& context, const char* name, std::int64_t value, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (value >= least && value <= kMost) return;
  context.fail(std::string(name) + " has the entry " + std::to_string(value) + ", expected " + std::to_string(least) +
               " to " + std::to_string(kMost));
}

/// A spatial attribute such as "strides", right-aligned to three axes.
inline void read_spatial(const OpContext& context, const char* name, std::size_t spatial,
                         std::array<std::int64_t, 3>& target) {
  const auto* values = context.node.attribute<std::vector<std::int64_t>>(name);
  if (values == nullptr) return;
  if (values->size() != spatial) {
    context.fail(std::string(name) + " has " + std::to_string(values->size()) + " entries, expected " +
                 std::to_string(spatial));
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    target[3 - spatial + i] = (*values)[i];
    require_between(context, name, (*values)[i], 1);
  }
}

inline void read_pads(const OpContext& context, std::size_t spatial, Window& window) {
  const auto* pads = context.node.attribute<std::vector<std::int64_t>>("pads");
  if (pads == nullptr) return;
  if (pads->size() != 2 * spatial) {
    context.fail("pads has " + std::to_string(pads->size()) + " entries, expected " + std::to_string(2 * spatial));
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    window.pad_begin[3 - spatial + i] = (*pads)[i];
    window.pad_end[3 - spatial + i] = (*pads)[spatial + i];
    require_between(context, "pads", (*pads)[i], 0);
    require_between(context, "pads", (*pads)[spatial + i], 0);
  }
}

}  // namespace detail

/// Reads kernel geometry from a node whose input is [N, C, spatial...]. For pools `kernel` comes from kernel_shape, for
/// convolutions from the weight.
[[nodiscard]] inline Window read_window(const OpContext& context, const Shape& input,
                                        const std::vector<std::int64_t>& kernel) {
  const std::size_t spatial = kernel.size();
  if (spatial < 1 || spatial > 3 || input.rank() != spatial + 2) {
    context.fail("input " + to_string(input) + " does not fit a window of " + std::to_string(spatial) + " axes");
  }
  Window window;
  for (std::size_t i = 0; i < spatial; ++i) {
    window.input[3 - spatial + i] = input[2 + i];
    window.kernel[3 - spatial + i] = kernel[i];
    detail::require_between(context, "kernel_shape", kernel[i], 1);
  }
  detail::read_spatial(context, "strides", spatial, window.stride);
  detail::read_spatial(context, "dilations", spatial, window.dilation);
  detail::read_pads(context, spatial, window);
  return window;
}

/// How a node pads its input: by the attribute pads, or by itself.
enum class AutoPad : std::uint8_t { none, same_upper, same_lower, valid };

[[nodiscard]] inline AutoPad auto_pad_of(const OpContext& context) {
  const auto name = context.node.attribute_or<std::string>("auto_pad", "NOTSET");
  if (name.empty() || name == "NOTSET") return AutoPad::none;
  if (name == "SAME_UPPER") return AutoPad::same_upper;
  if (name == "SAME_LOWER") return AutoPad::same_lower;
  if (name == "VALID") return AutoPad::valid;
  context.fail("auto_pad is " + name + ", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

/// Computes output sizes, and pads where auto_pad asks for it.
inline void place_window(const OpContext& context, Window& window) {
  const AutoPad auto_pad = auto_pad_of(context);
  const bool ceil_mode = context.node.attribute_or<std::int64_t>("ceil_mode", 0) != 0;
  if (auto_pad != AutoPad::none) window.pad_begin = window.pad_end = {0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    if (auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower) {
      window.output[i] = (window.input[i] + window.stride[i] - 1) / window.stride[i];
      const std::int64_t total =
          std::max<std::int64_t>(0, (window.output[i] - 1) * window.stride[i] + reach - window.input[i]);
      window.pad_begin[i] = auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
      window.pad_end[i] = total - window.pad_begin[i];
      continue;
    }
    const std::int64_t free_room = window.input[i] + window.pad_begin[i] + window.pad_end[i] - reach;
    if (free_room < 0) context.fail("the kernel is larger than its padded input");
    window.output[i] = (free_room + (ceil_mode ? window.stride[i] - 1 : 0)) / window.stride[i] + 1;
    // A window that would start in the padding behind the input does not count.
    if (ceil_mode && (window.output[i] - 1) * window.stride[i] >= window.input[i] + window.pad_begin[i])
      --window.output[i];
  }
}

/// [N, C] followed by the output sizes of the spatial axes in use.
[[nodiscard]] inline Shape windowed_shape(const Window& window, std::int64_t batch, std::int64_t channels,
                                          std::size_t spatial) {
  std::vector<std::int64_t> dims{batch, channels};
  dims.insert(dims.end(), window.output.end() - static_cast<std::ptrdiff_t>(spatial), window.output.end());
  return Shape(std::move(dims));
}

/// Calls visit(kernel_index, output_index, input_index, count) for every row of output positions at which a kernel
/// element meets a real (not padded) input element, kernel elements outermost. From one position to the next the output
/// index grows by 1 and the input index by stride[2].
template <class Visit>
void for_each_tap_row(const Window& w, Visit&& visit) {
  std::int64_t k = 0;
  for (std::int64_t kz = 0; kz < w.kernel[0]; ++kz) {
    for (std::int64_t ky = 0; ky < w.kernel[1]; ++ky) {
      for (std::int64_t kx = 0; kx < w.kernel[2]; ++kx, ++k) {
        const std::int64_t before =
            w.pad_begin[2] - kx * w.dilation[2];  // input index + before = stride * output index
        const std::int64_t begin = before <= 0 ? 0 : (before + w.stride[2] - 1) / w.stride[2];
        const std::int64_t reach = w.input[2] + before;
        const std::int64_t end = reach <= 0 ? 0 : std::min(w.output[2], (reach + w.stride[2] - 1) / w.stride[2]);
        if (begin >= end) continue;
        for (std::int64_t oz = 0; oz < w.output[0]; ++oz) {
          const std::int64_t iz = oz * w.stride[0] - w.pad_begin[0] + kz * w.dilation[0];
          if (iz < 0 || iz >= w.input[0]) continue;
          for (std::int64_t oy = 0; oy < w.output[1]; ++oy) {
            const std::int64_t iy = oy * w.stride[1] - w.pad_begin[1] + ky * w.dilation[1];
            if (iy < 0 || iy >= w.input[1]) continue;
            visit(k, (oz * w.output[1] + oy) * w.output[2] + begin,
                  (iz * w.input[1] + iy) * w.input[2] + begin * w.stride[2] - before, end - begin);
          }
        }
      }
    }
  }
}

/// Calls visit(kernel_index, output_index, input_index) for every pair of an output position and a kernel element that
/// meets a real (not padded) input element, kernel elements outermost.
template <class Visit>
void for_each_tap(const Window& w, Visit&& visit) {
  for_each_tap_row(w, [&](std::int64_t k, std::int64_t o, std::int64_t i, std::int64_t count) {
    for (const std::int64_t end = o + count; o < end; ++o, i += w.stride[2]) visit(k, o, i);
  });
}

}  // namespace amct::exec
