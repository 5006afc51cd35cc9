// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/residual.hpp; the reference is kernel/reference/residual.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Candidates that are computed with one load of the data, as many as the registers hold.
inline constexpr std::size_t kTogether = kLanes == 16 ? 4 : 2;

/// How the multiple of a candidate is found: by the exact product with the reciprocal, rounded half to even by adding
/// 1.5 * 2^23 in the fused multiplication; by the exact quotient of quantize-inl.hpp; or one value at a time.
enum class Way : std::uint8_t { product, quotient, scalar };

[[nodiscard]] inline Way way_of(const ScaleCandidate& c) noexcept {
  constexpr float kMostSteps = 4194304.0F;  // 2^22, the reach of the rounding trick
  if (has_few_steps(c)) return Way::product;
  const bool in_reach = c.high <= kMostSteps * c.scale && c.low >= -kMostSteps * c.scale;
  return in_reach && has_exact_quotients(c.scale) ? Way::quotient : Way::scalar;
}

/// Adds at most one block to the sums of kTogether candidates. Without kClips all values lie within all clip ranges.
template <bool kClips, Way kWay>
void add_residual_block(std::span<const float> block, const ScaleCandidate* candidates, double* sums) noexcept {
  constexpr std::size_t kVectors = kResidualLanes / kLanes;
  const F rounder = set(12582912.0F);
  F low[kTogether];
  F high[kTogether];
  F scale[kTogether];
  F inverse[kTogether];
  F lanes[kTogether][kVectors];
  unroll<kTogether>([&](auto c) AMCT_VLAMBDA {
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
      unroll<kTogether>([&](auto c) AMCT_VLAMBDA {
        const F clipped = kClips ? at_most(at_least(x, low[c]), high[c]) : x;
        F raised;
        if constexpr (kWay == Way::product) {
          raised = fused_add(clipped, inverse[c], rounder);
        } else {
          const F product = mul(clipped, inverse[c]);
          raised = add(fused_add(fused_sub(product, scale[c], clipped), inverse[c], product), rounder);
        }
        const F steps = sub(raised, rounder);
        const F r = sub(mul(steps, scale[c]), x);
        lanes[c][v] = fused_add(r, r, lanes[c][v]);
      });
    });
  }
  unroll<kTogether>([&](auto c) AMCT_VLAMBDA {
    float stored[kResidualLanes];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { store(stored + v * kLanes, lanes[c][v]); });
    for (std::size_t k = 0; i + k < block.size(); ++k) {
      const float r = reference::residual(block[i + k], candidates[c]);
      stored[k] = std::fma(r, r, stored[k]);
    }
    for (const float lane : stored) sums[c] += static_cast<double>(lane);
  });
}

/// The same for up to kTogether candidates that are all found in one way. Missing ones are computed as copies of the
/// first, for nobody.
inline void add_residual_block(std::span<const float> block, Way way, bool clips,
                               std::span<const ScaleCandidate> candidates, double* sums) noexcept {
  ScaleCandidate group[kTogether];
  double group_sums[kTogether] = {};
  for (std::size_t c = 0; c < kTogether; ++c) {
    group[c] = candidates[c < candidates.size() ? c : 0];
    group_sums[c] = c < candidates.size() ? sums[c] : 0.0;
  }
  if (way == Way::quotient) {
    add_residual_block<true, Way::quotient>(block, group, group_sums);
  } else if (clips) {
    add_residual_block<true, Way::product>(block, group, group_sums);
  } else {
    add_residual_block<false, Way::product>(block, group, group_sums);
  }
  std::copy_n(group_sums, candidates.size(), sums);
}

inline void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                  std::span<double> sums) noexcept {
  for (std::size_t first = 0; first < x.size(); first += kResidualBlock) {
    const auto block = x.subspan(first, std::min(kResidualBlock, x.size() - first));
    const Extremes ends = extremes(block);
    const auto clips = [&](const ScaleCandidate& c) { return ends.min < c.low || ends.max > c.high; };
    for (std::size_t i = 0; i < candidates.size();) {
      const Way way = way_of(candidates[i]);
      if (way == Way::scalar) {
        reference::add_residual_block(block, candidates[i], sums[i]);
        ++i;
        continue;
      }
      std::size_t count = 1;
      while (count < kTogether && i + count < candidates.size() && way_of(candidates[i + count]) == way) ++count;
      const auto group = candidates.subspan(i, count);
      add_residual_block(block, way, std::ranges::any_of(group, clips), group, &sums[i]);
      i += count;
    }
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
