// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/kernel/reduce_f32.hpp>

namespace amct::exec::ops {

/// A tensor [batch, channels, inner] whose channels are normalized.
struct ChannelGeometry {
  std::size_t batch = 1, channels = 1, inner = 1;

  /// Calls work(start, channel) with the first element of each run of `inner` elements, several at once.
  template <class Work>
  void for_each_run(const Work& work) const {
    parallel_for(batch * channels, std::max<std::size_t>(1, kElementGrain / std::max<std::size_t>(1, inner)),
                 [&](std::size_t first, std::size_t count) {
                   for (std::size_t run = first; run < first + count; ++run) work(run * inner, run % channels);
                 });
  }
};

namespace detail {

/// With `spatial` = 0, before opset 9, every position of an image is a channel of its own.
[[nodiscard]] inline ChannelGeometry batch_geometry(const OpContext& context, const Shape& shape) {
  if (shape.rank() < 2) context.fail("input " + to_string(shape) + " has no channel axis");
  const bool spatial = context.node.attribute_or<std::int64_t>("spatial", 1) != 0;
  const std::size_t split = spatial ? 2 : shape.rank();
  return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape.count(1, split)),
          static_cast<std::size_t>(shape.count(split, shape.rank()))};
}

/// Mean and variance (divided by the number of elements) of each channel.
inline void channel_moments(const ChannelGeometry& geometry, std::span<const float> x, std::span<float> mean,
                            std::span<float> variance) {
  const double count = static_cast<double>(geometry.batch * geometry.inner);
  const auto average = [&](std::size_t channel, const auto& part) {
    double total = 0.0;
    for (std::size_t n = 0; n < geometry.batch; ++n) {
      total += part(x.subspan((n * geometry.channels + channel) * geometry.inner, geometry.inner));
    }
    return static_cast<float>(total / count);
  };
  for (std::size_t c = 0; c < geometry.channels; ++c) {
    mean[c] = average(c, [](std::span<const float> run) { return sum_f32(run); });
    variance[c] = average(c, [&](std::span<const float> run) { return sum_of_squares_f32(run, mean[c]); });
  }
}

/// Whether the statistics are those of the batch: training_mode, or before opset 14 the outputs that only training has.
[[nodiscard]] inline bool trains(const OpContext& context) {
  if (context.opset >= 14) return context.node.attribute_or<std::int64_t>("training_mode", 0) != 0;
  return context.wants_output(1) && context.node.attribute_or<std::int64_t>("is_test", 0) == 0;
}

/// An output of training: old * momentum + batch * (1 - momentum).
inline void make_running(const OpContext& context, std::size_t output, std::span<const float> old,
                         std::span<const float> batch, float momentum) {
  if (!context.wants_output(output)) return;
  Tensor& running = context.make_output(output, ElementType::float32, {static_cast<std::int64_t>(batch.size())});
  for (std::size_t c = 0; c < batch.size(); ++c) {
    running.data<float>()[c] = old[c] * momentum + batch[c] * (1.0F - momentum);
  }
}

}  // namespace detail

/// ONNX BatchNormalization: (x - mean) * (scale / sqrt(variance + epsilon)) + bias by channel. In training, mean and
/// variance are those of the batch, and the further outputs are the running mean and variance and, before opset 14,
/// those of the batch.
inline void batch_normalization(const OpContext& context) {
  const ChannelGeometry geometry = detail::batch_geometry(context, context.floats(0).shape());
  for (std::size_t i = 1; i <= 4; ++i) {
    if (context.floats(i).size() != geometry.channels) context.fail("a parameter does not have one value a channel");
  }
  const auto gamma = context.data<float>(1);
  const auto beta = context.data<float>(2);
  std::span<const float> mean = context.data<float>(3);
  std::span<const float> variance = context.data<float>(4);
  std::vector<float> batch_mean(geometry.channels);
  std::vector<float> batch_variance(geometry.channels);
  if (detail::trains(context)) {
    detail::channel_moments(geometry, context.data<float>(0), batch_mean, batch_variance);
    const float momentum = context.node.attribute_or<float>("momentum", 0.9F);
    detail::make_running(context, 1, mean, batch_mean, momentum);
    detail::make_running(context, 2, variance, batch_variance, momentum);
    detail::make_running(context, 3, mean, batch_mean, 0.0F);
    detail::make_running(context, 4, variance, batch_variance, 0.0F);
    mean = batch_mean;
    variance = batch_variance;
  }
  const float epsilon = context.node.attribute_or<float>("epsilon", 1e-5F);
  const auto [x, y] = context.make_output_over<float>(0);
  geometry.for_each_run([&, x = x, y = y](std::size_t start, std::size_t c) {
    const float factor = gamma[c] / std::sqrt(variance[c] + epsilon);
    normalize_f32(x.subspan(start, geometry.inner), mean[c], factor, beta[c], y.subspan(start, geometry.inner));
  });
}

inline void add_batch_normalization(OpSet& set) { set.add("BatchNormalization", in_float32(batch_normalization)); }

}  // namespace amct::exec::ops
