// SPDX-License-Identifier: Apache-2.0
// Vector body of the histogram in kernel/scale_search.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Counts and positions share a cell, the count in the upper 24 bits, so that a value costs one addition.
/// \pre x.size() < 2^24, all values within [moments.low, moments.high]
inline void add_bin_moments(std::span<const float> x, BinMoments& moments) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  constexpr std::size_t kCopies = 2;
  constexpr int kCountShift = 40;
  constexpr std::int32_t kLast = static_cast<std::int32_t>(BinMoments::kBins) * BinMoments::kSteps - 1;
  std::uint64_t cells[kCopies][BinMoments::kBins] = {};
  const auto take = [&](std::int32_t position, std::size_t copy) AMCT_VLAMBDA {
    const auto at = static_cast<std::uint32_t>(position);
    cells[copy][at / BinMoments::kSteps] += (std::uint64_t{1} << kCountShift) + at % BinMoments::kSteps;
  };
  const float steps_per_unit = moments.steps_per_unit();
  const F low = set(moments.low);
  const F factor = set(steps_per_unit);
  const I last = set(kLast);
  std::int32_t found[kBlock];
  const std::size_t done = for_each_block<kBlock>(x, [&](const float* block) AMCT_VLAMBDA {
    unroll<4>([&](auto k) AMCT_VLAMBDA {
      const F steps = mul(sub(load(block + k * kLanes), low), factor);
      store(found + k * kLanes, at_most(truncate(steps), last));
    });
    for (std::size_t i = 0; i < kBlock; i += kCopies) {
      for (std::size_t copy = 0; copy < kCopies; ++copy) take(found[i + copy], copy);
    }
  });
  for (const float value : x.subspan(done)) {
    take(std::min(static_cast<std::int32_t>((value - moments.low) * steps_per_unit), kLast), 0);
  }
  for (std::size_t b = 0; b < BinMoments::kBins; ++b) {
    for (const auto& copy : cells) {
      moments.counts[b] += copy[b] >> kCountShift;
      moments.positions[b] += copy[b] & ((std::uint64_t{1} << kCountShift) - 1);
    }
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
