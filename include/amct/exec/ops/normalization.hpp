// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/batch_normalization.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/kernel/reduce_f32.hpp>

/// \file
/// Normalizations by statistics of the data themselves. Variances are divided by the number of elements.

namespace amct::exec::ops {

namespace detail {

struct Moments {
  float mean = 0.0F;
  float variance = 0.0F;
};

[[nodiscard]] inline Moments moments(std::span<const float> x) {
  const auto count = static_cast<double>(x.size());
  const auto mean = static_cast<float>(sum_f32(x) / count);
  return {mean, static_cast<float>(sum_of_squares_f32(x, mean) / count)};
}

}  // namespace detail

/// ONNX InstanceNormalization: of each channel of each image.
inline void instance_normalization(const OpContext& context) {
  const Shape& shape = context.floats(0).shape();
  if (shape.rank() < 3) context.fail("input " + to_string(shape) + " has no spatial axes");
  const ChannelGeometry geometry{static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]),
                                 static_cast<std::size_t>(shape.count(2, shape.rank()))};
  const auto scale = context.floats(1).data<float>();
  const auto bias = context.floats(2).data<float>();
  if (scale.size() != geometry.channels || bias.size() != geometry.channels) {
    context.fail("a parameter does not have one value a channel");
  }
  const float epsilon = context.node.attribute_or<float>("epsilon", 1e-5F);
  const auto [x, y] = context.make_output_over<float>(0);
  geometry.for_each_run([&, x = x, y = y](std::size_t start, std::size_t c) {
    const auto run = x.subspan(start, geometry.inner);
    const auto [mean, variance] = detail::moments(run);
    const float factor = scale[c] / std::sqrt(variance + epsilon);
    normalize_f32(run, mean, factor, bias[c], y.subspan(start, geometry.inner));
  });
}

namespace detail {

/// A parameter of a layer normalization, repeated to the shape of what is normalized if it is smaller.
[[nodiscard]] inline std::vector<float> layer_parameter(const OpContext& context, std::size_t index,
                                                        const Shape& normalized) {
  const Tensor& parameter = context.floats(index);
  if (broadcast_shape(context, normalized, parameter.shape()) != normalized) {
    context.fail("input " + std::to_string(index) + " is " + to_string(parameter.shape()) + ", expected " +
                 to_string(normalized));
  }
  std::vector<float> values(normalized.size());
  for_each_broadcast(normalized, normalized, parameter.shape(),
                     [&](std::size_t i, std::size_t, std::size_t from) { values[i] = parameter.data<float>()[from]; });
  return values;
}

}  // namespace detail

/// ONNX LayerNormalization: (x - mean) / sqrt(variance + epsilon) * scale + bias over all axes from `axis` on. The
/// further outputs are the means and the reciprocals of the roots.
inline void layer_normalization(const OpContext& context) {
  const Shape shape = context.floats(0).shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", -1), shape.rank());
  const float epsilon = context.node.attribute_or<float>("epsilon", 1e-5F);
  const Shape normalized(std::vector<std::int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end()));
  const auto scale = detail::layer_parameter(context, 1, normalized);
  const auto bias = context.has(2) ? detail::layer_parameter(context, 2, normalized) : std::vector<float>{};
  const std::size_t length = normalized.size();
  std::vector<std::int64_t> dims = shape.dims();
  std::fill(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end(), 1);
  std::span<float> statistics[3];  // by output
  for (std::size_t i = 1; i <= 2; ++i) {
    if (context.wants_output(i))
      statistics[i] = context.make_output(i, ElementType::float32, Shape(dims)).data<float>();
  }
  const auto [x, y] = context.make_output_over<float>(0);
  const std::size_t rows = static_cast<std::size_t>(shape.count(0, axis));
  parallel_for(rows, std::max<std::size_t>(1, (kElementGrain >> 2) / std::max<std::size_t>(1, length)),
               [&, x = x, y = y](std::size_t first, std::size_t count) {
                 for (std::size_t row = first; row < first + count; ++row) {
                   const auto from = x.subspan(row * length, length);
                   const auto to = y.subspan(row * length, length);
                   const auto [mean, variance] = detail::moments(from);
                   const float inverse = 1.0F / std::sqrt(variance + epsilon);
                   normalize_f32(from, mean, inverse, 0.0F, to);
                   combine_f32(CombineF32::mul, {to.data()}, {scale.data()}, to);
                   if (!bias.empty()) combine_f32(CombineF32::add, {to.data()}, {bias.data()}, to);
                   if (!statistics[1].empty()) statistics[1][row] = mean;
                   if (!statistics[2].empty()) statistics[2][row] = inverse;
                 }
               });
}

