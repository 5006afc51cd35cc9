// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/residual.hpp; the reference is kernel/reference/residual.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Candidates that are computed with one load of the data, as many as the registers hold.
inline constexpr std::size_t kTogether = kLanes == 16 ? 4 : 2;

/// Adds at most one block to the sums of kCount candidates. Adding 1.5 * 2^23 in the fused multiplication rounds the
/// exact product half to even, for products within 2^22. Without kClips all values lie within all clip ranges.
template <std::size_t kCount, bool kClips>
void add_residual_block(std::span<const float> block, const ScaleCandidate* candidates, double* sums) noexcept {
  constexpr std::size_t kVectors = kResidualLanes / kLanes;
  const F rounder = set(12582912.0F);
  F low[kCount];
  F high[kCount];
  F scale[kCount];
  F inverse[kCount];
  F lanes[kCount][kVectors];
  unroll<kCount>([&](auto c) AMCT_VLAMBDA {
    low[c] = set(candidates[c].low);
    high[c] = set(candidates[c].high);
    scale[c] = set(candidates[c].scale);
    inverse[c] = set(1.0F / candidates[c].scale);
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { lanes[c][v] = set(0.0F); });
  });
  std::size_t i = 0;
  for (; i + kResidualLanes <= block.size(); i += kResidualLanes) {
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA {
      const F x = load(block.data() + i + v * kLanes);
      unroll<kCount>([&](auto c) AMCT_VLAMBDA {
        const F clipped = kClips ? at_most(at_least(x, low[c]), high[c]) : x;
        const F steps = sub(fused_add(clipped, inverse[c], rounder), rounder);
        const F r = sub(mul(steps, scale[c]), x);
        lanes[c][v] = fused_add(r, r, lanes[c][v]);
      });
    });
  }
  unroll<kCount>([&](auto c) AMCT_VLAMBDA {
    float stored[kResidualLanes];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { store(stored + v * kLanes, lanes[c][v]); });
    for (std::size_t k = 0; i + k < block.size(); ++k) {
      const float r = reference::residual(block[i + k], candidates[c], 1.0F / candidates[c].scale);
      stored[k] = std::fma(r, r, stored[k]);
    }
    for (const float lane : stored) sums[c] += static_cast<double>(lane);
  });
}

/// Whether the products of a clip range's values stay within the reach of the rounding trick.
[[nodiscard]] inline bool is_fine(const ScaleCandidate& c) noexcept {
  constexpr float kMostSteps = 4194304.0F;  // 2^22
  return c.high <= kMostSteps * c.scale && c.low >= -kMostSteps * c.scale;
}

inline void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                  std::span<double> sums) noexcept {
  for (std::size_t first = 0; first < x.size(); first += kResidualBlock) {
    const auto block = x.subspan(first, std::min(kResidualBlock, x.size() - first));
    const Extremes ends = extremes(block);
    const auto clips = [&](const ScaleCandidate& c) { return ends.min < c.low || ends.max > c.high; };
    for (std::size_t i = 0; i < candidates.size();) {
      const auto group = candidates.subspan(i, std::min(kTogether, candidates.size() - i));
      if (group.size() == kTogether && std::ranges::all_of(group, is_fine)) {
        if (std::ranges::any_of(group, clips)) {
          add_residual_block<kTogether, true>(block, group.data(), &sums[i]);
        } else {
          add_residual_block<kTogether, false>(block, group.data(), &sums[i]);
        }
        i += kTogether;
      } else {
        if (is_fine(group[0])) {
          add_residual_block<1, true>(block, group.data(), &sums[i]);
        } else {
          reference::add_residual_block(block, group[0], sums[i]);
        }
        ++i;
      }
    }
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
