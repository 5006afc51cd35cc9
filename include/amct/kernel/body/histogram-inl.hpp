// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/histogram.hpp; the reference is kernel/reference/histogram.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Bins are computed in vectors, with the exact quotient of quantize-inl.hpp, and counted one by one. Two copies of
/// the counts let neighbours of one bin, such as the zeros of a ReLU, be counted without waiting for each other.
/// \pre at most kMostVectorBins bins; x.size() < 2^32
inline void add_histogram(std::span<const float> x, const HistogramBins& bins,
                          std::span<std::uint64_t> counts) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  constexpr std::size_t kCopies = 2;
  const F low = set(bins.low);
  const F high = set(bins.high);
  const F width = set(bins.width);
  const F inverse = set(1.0F / bins.width);
  const F count = set(bins.count);
  const I last = set(static_cast<std::int32_t>(counts.size()) - 1);
  std::uint32_t copies[kCopies][kMostVectorBins];
  for (auto& copy : copies) std::fill_n(copy, counts.size(), 0U);
  std::int32_t found[kBlock];
  const auto bin_of = [&](F v) AMCT_VLAMBDA {
    const F scaled = mul(sub(v, low), count);
    const F product = mul(scaled, inverse);
    return at_most(truncate(fused_add(fused_sub(product, width, scaled), inverse, product)), last);
  };
  const std::size_t done = for_each_block<kBlock>(x, [&](const float* block) AMCT_VLAMBDA {
    const F a = load(block);
    const F b = load(block + kLanes);
    const F c = load(block + 2 * kLanes);
    const F d = load(block + 3 * kLanes);
    const bool outside = any_nan(a, b, c, d) || any_above(at_least(at_least(a, b), at_least(c, d)), high) ||
                         any_above(low, at_most(at_most(a, b), at_most(c, d)));
    if (outside) [[unlikely]] {
      reference::add_histogram({block, kBlock}, bins, counts);
      return;
    }
    store(found, bin_of(a));
    store(found + kLanes, bin_of(b));
    store(found + 2 * kLanes, bin_of(c));
    store(found + 3 * kLanes, bin_of(d));
    for (std::size_t k = 0; k < kBlock; k += kCopies) {
      for (std::size_t copy = 0; copy < kCopies; ++copy) ++copies[copy][found[k + copy]];
    }
  });
  for (const auto& copy : copies) {
    for (std::size_t bin = 0; bin < counts.size(); ++bin) counts[bin] += copy[bin];
  }
  reference::add_histogram(x.subspan(done), bins, counts);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
