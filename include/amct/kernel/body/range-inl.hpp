// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/range.hpp; the reference is kernel/reference/range.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Four accumulators of each kind, so that the loads and not the chain of minima limit the speed. The
/// product with 0 is NaN for a NaN or an infinity, and its sum shows that for one fused operation.
inline Extremes extremes(std::span<const float> x) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  if (x.size() < kBlock) return reference::extremes(x);
  const F zero = set(0.0F);
  F low[4];
  F high[4];
  F sum[4];
  unroll<4>([&](auto k) AMCT_VLAMBDA {
    low[k] = high[k] = load(x.data() + k * kLanes);
    sum[k] = zero;
  });
  const std::size_t done = for_each_block<kBlock>(x, [&](const float* block) AMCT_VLAMBDA {
    unroll<4>([&](auto k) AMCT_VLAMBDA {
      const F v = load(block + k * kLanes);
      low[k] = at_most(low[k], v);
      high[k] = at_least(high[k], v);
      sum[k] = fused_add(v, zero, sum[k]);
    });
  });
  float lows[kLanes];
  float highs[kLanes];
  float sums[kLanes];
  store(lows, at_most(at_most(low[0], low[1]), at_most(low[2], low[3])));
  store(highs, at_least(at_least(high[0], high[1]), at_least(high[2], high[3])));
  store(sums, add(add(sum[0], sum[1]), add(sum[2], sum[3])));
  Extremes result = reference::extremes(x.subspan(done));
  float total = 0.0F;
  for (std::size_t k = 0; k < kLanes; ++k) {
    result.min = lows[k] < result.min ? lows[k] : result.min;
    result.max = highs[k] > result.max ? highs[k] : result.max;
    total += sums[k];
  }
  result.finite &= total == 0.0F;
  return result;
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
