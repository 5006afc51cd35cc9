// SPDX-License-Identifier: Apache-2.0
// One convolution layer as an NPU computes it: int8 codes in, int32 sums, int8 codes out. No graph, no files.

#include <amct/amct.hpp>
#include <amct/kernel/conv_s8.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace {

constexpr std::size_t kSize = 12;     // pixels, square
constexpr std::size_t kIn = 3;        // channels
constexpr std::size_t kOut = 8;       // channels
constexpr std::size_t kTaps = 3 * 3;  // of a window

/// Numbers about as a trained layer has them.
std::vector<float> wave(std::size_t size, float step, float amplitude) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = amplitude * std::sin(step * static_cast<float>(i));
  return values;
}

/// The layer in float32, for comparison: channels last, a window of 3 x 3 with padding.
float convolved(const std::vector<float>& x, const std::vector<float>& w, std::size_t y0, std::size_t x0,
                std::size_t out) {
  float sum = 0.0F;
  for (std::size_t tap = 0; tap < kTaps; ++tap) {
    const std::size_t row = y0 + tap / 3;  // one more than the row of the image
    const std::size_t column = x0 + tap % 3;
    if (row < 1 || row > kSize || column < 1 || column > kSize) continue;
    for (std::size_t in = 0; in < kIn; ++in) {
      sum += x[((row - 1) * kSize + column - 1) * kIn + in] * w[(out * kIn + in) * kTaps + tap];
    }
  }
  return sum;
}

}  // namespace

int main() {
  const std::vector<float> image = wave(kSize * kSize * kIn, 0.37F, 1.0F);  // [height, width, channels]
  const std::vector<float> weights = wave(kOut * kIn * kTaps, 1.3F, 0.5F);  // [outputs, inputs, 3, 3], as in ONNX
  const std::vector<float> bias = wave(kOut, 2.0F, 0.2F);

  // Quantize: activations with an offset, weights with a scale for each output channel, the bias with the product.
  const amct::Affine input{2.2F / 255.0F, -3};
  const amct::Affine output{6.0F / 255.0F, 5};
  std::vector<std::int8_t> x(image.size());
  amct::quantize<>(image, std::span(x), input, amct::Int8::range);
  std::vector<std::int8_t> w(weights.size());
  std::vector<std::int32_t> sums_bias(kOut);
  std::vector<amct::RequantizeByScales<>::Params> scales(kOut);
  for (std::size_t out = 0; out < kOut; ++out) {
    const auto row = std::span(weights).subspan(out * kIn * kTaps, kIn * kTaps);
    amct::ValueRange range;
    if (!range.extend(row)) return 1;
    const float scale = range.abs_max() / 127.0F;
    amct::quantize<>(row, std::span(w).subspan(out * kIn * kTaps, kIn * kTaps), {scale, 0}, amct::Int8::range);
    scales[out] = {input.scale * scale, output.scale};
    sums_bias[out] = static_cast<std::int32_t>(std::lround(bias[out] / scales[out].dequant_scale));
  }

  // The layer: a shape, weights packed once, and what happens to the sums.
  amct::ConvShape shape;
  shape.channels_in = kIn;
  shape.channels_out = kOut;
  shape.input = {1, kSize, kSize};
  shape.kernel = {1, 3, 3};
  shape.pad_begin = {0, 1, 1};
  amct::PackedConv packed;
  if (!shape.fit_output({0, 1, 1}) || !packed.pack(shape, w)) return 1;
  const amct::Epilogue epilogue{amct::AddBias{sums_bias}, amct::Requantize<>{scales, output.offset},
                                amct::SaturateTo<amct::Int8>{}};

  std::vector<std::int8_t> y(shape.y_size());
  const amct::Status status = amct::convolve(shape, packed, std::span<const std::int8_t>(x), input.offset, epilogue,
                                             amct::ResultRows<std::int8_t>{y.data(), kOut});
  if (!status) {
    std::printf("refused: %s\n", describe(status.code));
    return 1;
  }

  float largest = 0.0F;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t pixel = i / kOut;
    const float exact = convolved(image, weights, pixel / kSize, pixel % kSize, i % kOut) + bias[i % kOut];
    const float restored = static_cast<float>(y[i] - output.offset) * output.scale;
    largest = std::fmax(largest, std::fabs(restored - exact));
  }
  std::printf("largest error %g of steps of %g on %s\n", static_cast<double>(largest),
              static_cast<double>(output.scale), name_of(amct::simd::active()));
  return largest < 3.0F * output.scale ? 0 : 1;
}
