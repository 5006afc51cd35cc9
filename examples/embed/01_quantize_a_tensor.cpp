// SPDX-License-Identifier: Apache-2.0
// Calibrates and quantizes a tensor of an inference engine: no graph, no files, no dependencies.

#include <amct/amct.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> batch{-1.0F, -0.25F, 0.0F, 0.5F, 1.25F, 3.0F};

  amct::Ifmr observer;                     // AMCT's default observer of activations
  if (!observer.observe(batch)) return 1;  // refuses NaN, Inf and empty data
  const amct::Affine affine = observer.compute(amct::Int8::range);

  std::vector<std::int8_t> codes(batch.size());
  std::vector<float> restored(batch.size());
  amct::quantize<>(batch, std::span(codes), affine, amct::Int8::range);
  amct::dequantize(std::span<const std::int8_t>(codes), restored, affine);

  std::printf("scale %g offset %d\n", static_cast<double>(affine.scale), affine.offset);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::printf("%6.2f -> %4d -> %8.4f\n", static_cast<double>(batch[i]), codes[i], static_cast<double>(restored[i]));
    if (std::abs(restored[i] - batch[i]) > affine.scale) return 1;
  }
  return 0;
}
