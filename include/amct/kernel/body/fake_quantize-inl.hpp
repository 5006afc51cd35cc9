// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/fake_quantize.hpp; the reference is kernel/reference/fake_quantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Clips before it rounds, which gives the same since the bounds are integers, and rounds by adding and taking off
/// 1.5 * 2^23, which rounds half to even and never gives -0. NaN stays.
template <VectorContract Contract>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  constexpr bool kAddAfter = kAddsAfterRounding<Contract>;
  const auto low_code = static_cast<float>(range.min());
  const auto high_code = static_cast<float>(range.max());
  const auto offset_code = static_cast<float>(affine.offset);
  const F scale = set(affine.scale);
  const F inverse = set(1.0F / affine.scale);
  const F offset = set(offset_code);
  const F low = set(kAddAfter ? low_code - offset_code : low_code);
  const F high = set(kAddAfter ? high_code - offset_code : high_code);
  const F rounder = set(12582912.0F);
  const auto one = [&](F v) {
    v = kDivides<Contract> ? div(v, scale) : mul(v, inverse);
    if constexpr (!kAddAfter) v = add(v, offset);
    v = sub(add(at_least(at_most(v, high), low), rounder), rounder);
    if constexpr (!kAddAfter) v = sub(v, offset);
    return mul(v, scale);
  };
  std::size_t i = 0;
  for (; i + 4 * kLanes <= x.size(); i += 4 * kLanes) {
    for (std::size_t k = 0; k < 4 * kLanes; k += kLanes) store(y.data() + i + k, one(load(x.data() + i + k)));
  }
  reference::fake_quantize<Contract>(x.subspan(i), y.subspan(i), affine, range);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
