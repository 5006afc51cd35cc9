// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/order_statistic.hpp; the reference is kernel/reference/order_statistic.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// One read of the data for ranks near the ends. Blocks with nothing beyond the innermost values, which is nearly all,
/// cost some comparisons.
[[nodiscard]] inline Tails tails(std::span<const float> values, std::size_t smallest, std::size_t largest) {
  constexpr std::size_t kBlock = 4 * kLanes;
  constexpr std::size_t kRareEnough = 32;
  const std::size_t start = std::max(smallest, largest);
  if (start > values.size() / kRareEnough) return reference::tails(values, smallest, largest);
  Outermost low(values.first(smallest), Outermost::Side::low);
  Outermost high(values.first(largest), Outermost::Side::high);
  low.take(values.subspan(smallest, start - smallest));
  high.take(values.subspan(largest, start - largest));
  const auto rest = values.subspan(start);
  F low_bound = set(low.innermost());
  F high_bound = set(high.innermost());
  const std::size_t done = for_each_block<kBlock>(rest, [&](const float* block) AMCT_VLAMBDA {
    const F a = load(block);
    const F b = load(block + kLanes);
    const F c = load(block + 2 * kLanes);
    const F d = load(block + 3 * kLanes);
    const F most = at_least(at_least(a, b), at_least(c, d));
    const F least = at_most(at_most(a, b), at_most(c, d));
    if (any_above(most, high_bound)) [[unlikely]] {
      high.take({block, kBlock});
      high_bound = set(high.innermost());
    }
    if (any_above(low_bound, least)) [[unlikely]] {
      low.take({block, kBlock});
      low_bound = set(low.innermost());
    }
  });
  low.take(rest.subspan(done));
  high.take(rest.subspan(done));
  return {low.innermost(), high.innermost()};
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
