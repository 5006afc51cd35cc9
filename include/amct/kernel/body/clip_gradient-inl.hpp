// SPDX-License-Identifier: Apache-2.0
// Vector bodies of kernel/clip_gradient.hpp; the reference is kernel/reference/clip_gradient.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// One whole block. An element adds to one of three sums and 0 to the other two, which changes none: they start at +0.
/// Quotients within the range are of few steps, so 1.5 * 2^23 rounds them (see is_fine_range).
inline void add_clip_gradient_block(const float* x, const float* upstream, const ClipRange& range,
                                    ClipGradient& sums) noexcept {
  constexpr std::size_t kVectors = kGradientLanes / kLanes;
  const F zero = set(0.0F);
  const F low = set(range.low);
  const F high = set(range.high);
  const F scale = set(range.scale);
  const F rounder = set(12582912.0F);
  F below[kVectors];
  F above[kVectors];
  F inside[kVectors];
  unroll<kVectors>([&](auto v) AMCT_VLAMBDA { below[v] = above[v] = inside[v] = zero; });
  for (std::size_t i = 0; i < kGradientBlock; i += kGradientLanes) {
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA {
      const F value = load(x + i + v * kLanes);
      const F g = load(upstream + i + v * kLanes);
      const F steps = div(value, scale);
      const F error = mul(sub(sub(add(steps, rounder), rounder), steps), g);
      below[v] = add(below[v], where_above(low, value, g, zero));
      above[v] = add(above[v], where_above(value, high, g, zero));
      inside[v] = add(inside[v], where_above(low, value, zero, where_above(value, high, zero, error)));
    });
  }
  float lanes[3][kGradientLanes];
  unroll<kVectors>([&](auto v) AMCT_VLAMBDA {
    store(lanes[0] + v * kLanes, below[v]);
    store(lanes[1] + v * kLanes, above[v]);
    store(lanes[2] + v * kLanes, inside[v]);
  });
  for (std::size_t lane = 0; lane < kGradientLanes; ++lane) {
    sums.below += static_cast<double>(lanes[0][lane]);
    sums.above += static_cast<double>(lanes[1][lane]);
    sums.inside += static_cast<double>(lanes[2][lane]);
  }
}

[[nodiscard]] inline bool is_fine_range(const ClipRange& r) noexcept {
  constexpr float kMostSteps = 4194304.0F;  // 2^22
  return r.high <= kMostSteps * r.scale && r.low >= -kMostSteps * r.scale;
}

inline void add_clip_gradient(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                              ClipGradient& sums) noexcept {
  std::size_t i = 0;
  if (is_fine_range(range)) {
    for (; i + kGradientBlock <= x.size(); i += kGradientBlock) {
      add_clip_gradient_block(x.data() + i, upstream.data() + i, range, sums);
    }
  }
  reference::add_clip_gradient(x.subspan(i), upstream.subspan(i), range, sums);
}

inline void mask_clipped(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                         std::span<float> gradient) noexcept {
  const F zero = set(0.0F);
  const F low = set(range.low);
  const F high = set(range.high);
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    const F value = load(x.data() + i);
    const F kept = where_above(value, high, zero, load(upstream.data() + i));
    store(gradient.data() + i, where_above(low, value, zero, kept));
  }
  reference::mask_clipped(x.subspan(i), upstream.subspan(i), range, gradient.subspan(i));
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
