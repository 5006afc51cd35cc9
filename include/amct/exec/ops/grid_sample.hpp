// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/rounding.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/cubic.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec {

enum class SampleMode { nearest, bilinear, bicubic };
enum class SampleBorder { zeros, border, reflection };

/// How GridSample reads an image.
struct SampleOptions {
  SampleMode mode = SampleMode::bilinear;
  SampleBorder border = SampleBorder::zeros;
  bool align_corners = false;  ///< -1 and 1 are the centres of the outermost pixels, else their outer edges
};

namespace detail {

/// The pixels of one axis that make up a sample. A negative position is outside and counts as 0.
struct SampleTaps {
  std::size_t count = 0;
  std::array<std::int64_t, 4> positions{};
  std::array<float, 4> weights{};
};

AMCT_EXACT_BEGIN

/// Mirrors a coordinate at the ends of [low, high] as often as it takes to lie between them.
[[nodiscard]] inline float reflected(float x, float low, float high) noexcept {
  const float range = high - low;
  if (range <= 0.0F) return low;
  const bool below = x < low;
  const float distance = below ? low - x : x - high;
  if (distance <= 0.0F) return x;
  const float times = std::floor(distance / range);
  const float rest = distance - times * range;
  const bool even = times - 2.0F * std::floor(times / 2.0F) == 0.0F;
  return below == even ? low + rest : high - rest;
}

/// One axis of an image, and how samples outside it are read.
class SampleAxis {
 public:
  SampleAxis(const SampleOptions& options, std::int64_t size)
      : options_(options),
        size_(size),
        low_(options.align_corners ? 0.0F : -0.5F),
        high_(static_cast<float>(size) - (options.align_corners ? 1.0F : 0.5F)) {}

  /// \param x  coordinate from -1 to 1
  [[nodiscard]] SampleTaps taps(float x) const noexcept {
    const auto size = static_cast<float>(size_);
    x = options_.align_corners ? (x + 1.0F) / 2.0F * (size - 1.0F) : ((x + 1.0F) * size - 1.0F) / 2.0F;
    constexpr float kFar = 0x1p24F;
    x = x > -kFar ? std::min(x, kFar) : -kFar;  // also if it is no number
    if (options_.mode == SampleMode::nearest) x = round_half_even(x);
    if (options_.border == SampleBorder::reflection) x = reflected(x, low_, high_);
    if (options_.border == SampleBorder::border && options_.mode != SampleMode::bicubic) {
      x = std::clamp(x, 0.0F, size - 1.0F);
    }
    const float floor = std::floor(x);
    const float part = x - floor;
    switch (options_.mode) {
      case SampleMode::nearest: return place(1, x, {1.0F, 0.0F, 0.0F, 0.0F});
      case SampleMode::bilinear: return place(2, floor, {1.0F - part, part, 0.0F, 0.0F});
      case SampleMode::bicubic: break;
    }
    return place(4, floor - 1.0F, cubic_weights(part, -0.75F));
  }

 private:
  [[nodiscard]] SampleTaps place(std::size_t count, float first, const std::array<float, 4>& weights) const noexcept {
    SampleTaps taps{count, {}, weights};
    for (std::size_t i = 0; i < count; ++i) taps.positions[i] = pixel(first + static_cast<float>(i));
    return taps;
  }

  /// The pixel that is read for one at `x`, or a negative number.
  [[nodiscard]] std::int64_t pixel(float x) const noexcept {
    if (options_.border == SampleBorder::reflection) x = reflected(x, low_, high_);
    const auto position = static_cast<std::int64_t>(x);
    if (options_.border == SampleBorder::zeros) return x < 0.0F || position >= size_ ? -1 : position;
    return std::clamp<std::int64_t>(position, 0, size_ - 1);
  }

