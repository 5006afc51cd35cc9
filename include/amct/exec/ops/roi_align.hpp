// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/indices.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec::ops {

namespace detail {

/// How RoiAlign pools.
struct RoiOptions {
  std::int64_t height, width;  ///< bins a region
  std::int64_t samples;        ///< a bin along each axis; 0 for as many as it covers pixels
  float scale;                 ///< from the coordinates of regions to those of the image
  bool half_pixel;             ///< pixel centres lie at halves, and regions may be smaller than a pixel
  bool max;                    ///< instead of the mean
};

/// The four pixels around a sample and their weights; all weights are 0 outside the image.
struct RoiSample {
  std::array<std::size_t, 4> pixels{};
  std::array<float, 4> weights{};
};

/// One axis of a region: where its bins start, how long they are and how many samples each takes.
struct RoiAxis {
  float start, bin;
  std::int64_t samples;
};

AMCT_EXACT_BEGIN

[[nodiscard]] inline RoiAxis roi_axis(const OpContext& context, const RoiOptions& options, float start, float end,
                                      std::int64_t bins) {
  const float offset = options.half_pixel ? 0.5F : 0.0F;
  const float first = start * options.scale - offset;
  float size = end * options.scale - offset - first;
  if (!options.half_pixel) size = std::max(size, 1.0F);
  const float bin = size / static_cast<float>(bins);
  const float samples = options.samples > 0 ? static_cast<float>(options.samples) : std::max(std::ceil(bin), 0.0F);
  constexpr float kMost = 1024.0F;
  if (!(samples <= kMost) || !std::isfinite(first)) {
    context.fail("the region from " + std::to_string(start) + " to " + std::to_string(end) + " takes " +
                 std::to_string(samples) + " samples a bin, expected at most 1024");
  }
  return {first, bin, static_cast<std::int64_t>(samples)};
}

[[nodiscard]] inline RoiSample roi_sample(float y, float x, std::int64_t height, std::int64_t width) noexcept {
  const bool inside = y >= -1.0F && y <= static_cast<float>(height) && x >= -1.0F && x <= static_cast<float>(width);
  if (!inside) return {};
  const auto place = [](float at, std::int64_t size) {
    const auto low = std::min(static_cast<std::int64_t>(std::max(at, 0.0F)), size - 1);
    const float part = low == size - 1 ? 0.0F : std::max(at, 0.0F) - static_cast<float>(low);
    return std::pair(low, part);
  };
  const auto [top, down] = place(y, height);
  const auto [left, right] = place(x, width);
  const auto index = [width](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * width + column);
  };
  const std::int64_t bottom = std::min(top + 1, height - 1);
  const std::int64_t far = std::min(left + 1, width - 1);
  return {{index(top, left), index(top, far), index(bottom, left), index(bottom, far)},
          {(1.0F - down) * (1.0F - right), (1.0F - down) * right, down * (1.0F - right), down * right}};
}

/// The samples of all bins of a region, bin after bin.
[[nodiscard]] inline std::vector<RoiSample> roi_samples(const RoiOptions& options, const RoiAxis& y, const RoiAxis& x,
                                                        std::int64_t height, std::int64_t width) {
  std::vector<RoiSample> samples;
  const auto at = [](const RoiAxis& axis, std::int64_t bin, std::int64_t sample) {
    return axis.start + static_cast<float>(bin) * axis.bin +
           (static_cast<float>(sample) + 0.5F) * axis.bin / static_cast<float>(axis.samples);
  };
  for (std::int64_t row = 0; row < options.height; ++row) {
    for (std::int64_t column = 0; column < options.width; ++column) {
      for (std::int64_t i = 0; i < y.samples; ++i) {
        for (std::int64_t k = 0; k < x.samples; ++k) {
          samples.push_back(roi_sample(at(y, row, i), at(x, column, k), height, width));
        }
      }
    }
  }
  return samples;
}

/// The mean of the samples, or the largest weighted pixel, as ONNX Runtime defines the mode "max".
[[nodiscard]] inline float pool_samples(const RoiSample* samples, std::size_t count, const float* image,
                                        bool max) noexcept {
  if (count == 0) return 0.0F;
  float sum = 0.0F;
  float most = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      const float value = samples[i].weights[k] * image[samples[i].pixels[k]];
      sum += value;
      most = std::max(most, value);
    }
  }
  return max ? most : sum / static_cast<float>(count);
}

