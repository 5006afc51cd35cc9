// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/quantize.hpp; the reference is kernel/reference/quantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Gives what a contract rounds, without the offset of contracts that add it afterwards (`shift`).
///
/// The quotient is exact without a division: the product with the correctly rounded reciprocal is off by at most one
/// ulp, and one fused correction of it by its remainder rounds to the quotient (Markstein, "Computation of elementary
/// functions on the IBM RISC System/6000 processor", 1990). Where the product overflows it gives NaN.
template <VectorContract Contract>
struct BeforeRounding {
  F scale, inverse, offset;
  std::int32_t shift;

  AMCT_VOP explicit BeforeRounding(const Affine& affine)
      : scale(set(affine.scale)),
        inverse(set(1.0F / affine.scale)),
        offset(set(static_cast<float>(affine.offset))),
        shift(kAddsAfterRounding<Contract> ? affine.offset : 0) {}

  AMCT_VOP F operator()(const float* p) const {
    const F x = load(p);
    F scaled = mul(x, inverse);
    if constexpr (kDivides<Contract>) scaled = fused_add(fused_sub(scaled, scale, x), inverse, scaled);
    if constexpr (!kAddsAfterRounding<Contract>) scaled = add(scaled, offset);
    return scaled;
  }
};

/// Four vectors at a time, packed with saturation. A block with a NaN goes to the reference, as does the tail.
template <VectorContract Contract>
void quantize(std::span<const float> x, std::span<std::int8_t> codes, const Affine& affine, CodeRange range) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  const BeforeRounding<Contract> before(affine);
  const F top = set(65536.0F);  // beyond every int16, and far from the overflow of the conversion
  const auto shift = static_cast<std::int16_t>(before.shift);
  const auto low = static_cast<std::int8_t>(range.min());
  const auto high = static_cast<std::int8_t>(range.max());
  std::size_t i = 0;
  for (; i + kBlock <= x.size(); i += kBlock) {
    const float* p = x.data() + i;
    const F a = before(p);
    const F b = before(p + kLanes);
    const F c = before(p + 2 * kLanes);
    const F d = before(p + 3 * kLanes);
    if (any_nan(a, b, c, d)) [[unlikely]] {
      reference::quantize<Contract>(x.subspan(i, kBlock), codes.subspan(i, kBlock), affine, range);
      continue;
    }
    store_codes(codes.data() + i, to_int(at_most(a, top)), to_int(at_most(b, top)), to_int(at_most(c, top)),
                to_int(at_most(d, top)), shift, low, high);
  }
  reference::quantize<Contract>(x.subspan(i), codes.subspan(i), affine, range);
}

/// Two vectors at a time; offsets of wide codes do not fit int16, so they are added in int32.
template <VectorContract Contract>
void quantize(std::span<const float> x, std::span<std::int16_t> codes, const Affine& affine, CodeRange range) noexcept {
  constexpr std::size_t kBlock = 2 * kLanes;
  const BeforeRounding<Contract> before(affine);
  const F top = set(1048576.0F);  // beyond every code and offset, far from int32's ends
  const F bottom = set(-1048576.0F);
  const I shift = set(before.shift);
  const auto low = static_cast<std::int16_t>(range.min());
  const auto high = static_cast<std::int16_t>(range.max());
  std::size_t i = 0;
  for (; i + kBlock <= x.size(); i += kBlock) {
    const F a = before(x.data() + i);
    const F b = before(x.data() + i + kLanes);
    if (any_nan(a, b, a, b)) [[unlikely]] {
      reference::quantize<Contract>(x.subspan(i, kBlock), codes.subspan(i, kBlock), affine, range);
      continue;
    }
    store_codes(codes.data() + i, add(to_int(at_least(at_most(a, top), bottom)), shift),
                add(to_int(at_least(at_most(b, top), bottom)), shift), low, high);
  }
  reference::quantize<Contract>(x.subspan(i), codes.subspan(i), affine, range);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
