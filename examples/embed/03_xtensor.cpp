// SPDX-License-Identifier: Apache-2.0
// Quantizes xtensor arrays where they are: every second row of images through a view, weights with one scale a channel,
// and weights of 4 bits, two a byte.

#include <amct/amct.hpp>
#include <amct/interop/xtensor.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#if __has_include(<xtensor/views/xview.hpp>)  // xtensor 0.26 and newer
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xview.hpp>
#endif

int main() {
  xt::xtensor<float, 3> images(std::array<std::size_t, 3>{2, 8, 6});
  for (std::size_t i = 0; i < images.size(); ++i) images.flat(i) = std::sin(static_cast<float>(i));
  const auto rows = xt::view(images, xt::all(), xt::range(0, 8, 2), xt::all());

  amct::MinMax observer;
  if (!amct::observe(observer, rows)) return 1;
  const amct::Affine affine = observer.compute(amct::Int8::range);
  xt::xtensor<std::int8_t, 3> codes(rows.shape());
  xt::xtensor<float, 3> restored(rows.shape());
  amct::quantize(rows, codes, affine, amct::Int8::range);
  amct::dequantize(codes, restored, affine);
  const float error = xt::amax(xt::abs(restored - rows))();
  std::printf("activations: scale %g offset %d, largest error %g\n", static_cast<double>(affine.scale), affine.offset,
              static_cast<double>(error));
  if (error > affine.scale) return 1;

  // A convolution's weight [Cout, Cin, H, W]: its output channels are axis 0.
  xt::xarray<float> weight = xt::xarray<float>::from_shape({4, 2, 3, 3});
  for (std::size_t i = 0; i < weight.size(); ++i) weight.flat(i) = std::cos(static_cast<float>(i * (i / 18 + 1)));
  amct::Arq<amct::Int8> arq;
  if (!amct::calibrate(arq, weight, 0)) return 1;
  xt::xarray<float> simulated = xt::empty_like(weight);
  amct::fake_quantize(arq, weight, simulated, 0);
  for (std::size_t channel = 0; channel < 4; ++channel) {
    const float scale = arq.channels()[channel].scale;
    std::printf("channel %d: scale %g\n", static_cast<int>(channel), static_cast<double>(scale));
    const auto difference = xt::view(simulated, channel) - xt::view(weight, channel);
    if (xt::amax(xt::abs(difference))() > 0.51F * scale) return 1;
  }

  // The same weight in 4 bits. Two input channels share a byte, so there are half as many along axis 1.
  amct::Arq<amct::Int4> narrow;
  if (!amct::calibrate(narrow, weight, 0)) return 1;
  xt::xarray<std::int8_t> weight_codes = xt::xarray<std::int8_t>::from_shape({4, 2, 3, 3});
  xt::xarray<std::int8_t> bytes = xt::xarray<std::int8_t>::from_shape({4, 1, 3, 3});
  amct::quantize(narrow, weight, weight_codes, 0);
  amct::pack4(weight_codes, bytes, 1);
  xt::xarray<std::int8_t> unpacked = xt::empty_like(weight_codes);
  amct::unpack4(bytes, unpacked, 1);
  std::printf("4 bits: %d weights in %d bytes\n", static_cast<int>(unpacked.size()), static_cast<int>(bytes.size()));
  return unpacked == weight_codes ? 0 : 1;
}
