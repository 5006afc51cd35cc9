// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/range.hpp; the reference is kernel/reference/range.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Four accumulators of each kind, so that the loads and not the chain of minima limit the speed.
inline Extremes extremes(std::span<const float> x) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  if (x.size() < kBlock) return reference::extremes(x);
  F low[4];
  F high[4];
  I bits[4];
  for (std::size_t k = 0; k < 4; ++k) {
    low[k] = high[k] = load(x.data() + k * kLanes);
    bits[k] = magnitude_bits(low[k]);
  }
  std::size_t i = kBlock;
  for (; i + kBlock <= x.size(); i += kBlock) {
    for (std::size_t k = 0; k < 4; ++k) {
      const F v = load(x.data() + i + k * kLanes);
      low[k] = at_most(low[k], v);
      high[k] = at_least(high[k], v);
      bits[k] = larger(bits[k], magnitude_bits(v));
    }
  }
  float lows[kBlock];
  float highs[kBlock];
  std::int32_t all_bits[kBlock];
  for (std::size_t k = 0; k < 4; ++k) {
    store(lows + k * kLanes, low[k]);
    store(highs + k * kLanes, high[k]);
    store(all_bits + k * kLanes, bits[k]);
  }
  Extremes result = reference::extremes(x.subspan(i));
  for (std::size_t k = 0; k < kBlock; ++k) {
    result.min = lows[k] < result.min ? lows[k] : result.min;
    result.max = highs[k] > result.max ? highs[k] : result.max;
    result.magnitude_bits = all_bits[k] > result.magnitude_bits ? all_bits[k] : result.magnitude_bits;
  }
  return result;
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
