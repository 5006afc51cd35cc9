// SPDX-License-Identifier: Apache-2.0
// XNNPACK's conversion operators and its convolution of int8 with a scale for each channel.
#include <cstdlib>
#include <memory>

#include <xnnpack.h>

#include "peers/peers.hpp"

namespace bench {
namespace {

void require(xnn_status status) {
  if (status != xnn_status_success) std::abort();
}

/// An operator that is set up for its buffers; runs on this thread.
Work running(xnn_operator_t raw) {
  const std::shared_ptr<xnn_operator> owned(raw, [](xnn_operator_t op) { xnn_delete_operator(op); });
  return [owned] { require(xnn_run_operator(owned.get(), nullptr)); };
}

Work quantize(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  require(xnn_initialize(nullptr));
  xnn_operator_t op = nullptr;
  const std::size_t n = x.size();
  require(
      xnn_create_convert_nc_f32_qs8(n, n, n, affine.scale, static_cast<std::int8_t>(affine.offset), -128, 127, 0, &op));
  require(xnn_setup_convert_nc_f32_qs8(op, 1, x.data(), codes.data(), nullptr));
  return running(op);
}

Work dequantize(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  require(xnn_initialize(nullptr));
  xnn_operator_t op = nullptr;
  const std::size_t n = x.size();
  require(xnn_create_convert_nc_qs8_f32(n, n, n, affine.scale, static_cast<std::int8_t>(affine.offset), 0, &op));
  require(xnn_setup_convert_nc_qs8_f32(op, 1, codes.data(), x.data(), nullptr));
  return running(op);
}

/// Rows, kernel height, kernel width, columns: how XNNPACK wants weights of a group; for depthwise layers the groups
/// are the last axis.
std::vector<std::int8_t> channels_last(const IntegerLayer& layer) {
  const IntegerShape& shape = layer.shape;
  const std::size_t area = shape.kernel * shape.kernel;
  const std::size_t depth = shape.group_channels_in();
  std::vector<std::int8_t> moved(layer.weights.size());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const std::size_t channel = i / shape.terms();
    const std::size_t k = i / area % depth;
    const std::size_t tap = i % area;
    const std::size_t to = shape.groups > 1 ? tap * shape.channels_out + channel : (channel * area + tap) * depth + k;
    moved[to] = layer.weights[i];
  }
  return moved;
}

Work convolution(std::span<const std::int8_t> codes, std::span<std::int8_t> results, SharedLayer layer, int threads) {
  require(xnn_initialize(nullptr));
  const IntegerShape& shape = layer->shape;
  const auto weights = channels_last(*layer);
  const auto padding = static_cast<std::uint32_t>(shape.padding);
  const auto kernel = static_cast<std::uint32_t>(shape.kernel);
  const auto stride = static_cast<std::uint32_t>(shape.stride);
  xnn_operator_t op = nullptr;
  require(xnn_create_convolution2d_nhwc_qc8(padding, padding, padding, padding, kernel, kernel, stride, stride, 1, 1,
                                            static_cast<std::uint32_t>(shape.groups), shape.group_channels_in(),
                                            shape.channels_out / shape.groups, shape.channels_in, shape.channels_out,
                                            IntegerLayer::kInputOffset, 1.0F, layer->multipliers.data(), weights.data(),
                                            layer->bias.data(), IntegerLayer::kOutputOffset, 1.0F, -128, 127,
                                            shape.groups > 1 ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, &op));
  const std::shared_ptr<pthreadpool> pool(threads > 1 ? pthreadpool_create(static_cast<std::size_t>(threads)) : nullptr,
                                          pthreadpool_destroy);
  require(xnn_setup_convolution2d_nhwc_qc8(op, 1, shape.height, shape.width, codes.data(), results.data(), pool.get()));
  const std::shared_ptr<xnn_operator> owned(op, [](xnn_operator_t used) { xnn_delete_operator(used); });
  return [owned, pool] { require(xnn_run_operator(owned.get(), pool.get())); };
}

[[maybe_unused]] const bool kEntered = enter({.name = "XNNPACK",
                                              .quantize = quantize,
                                              .dequantize = dequantize,
                                              .integer_product = convolution,
                                              .integer_convolution = convolution});

}  // namespace
}  // namespace bench
