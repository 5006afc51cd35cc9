// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/shape.hpp>
#include <amct/exec/ops/resize_axis.hpp>

/// \file
/// Resizing of dense tensors along any axes. A plane is what lies behind the axes in front that stay as they are;
/// planes are shared among threads.

namespace amct::exec {

namespace detail {

/// The axes from the first to the last one that changes, the others merged with their neighbours.
struct ResizedAxes {
  std::size_t planes = 1;            ///< positions of the axes in front
  std::vector<std::size_t> input{};  ///< sizes
  std::vector<std::size_t> output{};
  std::vector<const AxisTaps*> taps{};
  std::size_t run = 1;  ///< elements of the axes behind

  ResizedAxes(const Shape& from, const std::vector<AxisTaps>& all, const Shape& to) {
    std::size_t first = 0;
    std::size_t last = all.size();
    while (first < last && all[first].is_identity(from[first])) ++first;
    while (last > first && all[last - 1].is_identity(from[last - 1])) --last;
    planes = static_cast<std::size_t>(from.count(0, first));
    run = static_cast<std::size_t>(from.count(last, from.rank()));
    for (std::size_t i = first; i < last; ++i) {
      if (from[i] == 1 && to[i] == 1) continue;
      input.push_back(static_cast<std::size_t>(from[i]));
      output.push_back(static_cast<std::size_t>(to[i]));
      taps.push_back(&all[i]);
    }
  }

  [[nodiscard]] static std::size_t product(const std::vector<std::size_t>& sizes, std::size_t first) noexcept {
    std::size_t result = 1;
    for (std::size_t i = first; i < sizes.size(); ++i) result *= sizes[i];
    return result;
  }
};

template <class T>
void pick_row(const std::byte* from, std::byte* to, const std::vector<std::int32_t>& positions) noexcept {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(to + i * sizeof(T), from + static_cast<std::size_t>(positions[i]) * sizeof(T), sizeof(T));
  }
}

/// Picks positions along the axes from `depth` on; `run` bytes lie together.
inline void pick_axis(const ResizedAxes& axes, std::size_t depth, std::size_t run, const std::byte* from,
                      std::byte* to) noexcept {
  const auto& positions = axes.taps[depth]->positions;
  if (depth + 1 == axes.taps.size()) {
    switch (run) {
      case 1: return pick_row<std::uint8_t>(from, to, positions);
      case 2: return pick_row<std::uint16_t>(from, to, positions);
      case 4: return pick_row<std::uint32_t>(from, to, positions);
      case 8: return pick_row<std::uint64_t>(from, to, positions);
      default: break;
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
      std::memcpy(to + i * run, from + static_cast<std::size_t>(positions[i]) * run, run);
    }
    return;
  }
  const std::size_t in_bytes = ResizedAxes::product(axes.input, depth + 1) * run;
  const std::size_t out_bytes = ResizedAxes::product(axes.output, depth + 1) * run;
  for (std::size_t i = 0; i < positions.size(); ++i, to += out_bytes) {
    if (i != 0 && positions[i] == positions[i - 1]) {
      std::memcpy(to, to - out_bytes, out_bytes);
    } else {
      pick_axis(axes, depth + 1, run, from + static_cast<std::size_t>(positions[i]) * in_bytes, to);
    }
  }
}

AMCT_EXACT_BEGIN

/// Interpolates the middle axis of [outer, input, inner].
template <std::size_t kTaps>
void blend_axis(const float* from, float* to, std::size_t outer, std::size_t input, std::size_t inner,
                const AxisTaps& taps) noexcept {
  constexpr std::size_t kBlock = 8;  // of a constant size, so that compilers vectorize it
  const std::size_t output = taps.positions.size() / kTaps;
  for (std::size_t o = 0; o < outer; ++o, from += input * inner) {
    const std::int32_t* positions = taps.positions.data();
    const float* weights = taps.weights.data();
    for (std::size_t i = 0; i < output; ++i, positions += kTaps, weights += kTaps, to += inner) {
      const float* rows[kTaps];
      for (std::size_t k = 0; k < kTaps; ++k) rows[k] = from + static_cast<std::size_t>(positions[k]) * inner;
      std::size_t j = 0;
      for (; j + kBlock <= inner; j += kBlock) {
        float sums[kBlock];
        for (std::size_t l = 0; l < kBlock; ++l) sums[l] = weights[0] * rows[0][j + l];
        for (std::size_t k = 1; k < kTaps; ++k) {
          for (std::size_t l = 0; l < kBlock; ++l) sums[l] += weights[k] * rows[k][j + l];
        }
        std::memcpy(to + j, sums, sizeof(sums));
      }
      for (; j < inner; ++j) {
        float sum = weights[0] * rows[0][j];
        for (std::size_t k = 1; k < kTaps; ++k) sum += weights[k] * rows[k][j];
        to[j] = sum;
      }
    }
  }
}

/// The same with `inner` of 1.
template <std::size_t kTaps>
void blend_rows(const float* from, float* to, std::size_t outer, std::size_t input, const AxisTaps& taps) noexcept {
  const std::size_t output = taps.positions.size() / kTaps;
  for (std::size_t o = 0; o < outer; ++o, from += input) {
    const std::int32_t* positions = taps.positions.data();
    const float* weights = taps.weights.data();
    for (std::size_t i = 0; i < output; ++i, positions += kTaps, weights += kTaps) {
      float sum = weights[0] * from[positions[0]];
      for (std::size_t k = 1; k < kTaps; ++k) sum += weights[k] * from[positions[k]];
      *to++ = sum;
    }
  }
}

AMCT_EXACT_END

/// The interpolation of one axis of a plane, seen as [outer, input, inner].
struct BlendPass {
  std::size_t outer, input, inner;
  const AxisTaps* taps;

