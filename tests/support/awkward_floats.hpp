// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace support {

/// Values on which paths tend to differ: both zeros, ties, denormals, NaN, infinities, ends of int16, int32 and
/// float32, in a repeating mixture with ordinary values.
[[nodiscard]] inline std::vector<float> awkward_floats(std::size_t size, float step, bool finite_only = false) {
  using Limits = std::numeric_limits<float>;
  const float special[] = {0.0F,           -0.0F,         0.5F * step,    -0.5F * step,    1.5F * step,
                           -2.5F * step,   127.5F * step, -128.5F * step, 32767.5F * step, Limits::denorm_min(),
                           -Limits::min(), Limits::max(), 3e9F,           -3e9F,           65535.0F * step,
                           -Limits::max()};
  const float broken[] = {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -Limits::quiet_NaN()};
  std::vector<float> values(size);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t kind = state >> 28U;
    const auto ordinary =
        static_cast<float>(static_cast<std::int32_t>(state >> 8U & 0xffffU) - 32768) * step * (1.0F / 128.0F);
    values[i] = kind == 0 ? special[(state >> 4U) % 16U] : ordinary;
    if (kind == 1 && !finite_only && i % 3 == 0) values[i] = broken[(state >> 4U) % 4U];
  }
  return values;
}

}  // namespace support
