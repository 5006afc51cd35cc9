// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/residual.hpp; the reference is kernel/reference/residual.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// One whole block against one candidate. Quotients by a fused correction of the product with the reciprocal, as in
/// quantize-inl.hpp. They are small integers after rounding, so adding and taking off 1.5 * 2^23 rounds them half to
/// even; candidates where they are not small go to the reference.
inline void add_residual_block(std::span<const float> block, const ScaleCandidate& candidate, double& sum) noexcept {
  constexpr std::size_t kVectors = kResidualLanes / kLanes;
  const F low = set(candidate.low);
  const F high = set(candidate.high);
  const F scale = set(candidate.scale);
  const F inverse = set(1.0F / candidate.scale);
  const F rounder = set(12582912.0F);
  F lanes[kVectors];
  for (F& lane : lanes) lane = set(0.0F);
  for (std::size_t i = 0; i < kResidualBlock; i += kResidualLanes) {
    for (std::size_t k = 0; k < kVectors; ++k) {
      const F x = load(block.data() + i + k * kLanes);
      const F clipped = at_most(at_least(x, low), high);
      const F product = mul(clipped, inverse);
      const F quotient = fused_add(fused_sub(product, scale, clipped), inverse, product);
      const F r = sub(mul(sub(add(quotient, rounder), rounder), scale), x);
      lanes[k] = add(lanes[k], mul(r, r));
    }
  }
  float stored[kResidualLanes];
  for (std::size_t k = 0; k < kVectors; ++k) store(stored + k * kLanes, lanes[k]);
  for (const float lane : stored) sum += static_cast<double>(lane);
}

inline void add_squared_residuals(std::span<const float> x, std::span<const ScaleCandidate> candidates,
                                  std::span<double> sums) noexcept {
  constexpr float kMostSteps = 4194304.0F;  // 2^22, the reach of the rounding trick
  for (std::size_t first = 0; first < x.size(); first += kResidualBlock) {
    const auto block = x.subspan(first, std::min(kResidualBlock, x.size() - first));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const ScaleCandidate& c = candidates[i];
      const bool small = c.high <= kMostSteps * c.scale && c.low >= -kMostSteps * c.scale;
      if (block.size() == kResidualBlock && small && has_exact_quotients(c.scale)) {
        add_residual_block(block, c, sums[i]);
      } else {
        reference::add_residual_block(block, c, sums[i]);
      }
    }
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