  void run(const float* from, float* to) const noexcept {
    const bool linear = taps->count == 2;
    if (inner == 1)
      return linear ? blend_rows<2>(from, to, outer, input, *taps) : blend_rows<4>(from, to, outer, input, *taps);
    return linear ? blend_axis<2>(from, to, outer, input, inner, *taps)
                  : blend_axis<4>(from, to, outer, input, inner, *taps);
  }
  [[nodiscard]] std::size_t result_size() const noexcept {
    return outer * (taps->positions.size() / taps->count) * inner;
  }
};

/// One pass an axis. Those that shrink most come first, so that no tensor between them is larger than both ends; of
/// equal ones the outer, which blends whole rows, does so where there are fewer.
[[nodiscard]] inline std::vector<BlendPass> blend_passes(const ResizedAxes& axes) {
  std::vector<std::size_t> order(axes.taps.size());
  std::iota(order.begin(), order.end(), 0);
  if (ResizedAxes::product(axes.output, 0) > ResizedAxes::product(axes.input, 0))
    std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return axes.output[a] * axes.input[b] < axes.output[b] * axes.input[a];
  });
  std::vector<std::size_t> sizes = axes.input;
  std::vector<BlendPass> passes;
  for (const std::size_t axis : order) {
    std::size_t outer = 1;
    for (std::size_t i = 0; i < axis; ++i) outer *= sizes[i];
    passes.push_back({outer, sizes[axis], ResizedAxes::product(sizes, axis + 1) * axes.run, axes.taps[axis]});
    sizes[axis] = axes.output[axis];
  }
  return passes;
}

}  // namespace detail

/// Resizes by picking elements of `width` bytes. \pre neither tensor is empty, here and below
inline void pick_planes(std::span<const std::byte> from, const Shape& from_shape, const std::vector<AxisTaps>& taps,
                        std::span<std::byte> to, const Shape& to_shape, std::size_t width) {
  const detail::ResizedAxes axes(from_shape, taps, to_shape);
  if (axes.taps.empty()) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  const std::size_t in_bytes = from.size() / axes.planes;
  const std::size_t out_bytes = to.size() / axes.planes;
  constexpr std::size_t kPart = std::size_t{1} << 18;  // bytes that are worth a thread
  parallel_for(axes.planes, kPart / out_bytes + 1, [&](std::size_t first, std::size_t count) {
    for (std::size_t plane = first; plane < first + count; ++plane) {
      detail::pick_axis(axes, 0, axes.run * width, from.data() + plane * in_bytes, to.data() + plane * out_bytes);
    }
  });
}

/// Resizes by interpolation along one axis after the other, with the weights of the taps.
inline void interpolate_planes(std::span<const float> from, const Shape& from_shape, const std::vector<AxisTaps>& taps,
                               std::span<float> to, const Shape& to_shape) {
  const detail::ResizedAxes axes(from_shape, taps, to_shape);
  if (axes.taps.empty()) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  const auto passes = detail::blend_passes(axes);
  std::size_t half = 0;  // elements of the largest tensor between two passes
  for (std::size_t i = 0; i + 1 < passes.size(); ++i) half = std::max(half, passes[i].result_size());
  const std::size_t in_size = from.size() / axes.planes;
  const std::size_t out_size = to.size() / axes.planes;
  constexpr std::size_t kPart = std::size_t{1} << 15;  // elements that are worth a thread
  constexpr std::size_t kMostParts = 16;               // each part needs memory of its own
  const std::size_t grain = std::max(kPart / out_size + 1, (axes.planes + kMostParts - 1) / kMostParts);
  std::vector<float> scratch(((axes.planes + grain - 1) / grain) * 2 * half);
  parallel_for(axes.planes, grain, [&](std::size_t first, std::size_t count) {
    float* const own = scratch.data() + first / grain * 2 * half;
    for (std::size_t plane = first; plane < first + count; ++plane) {
      const float* source = from.data() + plane * in_size;
      for (std::size_t i = 0; i < passes.size(); ++i) {
        float* const target = i + 1 == passes.size() ? to.data() + plane * out_size : own + i % 2 * half;
        passes[i].run(source, target);
        source = target;
      }
    }
  });
}

}  // namespace amct::exec