  SampleOptions options_;
  std::int64_t size_;
  float low_, high_;  ///< where reflection mirrors
};

/// The pixels inside the image that make up a sample, and their weights.
struct Sample {
  std::size_t count = 0;
  std::array<std::size_t, 16> pixels{};
  std::array<float, 16> weights{};
};

[[nodiscard]] inline Sample joined(const SampleTaps& y, const SampleTaps& x, std::int64_t row) noexcept {
  Sample sample;
  for (std::size_t i = 0; i < y.count; ++i) {
    for (std::size_t k = 0; k < x.count; ++k) {
      if (y.positions[i] < 0 || x.positions[k] < 0) continue;
      sample.pixels[sample.count] = static_cast<std::size_t>(y.positions[i] * row + x.positions[k]);
      sample.weights[sample.count++] = y.weights[i] * x.weights[k];
    }
  }
  return sample;
}

/// One image of [C, H, W], sampled at `places` coordinate pairs.
inline void sample_image(const SampleOptions& options, const float* image, const Shape& shape, const float* grid,
                         std::size_t places, float* to) {
  const SampleAxis x_axis(options, shape[3]);
  const SampleAxis y_axis(options, shape[2]);
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  constexpr std::size_t kBlock = 64;  // samples, through all channels
  parallel_for(places, ((std::size_t{1} << 14) / channels / kBlock + 1) * kBlock,
               [&](std::size_t first, std::size_t count) {
                 std::array<Sample, kBlock> samples;
                 for (std::size_t start = first; start < first + count; start += kBlock) {
                   const std::size_t used = std::min(kBlock, first + count - start);
                   for (std::size_t i = 0; i < used; ++i) {
                     const float* const place = grid + 2 * (start + i);
                     samples[i] = joined(y_axis.taps(place[1]), x_axis.taps(place[0]), shape[3]);
                   }
                   for (std::size_t c = 0; c < channels; ++c) {
                     for (std::size_t i = 0; i < used; ++i) {
                       float sum = 0.0F;
                       for (std::size_t k = 0; k < samples[i].count; ++k) {
                         sum += samples[i].weights[k] * image[c * plane + samples[i].pixels[k]];
                       }
                       to[c * places + start + i] = sum;
                     }
                   }
                 }
               });
}

AMCT_EXACT_END

}  // namespace detail

namespace ops {

/// Samples input 0 [N, C, H, W] at the places of input 1 [N, h, w, 2], x before y, each from -1 to 1. \return [N, C, h,
/// w]
inline void sample_grid(const OpContext& context, const SampleOptions& options) {
  const Tensor& x = context.floats(0);
  const Tensor& grid = context.floats(1);
  const Shape& from = x.shape();
  const Shape& places = grid.shape();
  if (from.rank() != 4 || places.rank() != 4 || places[0] != from[0] || places[3] != 2) {
    context.fail("input " + to_string(from) + " and grid " + to_string(places) + ", expected [N,C,H,W] and [N,h,w,2]");
  }
  const auto y = context.make_output({from[0], from[1], places[1], places[2]});
  if (y.empty()) return;
  if (x.size() == 0) context.fail("an empty image " + to_string(from) + " cannot be sampled");
  const auto samples = static_cast<std::size_t>(places[1] * places[2]);
  const auto image = static_cast<std::size_t>(from.count(1, 4));
  const auto batch = static_cast<std::size_t>(from[0]);
  for (std::size_t n = 0; n < batch; ++n) {
    exec::detail::sample_image(options, x.data<float>().data() + n * image, from,
                               grid.data<float>().data() + n * samples * 2, samples, y.data() + n * y.size() / batch);
  }
}

/// ONNX GridSample of opset 16.
inline void grid_sample(const OpContext& context) {
  SampleOptions options;
  const auto mode = context.node.attribute_or<std::string>("mode", "bilinear");
  if (mode == "nearest") options.mode = SampleMode::nearest;
  else if (mode == "bicubic") options.mode = SampleMode::bicubic;
  else if (mode != "bilinear") context.unsupported("mode is \"" + mode + "\", expected nearest, bilinear or bicubic");
  const auto border = context.node.attribute_or<std::string>("padding_mode", "zeros");
  if (border == "border") options.border = SampleBorder::border;
  else if (border == "reflection") options.border = SampleBorder::reflection;
  else if (border != "zeros")
    context.unsupported("padding_mode is \"" + border + "\", expected zeros, border or reflection");
  options.align_corners = context.node.attribute_or<std::int64_t>("align_corners", 0) != 0;
  sample_grid(context, options);
}

inline void add_grid_sample(OpSet& set) { set.add("GridSample", in_float32(grid_sample)); }

}  // namespace ops

}  // namespace amct::exec
