// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/resize_axis.hpp>
#include <amct/exec/ops/resize_planes.hpp>
#include <amct/exec/ops/strided_copy.hpp>

namespace amct::exec::ops {

namespace detail {

enum class Interpolation { nearest, linear, cubic };

/// What a Resize or Upsample does.
struct ResizeOptions {
  Interpolation interpolation = Interpolation::nearest;
  NearestMode nearest = NearestMode::legacy;
  CoordinateMode coordinates = CoordinateMode::asymmetric;
};

/// The position of an attribute's value in a list of names.
template <std::size_t kNames>
[[nodiscard]] std::size_t choice(const OpContext& context, const char* attribute, const std::string& otherwise,
                                 const std::array<const char*, kNames>& names) {
  const auto value = context.node.attribute_or<std::string>(attribute, otherwise);
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) context.unsupported(std::string(attribute) + " is \"" + value + '"');
  return static_cast<std::size_t>(found - names.begin());
}

[[nodiscard]] inline ResizeOptions resize_options(const OpContext& context, bool legacy) {
  ResizeOptions options;
  const std::array modes{"nearest", "linear", "cubic", "bilinear"};  // the last in Upsample 1
  const std::size_t mode = choice(context, "mode", "nearest", modes);
  options.interpolation = mode == 3 ? Interpolation::linear : static_cast<Interpolation>(mode);
  if (legacy) return options;
  const std::array coordinates{"half_pixel", "pytorch_half_pixel",   "align_corners",
                               "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  options.coordinates =
      static_cast<CoordinateMode>(choice(context, "coordinate_transformation_mode", "half_pixel", coordinates));
  const std::array nearest{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  options.nearest = static_cast<NearestMode>(choice(context, "nearest_mode", "round_prefer_floor", nearest));
  return options;
}

/// An input of floats, of which roi may have the type of the data; none if it is not given or empty.
[[nodiscard]] inline std::vector<float> float_list(const OpContext& context, std::size_t index) {
  if (!context.has(index)) return {};
  const Tensor wide = amct::cast(context.input(index), ElementType::float32);
  return {wide.data<float>().begin(), wide.data<float>().end()};
}

inline void require_entries(const OpContext& context, const char* name, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  context.fail(std::string(name) + " has " + std::to_string(found) + " entries, expected " + std::to_string(expected));
}

/// Axes whose result is `scale` times as long, rounded down.
[[nodiscard]] inline std::vector<ResizeAxis> axes_by_scale(const OpContext& context, const std::vector<float>& scales) {
  const Shape& shape = context.input(0).shape();
  require_entries(context, "scales", scales.size(), shape.rank());
  std::vector<ResizeAxis> axes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const float length = static_cast<float>(shape[i]) * scales[i];
    if (!(scales[i] > 0.0F && length <= 0x1p24F)) {
      context.fail("scale " + std::to_string(scales[i]) + " of an axis of " + std::to_string(shape[i]) +
                   ", expected a positive number and at most 2^24 positions");
    }
    axes.push_back(
        {.input = shape[i], .output = static_cast<std::int64_t>(length), .length = length, .scale = scales[i]});
  }
  return axes;
}

[[nodiscard]] inline std::vector<ResizeAxis> axes_by_size(const OpContext& context,
                                                          const std::vector<std::int64_t>& sizes) {
  const Shape& shape = context.input(0).shape();
  require_entries(context, "sizes", sizes.size(), shape.rank());
  std::vector<ResizeAxis> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > std::int64_t{1} << 24) {
      context.fail("sizes has the entry " + std::to_string(sizes[i]) + ", expected 0 to 2^24");
    }
    const auto length = static_cast<float>(sizes[i]);
    const float scale = length / static_cast<float>(std::max<std::int64_t>(1, shape[i]));
    axes.push_back({.input = shape[i], .output = sizes[i], .length = length, .scale = scale});
  }
  return axes;
}

[[nodiscard]] inline AxisTaps axis_taps(const OpContext& context, const ResizeOptions& options,
                                        const ResizeAxis& axis) {
  switch (options.interpolation) {
    case Interpolation::linear: return linear_taps(axis);
    case Interpolation::cubic:
      return cubic_taps(axis, context.node.attribute_or<float>("cubic_coeff_a", -0.75F),
                        context.node.attribute_or<std::int64_t>("exclude_outside", 0) != 0);
    case Interpolation::nearest: break;
  }
  return nearest_taps(axis, options.nearest);
}

