// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/conv_s8.hpp>

#include <cstdlib>
#include <memory>

#include "contests.hpp"
#include "kernel/layer_contest.hpp"

namespace bench {
namespace {

amct::ConvShape conv_shape(const IntegerShape& of) {
  return {.channels_in = of.channels_in,
          .channels_out = of.channels_out,
          .groups = of.groups,
          .input = {1, of.height, of.width},
          .output = {1, of.height_out(), of.width_out()},
          .kernel = {1, of.kernel, of.kernel},
          .stride = {1, of.stride, of.stride},
          .pad_begin = {0, of.padding, of.padding}};
}

PrepareLayer ours(const SharedLayer& layer) {
  const amct::ConvShape shape = conv_shape(layer->shape);
  const auto weights = std::make_shared<amct::PackedConv>();
  if (!weights->pack(shape, layer->weights).ok()) std::abort();
  return direct([=, params = requantize_params(*layer)](LayerIn codes, LayerOut results) {
    const amct::Epilogue epilogue{amct::AddBias{layer->bias},
                                  amct::Requantize<ByMultiplier>{params, IntegerLayer::kOutputOffset},
                                  amct::SaturateTo<amct::Int8>{}};
    const auto status = amct::convolve(shape, *weights, codes, IntegerLayer::kInputOffset, epilogue,
                                       amct::ResultRows<std::int8_t>{results.data(), shape.channels_out});
    if (!status.ok()) std::abort();
  });
}

}  // namespace

void run_conv_s8() {
  run_layer("conv_3x3_64", "56x56", {56, 56, 64, 64, 3, 1, 1}, ours);
  run_layer("conv_3x3_128", "28x28", {28, 28, 128, 128, 3, 1, 1}, ours);
  run_layer("conv_3x3_256", "14x14", {14, 14, 256, 256, 3, 1, 1}, ours);
  run_layer("conv_1x1_512_128", "28x28", {28, 28, 512, 128}, ours);
  run_layer("conv_7x7_3_64", "224x224", {224, 224, 3, 64, 7, 2, 3}, ours);
  run_layer("conv_3x3_depthwise", "112x112", {112, 112, 32, 32, 3, 1, 1, 32}, ours);
}

}  // namespace bench