/// ONNX LRN: x / (bias + alpha / size * sum of squares)^beta, where the sum goes over `size` neighbouring channels.
inline void local_response_normalization(const OpContext& context) {
  const Tensor& x = context.floats(0);
  if (x.shape().rank() < 2) context.fail("input " + to_string(x.shape()) + " has no channel axis");
  const auto size = context.node.attribute_or<std::int64_t>("size", 0);
  if (size < 1) context.fail("size is " + std::to_string(size) + ", expected 1 or more", ErrorCode::model_corrupt);
  const float alpha = context.node.attribute_or<float>("alpha", 1e-4F) / static_cast<float>(size);
  const float beta = context.node.attribute_or<float>("beta", 0.75F);
  const float bias = context.node.attribute_or<float>("bias", 1.0F);
  const std::int64_t channels = x.shape()[1];
  const auto inner = static_cast<std::size_t>(x.shape().count(2, x.shape().rank()));
  const auto from = x.data<float>();
  const auto y = context.make_output(x.shape());
  const auto one_channel = [&](std::size_t run) {
    const auto c = static_cast<std::int64_t>(run) % channels;
    const std::size_t image = (run - static_cast<std::size_t>(c)) * inner;
    const std::int64_t before = std::min(c, (size - 1) / 2);
    const std::int64_t after = std::min(channels - 1 - c, size / 2);
    std::vector<float> sums(inner, 0.0F);
    for (std::int64_t k = c - before; k <= c + after; ++k) {
      const float* const other = from.data() + image + static_cast<std::size_t>(k) * inner;
      for (std::size_t i = 0; i < inner; ++i) sums[i] += other[i] * other[i];
    }
    for (std::size_t i = 0; i < inner; ++i) {
      const float base = bias + alpha * sums[i];
      const float root = std::sqrt(base);
      const float divisor = beta == 0.75F ? root * std::sqrt(root) : std::pow(base, beta);
      y[run * inner + i] = from[run * inner + i] / divisor;
    }
  };
  const std::size_t runs = from.empty() ? 0 : from.size() / inner;
  parallel_for(runs, std::max<std::size_t>(1, kElementGrain / 8 / std::max<std::size_t>(1, inner)),
               [&](std::size_t first, std::size_t count) {
                 for (std::size_t run = first; run < first + count; ++run) one_channel(run);
               });
}

/// ONNX MeanVarianceNormalization: (x - mean) / (sqrt(variance) + 1e-9) over the axes, by default [0, 2, 3].
inline void mean_variance_normalization(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Shape& shape = x.shape();
  std::vector<std::int64_t> kept = shape.dims();
  for (const auto axis : context.node.attribute_or<std::vector<std::int64_t>>("axes", {0, 2, 3})) {
    kept[context.axis(axis, shape.rank())] = 1;
  }
  const Shape group(std::move(kept));
  const auto from = x.data<float>();
  const auto y = context.make_output(shape);
  if (from.empty()) return;
  const double count = static_cast<double>(from.size() / group.size());
  std::vector<double> means(group.size(), 0.0);
  std::vector<double> squares(group.size(), 0.0);
  const auto each = [&](const auto& visit) {
    for_each_broadcast(shape, shape, group, [&](std::size_t i, std::size_t, std::size_t g) { visit(i, g); });
  };
  each([&](std::size_t i, std::size_t g) { means[g] += static_cast<double>(from[i]) / count; });
  each([&](std::size_t i, std::size_t g) {
    const double distance = static_cast<double>(from[i]) - means[g];
    squares[g] += distance * distance / count;
  });
  each([&](std::size_t i, std::size_t g) {
    y[i] = static_cast<float>((static_cast<double>(from[i]) - means[g]) / (std::sqrt(squares[g]) + 1e-9));
  });
}

/// ONNX LpNormalization: x divided by its norm of order 1 or 2 along one axis; where that is 0, x.
inline void lp_normalization(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const Shape& shape = x.shape();
  const auto p = context.node.attribute_or<std::int64_t>("p", 2);
  if (p != 1 && p != 2) context.fail("p is " + std::to_string(p) + ", expected 1 or 2", ErrorCode::model_corrupt);
  std::vector<std::int64_t> kept = shape.dims();
  kept[context.axis(context.node.attribute_or<std::int64_t>("axis", -1), shape.rank())] = 1;
  const Shape group(std::move(kept));
  const auto from = x.data<float>();
  const auto y = context.make_output(shape);
  if (from.empty()) return;
  std::vector<double> norms(group.size(), 0.0);
  for_each_broadcast(shape, shape, group, [&](std::size_t i, std::size_t, std::size_t g) {
    const auto value = static_cast<double>(from[i]);
    norms[g] += p == 1 ? std::fabs(value) : value * value;
  });
  for_each_broadcast(shape, shape, group, [&](std::size_t i, std::size_t, std::size_t g) {
    const double norm = p == 1 ? norms[g] : std::sqrt(norms[g]);
    y[i] = norm == 0.0 ? from[i] : static_cast<float>(static_cast<double>(from[i]) / norm);
  });
}

inline void add_normalization(OpSet& set) {
  set.add("InstanceNormalization", in_float32(instance_normalization));
  set.add("LayerNormalization", in_float32(layer_normalization));
  set.add("LRN", in_float32(local_response_normalization));
  set.add("MeanVarianceNormalization", in_float32(mean_variance_normalization));
  set.add("LpNormalization", in_float32(lp_normalization));
}

}  // namespace amct::exec::ops
