// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/fake_quantize.hpp; the reference is kernel/reference/fake_quantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Clips before it rounds, which gives the same since the bounds are integers. The fused addition of +0 to the product
/// makes a zero of it positive, as that of a code is. NaN stays.
///
/// Contracts that divide clip the value before the division, which keeps the exact quotient (see quantize-inl.hpp) from
/// overflowing: the real value of a code, divided again, is within an ulp of the code and rounds to it.
template <VectorContract Contract, class Params>
class FakeQuantizer {
 public:
  static constexpr std::size_t kIn = 4 * kLanes;
  static constexpr std::size_t kOut = kIn;

  AMCT_VOP FakeQuantizer(const Params& params, CodeRange range)
      : params_(params),
        low_(set(static_cast<float>(range.min()))),
        high_(set(static_cast<float>(range.max()))),
        zero_(set(0.0F)) {
    if constexpr (Params::kUniform) {
      low_ = clip_end(low_, 0);
      high_ = clip_end(high_, 0);
    }
  }

  template <Traffic K, RealInput X>
  AMCT_VOP void block(const X* x, float* y, std::size_t first) const {
    unroll<4>([&](auto k) AMCT_VLAMBDA {
      constexpr std::size_t kAt = k * kLanes;
      put<K>(y + kAt, one(load(x + kAt), first + kAt));
    });
  }

 private:
  /// Where the value is clipped: a code, less an offset that is added afterwards; in contracts that divide its real
  /// value.
  AMCT_VOP F clip_end(F code, std::size_t i) const {
    if constexpr (kDivides<Contract>) return mul(sub(code, params_.offset(i)), params_.scale(i));
    return kAddsAfterRounding<Contract> ? sub(code, params_.offset(i)) : code;
  }

  AMCT_VOP F clipped(F v, std::size_t i) const {
    if constexpr (Params::kUniform) return at_least(at_most(v, high_), low_);
    return at_least(at_most(v, clip_end(high_, i)), clip_end(low_, i));
  }

  AMCT_VOP F one(F v, std::size_t i) const {
    if constexpr (kDivides<Contract>) {
      v = before_rounding<Contract>(clipped(v, i), params_, i);
    } else {
      v = clipped(before_rounding<Contract>(v, params_, i), i);
    }
    v = round(v);
    if constexpr (!kAddsAfterRounding<Contract>) v = sub(v, params_.offset(i));
    return fused_add(v, params_.scale(i), zero_);
  }

  Params params_;
  F low_, high_, zero_;
};

template <VectorContract Contract, RealInput X>
void fake_quantize(std::span<const X> x, std::span<float> y, const Affine& affine, CodeRange range,
                   Traffic traffic) noexcept {
  if constexpr (CanSplit<Contract, std::int8_t>) {
    if (range.bits <= 8 && is_within(affine.offset, kMostOffset16) && has_split_quotients(affine.scale)) {
      return map(FakeQuantizer<Contract, SplitAffine>(SplitAffine(affine), range), x, y, traffic);
    }
  }
  map(FakeQuantizer<Contract, UniformAffine>(UniformAffine(affine), range), x, y, traffic);
}

template <VectorContract Contract, RealInput X>
void fake_quantize(std::span<const X> x, std::span<float> y, const AffineRow& row, CodeRange range) noexcept {
  map_cached(FakeQuantizer<Contract, RowAffine>(RowAffine(row), range), x, y, 0);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