/// Writes extrapolation_value where any coordinate lies outside the input.
inline void extrapolate(const OpContext& context, Tensor& y, const std::vector<AxisTaps>& taps) {
  const float number = context.node.attribute_or<float>("extrapolation_value", 0.0F);
  const Tensor value = amct::cast(Tensor::scalar(number), y.type());
  for (std::size_t axis = 0; axis < taps.size(); ++axis) {
    const auto bytes = static_cast<std::size_t>(y.shape().count(axis + 1, taps.size())) * value.bytes();
    for (const std::int64_t position : taps[axis].outside) {
      for (std::int64_t outer = 0; outer < y.shape().count(0, axis); ++outer) {
        const auto slab = static_cast<std::size_t>(outer * y.shape()[axis] + position);
        fill_elements(y.raw().subspan(slab * bytes, bytes), value.raw());
      }
    }
  }
}

/// Interpolates in float32; other types are converted there and back.
inline void interpolate(const Tensor& x, const std::vector<AxisTaps>& taps, Tensor& y) {
  if (x.type() == ElementType::float32) {
    return interpolate_planes(x.data<float>(), x.shape(), taps, y.data<float>(), y.shape());
  }
  const Tensor wide = amct::cast(x, ElementType::float32);
  Tensor result(ElementType::float32, y.shape());
  interpolate_planes(wide.data<float>(), x.shape(), taps, result.data<float>(), y.shape());
  const Tensor narrow = amct::cast(result, y.type());
  std::memcpy(y.raw().data(), narrow.raw().data(), narrow.bytes());
}

inline void resize_axes(const OpContext& context, const ResizeOptions& options, std::vector<ResizeAxis> axes) {
  const Tensor& x = context.input(0);
  Shape shape = x.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) shape[i] = axes[i].output;
  Tensor& y = context.make_output(0, x.type(), std::move(shape));
  if (y.size() == 0) return;
  if (x.size() == 0) context.fail("an empty input " + to_string(x.shape()) + " cannot become " + to_string(y.shape()));
  std::vector<AxisTaps> taps;
  for (ResizeAxis& axis : axes) {
    axis.mode = options.coordinates;
    taps.push_back(axis_taps(context, options, axis));
  }
  if (options.interpolation == Interpolation::nearest) {
    pick_planes(x.raw(), x.shape(), taps, y.raw(), y.shape(), size_of(x.type()));
  } else {
    interpolate(x, taps, y);
  }
  extrapolate(context, y, taps);
}

}  // namespace detail

/// ONNX Upsample, and Resize of opset 10: scales are an input since opset 9, an attribute in 7, two attributes before.
inline void upsample(const OpContext& context) {
  std::vector<float> scales = detail::float_list(context, 1);
  if (const auto* given = context.node.attribute<std::vector<float>>("scales")) scales = *given;
  if (context.opset < 7) {
    scales.assign(context.input(0).shape().rank(), 1.0F);
    if (scales.size() != 4) context.fail("input " + to_string(context.input(0).shape()) + ", expected [N,C,H,W]");
    scales[2] = context.node.attribute_or<float>("height_scale", 1.0F);
    scales[3] = context.node.attribute_or<float>("width_scale", 1.0F);
  }
  detail::resize_axes(context, detail::resize_options(context, true), detail::axes_by_scale(context, scales));
}

/// ONNX Resize since opset 11: by sizes, or by scales. Any axes, with interpolation along one after the other.
inline void resize(const OpContext& context) {
  const detail::ResizeOptions options = detail::resize_options(context, false);
  const std::size_t rank = context.input(0).shape().rank();
  const auto sizes = context.has(3) ? context.integers(3) : std::vector<std::int64_t>{};
  std::vector<float> roi;
  if (options.coordinates == CoordinateMode::tf_crop_and_resize) {
    roi = detail::float_list(context, 1);
    detail::require_entries(context, "roi", roi.size(), 2 * rank);
  }
  auto axes = sizes.empty() ? detail::axes_by_scale(context, detail::float_list(context, 2))
                            : detail::axes_by_size(context, sizes);
  for (std::size_t i = 0; i < rank && !roi.empty(); ++i) {
    axes[i].roi_start = roi[i];
    axes[i].roi_end = roi[rank + i];
  }
  detail::resize_axes(context, options, std::move(axes));
}

inline void add_resize(OpSet& set) {
  set.add("Upsample", upsample);
  set.add("Resize", 10, upsample);
  set.add("Resize", 11, resize);
}

}  // namespace amct::exec::ops
