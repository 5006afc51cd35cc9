// SPDX-License-Identifier: Apache-2.0
// The numeric core is usable in programs built without exceptions and RTTI.

#include <amct/amct.hpp>

#include <cstdint>

int main() {
  const float data[] = {-1.0F, 0.5F, 2.0F, -0.25F};
  amct::Ifmr ifmr;
  amct::MinMax min_max;
  amct::Arq<amct::Int4> arq;
  if (!ifmr.observe(data) || !min_max.observe(data) || !arq.calibrate(data, amct::ChannelLayout::per_tensor(4)))
    return 1;
  std::int8_t codes[4];
  amct::quantize<>(std::span<const float>(data), std::span<std::int8_t>(codes), min_max.compute(amct::Int8::range),
                   amct::Int8::range);
  return codes[2] == 127 && amct::is_usable(ifmr.compute(amct::Int16::range)) ? 0 : 1;
}
