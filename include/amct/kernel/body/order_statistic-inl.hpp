// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/order_statistic.hpp; the reference is kernel/reference/order_statistic.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// One read of the data for a rank near the end: a heap holds the k outermost values seen, with the innermost of them
/// in front. Blocks with nothing beyond that one, which is nearly all, cost four comparisons.
template <Tail T>
[[nodiscard]] float kth(std::span<const float> values, std::size_t k) {
  constexpr std::size_t kBlock = 4 * kLanes;
  constexpr std::size_t kRareEnough = 32;
  if (k > values.size() / kRareEnough) return reference::kth<T>(values, k);
  const FurtherOut<T> further_out;
  std::vector<float> heap(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k));
  std::make_heap(heap.begin(), heap.end(), further_out);
  const auto take = [&](std::span<const float> part) {
    for (const float value : part) {
      if (!further_out(value, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), further_out);
      heap.back() = value;
      std::push_heap(heap.begin(), heap.end(), further_out);
    }
  };
  std::size_t i = k;
  for (; i + kBlock <= values.size(); i += kBlock) {
    const float* p = values.data() + i;
    const F bound = set(heap.front());
    const F a = load(p);
    const F b = load(p + kLanes);
    const F c = load(p + 2 * kLanes);
    const F d = load(p + 3 * kLanes);
    const bool any = T == Tail::largest ? any_above(at_least(at_least(a, b), at_least(c, d)), bound)
                                        : any_above(bound, at_most(at_most(a, b), at_most(c, d)));
    if (any) take(values.subspan(i, kBlock));
  }
  take(values.subspan(i));
  return heap.front();
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