AMCT_EXACT_END

[[nodiscard]] inline RoiOptions roi_options(const OpContext& context) {
  const auto integer = [&](const char* name, std::int64_t otherwise, std::int64_t least) {
    const auto value = context.node.attribute_or<std::int64_t>(name, otherwise);
    if (value < least || value > 1024) {
      context.fail(std::string(name) + " is " + std::to_string(value) + ", expected " + std::to_string(least) +
                   " to 1024");
    }
    return value;
  };
  const auto mode = context.node.attribute_or<std::string>("mode", "avg");
  if (mode != "avg" && mode != "max") context.fail("mode is \"" + mode + "\", expected avg or max");
  const std::string half = "half_pixel";
  const auto coordinates = context.node.attribute_or<std::string>("coordinate_transformation_mode", half);
  if (coordinates != half && coordinates != "output_half_pixel") {
    context.fail("coordinate_transformation_mode is \"" + coordinates + "\", expected half_pixel or output_half_pixel");
  }
  return {.height = integer("output_height", 1, 1),
          .width = integer("output_width", 1, 1),
          .samples = integer("sampling_ratio", 0, 0),
          .scale = context.node.attribute_or<float>("spatial_scale", 1.0F),
          .half_pixel = context.opset >= 16 && coordinates == half,
          .max = mode == "max"};
}

}  // namespace detail

/// ONNX RoiAlign: of each region [x1, y1, x2, y2] of input 1, in the image of [N, C, H, W] that input 2 names, a grid
/// of bins, each pooled from samples between the pixels.
inline void roi_align(const OpContext& context) {
  const detail::RoiOptions options = detail::roi_options(context);
  const Tensor& x = context.floats(0);
  const Tensor& rois = context.floats(1);
  const Shape& shape = x.shape();
  if (shape.rank() != 4 || rois.shape().rank() != 2 || rois.shape()[1] != 4) {
    context.fail("input " + to_string(shape) + " and regions " + to_string(rois.shape()) +
                 ", expected [N,C,H,W] and [regions,4]");
  }
  const auto images = checked_indices(context, 2, shape[0]);
  const auto regions = static_cast<std::size_t>(rois.shape()[0]);
  if (images.size() != regions) {
    context.fail(std::to_string(images.size()) + " image indices for " + std::to_string(regions) + " regions");
  }
  const auto y = context.make_output({rois.shape()[0], shape[1], options.height, options.width});
  if (y.empty()) return;
  if (x.size() == 0) context.fail("an empty image " + to_string(shape) + " has no regions");
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto bins = static_cast<std::size_t>(options.height * options.width);
  for (std::size_t r = 0; r < regions; ++r) {
    const float* const roi = rois.data<float>().data() + r * 4;
    const detail::RoiAxis across = detail::roi_axis(context, options, roi[0], roi[2], options.width);
    const detail::RoiAxis down = detail::roi_axis(context, options, roi[1], roi[3], options.height);
    if (options.height * options.width * down.samples * across.samples > std::int64_t{1} << 22) {
      context.fail("a region takes more than 2^22 samples");
    }
    const auto samples = detail::roi_samples(options, down, across, shape[2], shape[3]);
    const std::size_t per_bin = samples.size() / bins;
    parallel_for(channels, (std::size_t{1} << 14) / (samples.size() + 1) + 1,
                 [&](std::size_t first, std::size_t count) {
                   for (std::size_t c = first; c < first + count; ++c) {
                     const float* const image = x.data<float>().data() + (images[r] * channels + c) * plane;
                     for (std::size_t bin = 0; bin < bins; ++bin) {
                       y[(r * channels + c) * bins + bin] =
                           detail::pool_samples(samples.data() + bin * per_bin, per_bin, image, options.max);
                     }
                   }
                 });
  }
}

inline void add_roi_align(OpSet& set) { set.add("RoiAlign", in_float32(roi_align)); }

}  // namespace amct::exec::ops
