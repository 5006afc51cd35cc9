// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/exec/ops/cubic.hpp>

/// \file
/// Where each position of a resized axis comes from. Coordinates are float32, as in ONNX Runtime.

namespace amct::exec {

/// ONNX's coordinate_transformation_mode.
enum class CoordinateMode {
  half_pixel,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};

/// ONNX's nearest_mode; `legacy` is what Upsample and Resize did before opset 11: down when enlarging, else up.
enum class NearestMode { round_prefer_floor, round_prefer_ceil, floor, ceil, legacy };

/// How to resize one axis.
struct ResizeAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  float length = 1.0F;  ///< of the result before it is rounded down to `output`
  float scale = 1.0F;
  CoordinateMode mode = CoordinateMode::half_pixel;
  float roi_start = 0.0F;  ///< of tf_crop_and_resize, relative to the axis
  float roi_end = 1.0F;
};

/// The positions that make up each position of the resized axis, `count` each, and their weights.
struct AxisTaps {
  std::size_t count = 1;
  std::vector<std::int32_t> positions{};
  std::vector<float> weights{};         ///< none for nearest
  std::vector<std::int64_t> outside{};  ///< positions of tf_crop_and_resize that lie outside the input

  /// True if every position comes from the same one of the input.
  [[nodiscard]] bool is_identity(std::int64_t input) const noexcept {
    if (positions.size() != static_cast<std::size_t>(input) * count) return false;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const bool same = positions[i] == static_cast<std::int32_t>(i / count);
      if (!same && (weights.empty() || weights[i] != 0.0F)) return false;
    }
    return outside.empty();
  }
};

AMCT_EXACT_BEGIN

/// The coordinate in the input of a position of the resized axis.
[[nodiscard]] inline float original_coordinate(const ResizeAxis& axis, std::int64_t position) noexcept {
  const auto at = static_cast<float>(position);
  const auto last_in = static_cast<float>(axis.input - 1);
  const float last_out = axis.length - 1.0F;
  switch (axis.mode) {
    case CoordinateMode::align_corners: return axis.output == 1 ? 0.0F : at * last_in / last_out;
    case CoordinateMode::asymmetric: return at / axis.scale;
    case CoordinateMode::tf_half_pixel_for_nn: return (at + 0.5F) / axis.scale;
    case CoordinateMode::tf_crop_and_resize:
      if (axis.output == 1) return 0.5F * (axis.roi_start + axis.roi_end) * last_in;
      return axis.roi_start * last_in + at * (axis.roi_end - axis.roi_start) * last_in / last_out;
    case CoordinateMode::pytorch_half_pixel:
      if (axis.output == 1) return 0.0F;
      break;
    case CoordinateMode::half_pixel: break;
  }
  return (at + 0.5F) / axis.scale - 0.5F;
}

/// The whole number next to a coordinate, by the rule for halves.
[[nodiscard]] inline float nearest_coordinate(float x, NearestMode mode, bool enlarges) noexcept {
  const float floor = std::floor(x);
  switch (mode) {
    case NearestMode::round_prefer_floor: return x - floor > 0.5F ? floor + 1.0F : floor;
    case NearestMode::round_prefer_ceil: return x - floor >= 0.5F ? floor + 1.0F : floor;
    case NearestMode::floor: return floor;
    case NearestMode::ceil: return std::ceil(x);
    case NearestMode::legacy: break;
  }
  return enlarges ? floor : std::ceil(x);
}

namespace detail {

/// A coordinate as an index; what lies outside, or is no number, becomes a near position outside.
[[nodiscard]] inline std::int32_t whole(float coordinate) noexcept {
  constexpr float kFar = 0x1p30F;
  return coordinate >= -kFar ? static_cast<std::int32_t>(std::min(coordinate, kFar)) : static_cast<std::int32_t>(-kFar);
}

/// Calls put(coordinate) for each position of the resized axis, and notes those outside.
template <class Put>
void for_each_coordinate(const ResizeAxis& axis, AxisTaps& taps, Put&& put) {
  const bool copies =
      axis.input == axis.output && axis.scale == 1.0F && axis.mode != CoordinateMode::tf_crop_and_resize;
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const float coordinate = copies ? static_cast<float>(i) : original_coordinate(axis, i);
    const bool inside = coordinate >= 0.0F && coordinate <= static_cast<float>(axis.input - 1);
    if (axis.mode == CoordinateMode::tf_crop_and_resize && !inside) taps.outside.push_back(i);
    put(coordinate);
  }
}

}  // namespace detail

/// \pre the input is not empty, here and below
[[nodiscard]] inline AxisTaps nearest_taps(const ResizeAxis& axis, NearestMode mode) {
  AxisTaps taps;
  const auto last = static_cast<std::int32_t>(axis.input - 1);
  detail::for_each_coordinate(axis, taps, [&](float x) {
    const float nearest = nearest_coordinate(x, mode, axis.scale >= 1.0F);
    taps.positions.push_back(std::clamp(detail::whole(nearest), 0, last));
  });
  return taps;
}

/// The two neighbours of a coordinate; beyond the ends, the end.
[[nodiscard]] inline AxisTaps linear_taps(const ResizeAxis& axis) {
  AxisTaps taps{2};
  const auto last = static_cast<std::int32_t>(axis.input - 1);
  detail::for_each_coordinate(axis, taps, [&](float x) {
    x = x > 0.0F ? std::min(x, static_cast<float>(last)) : 0.0F;
    const std::int32_t low = detail::whole(x);
    const float part = x - static_cast<float>(low);
    taps.positions.insert(taps.positions.end(), {low, std::min(low + 1, last)});
    taps.weights.insert(taps.weights.end(), {1.0F - part, part});
  });
  return taps;
}

/// The four neighbours of a coordinate.
/// \param slope            of the cubic kernel, see cubic_weights
/// \param exclude_outside  leave out neighbours outside and let the others sum up to 1; else the ends stand for them
[[nodiscard]] inline AxisTaps cubic_taps(const ResizeAxis& axis, float slope, bool exclude_outside) {
  AxisTaps taps{4};
  const auto last = static_cast<std::int32_t>(axis.input - 1);
  detail::for_each_coordinate(axis, taps, [&](float x) {
    const float floor = std::floor(x);
    auto weights = cubic_weights(x - floor, slope);
    const std::int32_t first = detail::whole(floor) - 1;
    float sum = 0.0F;
    for (std::int32_t k = 0; k < 4; ++k) {
      const bool outside = first + k < 0 || first + k > last;
      float& weight = weights[static_cast<std::size_t>(k)];
      if (exclude_outside && outside) weight = 0.0F;
      sum += weight;
      taps.positions.push_back(std::clamp(first + k, 0, last));
    }
    for (const float weight : weights) taps.weights.push_back(exclude_outside ? weight / sum : weight);
  });
  return taps;
}

AMCT_EXACT_END

}  // namespace amct::exec
