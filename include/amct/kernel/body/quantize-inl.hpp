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
  static constexpr bool kCanBeNan = true;
  const float* x;
  F scale, inverse, offset;
  std::int32_t shift;

  AMCT_VOP BeforeRounding(const float* values, const Affine& affine)
      : x(values),
        scale(set(affine.scale)),
        inverse(set(1.0F / affine.scale)),
        offset(set(static_cast<float>(affine.offset))),
        shift(kAddsAfterRounding<Contract> ? affine.offset : 0) {}

  AMCT_VOP F operator()(std::size_t i) const {
    const F value = load(x + i);
    F scaled = mul(value, inverse);
    if constexpr (kDivides<Contract>) scaled = fused_add(fused_sub(scaled, scale, value), inverse, scaled);
    if constexpr (!kAddsAfterRounding<Contract>) scaled = add(scaled, offset);
    return scaled;
  }
};

/// Rounds and packs what `source(i)` gives, four vectors at a time. Blocks with a NaN, and the tail, go to
/// `slow(first, count)`.
template <class Source, class Slow>
void store_rounded(const Source& source, std::span<std::int8_t> codes, CodeRange range, const Slow& slow) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  const F top = set(65536.0F);  // beyond every int16, and far from the overflow of the conversion
  const auto shift = static_cast<std::int16_t>(source.shift);
  const auto low = static_cast<std::int8_t>(range.min());
  const auto high = static_cast<std::int8_t>(range.max());
  std::size_t i = 0;
  for (; i + kBlock <= codes.size(); i += kBlock) {
    const F a = source(i);
    const F b = source(i + kLanes);
    const F c = source(i + 2 * kLanes);
    const F d = source(i + 3 * kLanes);
    if (Source::kCanBeNan && any_nan(a, b, c, d)) [[unlikely]] {
      slow(i, kBlock);
      continue;
    }
    store_codes(codes.data() + i, to_int(at_most(a, top)), to_int(at_most(b, top)), to_int(at_most(c, top)),
                to_int(at_most(d, top)), shift, low, high);
  }
  slow(i, codes.size() - i);
}

/// Two vectors at a time; offsets of wide codes do not fit int16, so they are added in int32.
template <class Source, class Slow>
void store_rounded(const Source& source, std::span<std::int16_t> codes, CodeRange range, const Slow& slow) noexcept {
  constexpr std::size_t kBlock = 2 * kLanes;
  const F top = set(1048576.0F);  // beyond every code and offset, far from int32's ends
  const F bottom = set(-1048576.0F);
  const I shift = set(source.shift);
  const auto low = static_cast<std::int16_t>(range.min());
  const auto high = static_cast<std::int16_t>(range.max());
  std::size_t i = 0;
  for (; i + kBlock <= codes.size(); i += kBlock) {
    const F a = source(i);
    const F b = source(i + kLanes);
    if (Source::kCanBeNan && any_nan(a, b, a, b)) [[unlikely]] {
      slow(i, kBlock);
      continue;
    }
    store_codes(codes.data() + i, add(to_int(at_least(at_most(a, top), bottom)), shift),
                add(to_int(at_least(at_most(b, top), bottom)), shift), low, high);
  }
  slow(i, codes.size() - i);
}

template <VectorContract Contract, CodeStorage T>
void quantize(std::span<const float> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  store_rounded(BeforeRounding<Contract>(x.data(), affine), codes, range, [&](std::size_t first, std::size_t count) {
    reference::quantize<Contract>(x.subspan(first, count), codes.subspan(first, count), affine, range);
  });
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
