// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/quantize.hpp; the reference is kernel/reference/quantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// What a contract rounds: the scaled value, with the offset for contracts that add it first.
///
/// The quotient is exact without a division: the product with the correctly rounded reciprocal is off by at most one
/// ulp, and one fused correction of it by its remainder rounds to the quotient (Markstein, "Computation of elementary
/// functions on the IBM RISC System/6000 processor", 1990). Where the product overflows it gives NaN. With a split
/// reciprocal it is exact where that matters.
template <VectorContract Contract, class Params>
AMCT_VOP F before_rounding(F value, const Params& params, std::size_t i) {
  F scaled;
  if constexpr (kDivides<Contract> && Params::kSplit) {
    scaled = fused_add(value, params.inverse(i), mul(value, params.inverse_low(i)));
  } else {
    scaled = mul(value, params.inverse(i));
    if constexpr (kDivides<Contract>) {
      scaled = fused_add(fused_sub(scaled, params.scale(i), value), params.inverse(i), scaled);
    }
  }
  if constexpr (!kAddsAfterRounding<Contract>) scaled = add(scaled, params.offset(i));
  return scaled;
}

/// Real values as a stage of to_codes-inl.hpp.
template <VectorContract Contract, class Params>
class ScaledValues {
 public:
  static constexpr bool kCanBeNan = true;
  using Scalar = float;
  static constexpr bool kAddsAfter = kAddsAfterRounding<Contract>;

  AMCT_VOP ScaledValues(const Params& params, CodeRange range)
      : params_(params), range_(range), high_(set(static_cast<float>(range.max()))), most_(high_) {
    if constexpr (kAddsAfter && Params::kUniform) most_ = sub(high_, params.offset(0));
  }

  template <RealInput X>
  AMCT_VOP F scaled(const X* x, std::size_t i) const {
    return before_rounding<Contract>(load(x), params_, i);
  }
  AMCT_VOP F most(std::size_t i) const {
    if constexpr (kAddsAfter && !Params::kUniform) return sub(high_, params_.offset(i));
    return most_;
  }
  AMCT_VOP H int16_offset(std::size_t i) const { return params_.int16_offset(i); }
  AMCT_VOP I int_offset(std::size_t i) const { return params_.int_offset(i); }

  template <RealInput X>
  [[nodiscard]] std::int32_t code(X x, std::size_t i) const noexcept {
    return Contract::code(to_float(x), params_.affine(i), range_);
  }

 private:
  Params params_;
  CodeRange range_;
  F high_, most_;
};

template <VectorContract Contract, RealInput X, CodeStorage T>
void quantize(std::span<const X> x, std::span<T> codes, const Affine& affine, CodeRange range,
              Traffic traffic) noexcept {
  if constexpr (CanSplit<Contract, T>) {
    if (has_split_quotients(affine.scale)) {
      using Stage = ScaledValues<Contract, SplitAffine>;
      return map(ToCodes<T, Stage>(Stage(SplitAffine(affine), range), range), x, codes, traffic);
    }
  }
  using Stage = ScaledValues<Contract, UniformAffine>;
  map(ToCodes<T, Stage>(Stage(UniformAffine(affine), range), range), x, codes, traffic);
}

template <VectorContract Contract, RealInput X, CodeStorage T>
void quantize(std::span<const X> x, std::span<T> codes, const AffineRow& row, CodeRange range) noexcept {
  using Stage = ScaledValues<Contract, RowAffine>;
  map_cached(ToCodes<T, Stage>(Stage(RowAffine(row), range), range), x, codes, 0);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
