// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/requantize.hpp; the reference is kernel/reference/requantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// One bias, or none, and one set of factors for all elements.
template <bool kBias>
class UniformFactors {
 public:
  AMCT_VOP UniformFactors(std::int32_t bias, const RequantizeFactors& factors)
      : bias_(set(bias)),
        shift_(factors.shift),
        least_(set(factors.least)),
        most_(set(factors.most)),
        first_(set(factors.first)),
        second_(set(factors.second)) {}

  AMCT_VOP I with_bias(I acc, std::size_t) const { return kBias ? add(acc, bias_) : acc; }
  AMCT_VOP F first(std::size_t) const { return first_; }
  AMCT_VOP F second(std::size_t) const { return second_; }
  AMCT_VOP I shifted(I acc) const { return at_least(at_most(shift_right(acc, shift_), most_), least_); }

 private:
  I bias_;
  int shift_;
  I least_, most_;
  F first_, second_;
};

/// Factors for each element, without a shift.
class RowFactors {
 public:
  AMCT_VOP explicit RowFactors(const RequantizeRow& row) : row_(&row) {}

  AMCT_VOP I with_bias(I acc, std::size_t i) const { return add(acc, load(row_->bias + i)); }
  AMCT_VOP F first(std::size_t i) const { return load(row_->first + i); }
  AMCT_VOP F second(std::size_t i) const { return load(row_->second + i); }
  AMCT_VOP I shifted(I acc) const { return acc; }

 private:
  const RequantizeRow* row_;
};

/// Accumulators as a stage of to_codes-inl.hpp: with the bias, shifted, times one factor or times two in turn.
template <FloatRequantize Contract, class Params>
class ScaledAccumulators {
 public:
  static constexpr bool kCanBeNan = false;
  using Scalar = float;
  static constexpr bool kAddsAfter = RequantizeTraits<Contract>::kAddsAfter;

  AMCT_VOP ScaledAccumulators(const Params& params, std::int32_t offset, CodeRange range)
      : params_(params),
        most_(set(static_cast<float>(range.max()) - (kAddsAfter ? static_cast<float>(offset) : 0.0F))),
        offset_(set(static_cast<float>(offset))),
        int_offset_(set(offset)),
        int16_offset_(set16(static_cast<std::int16_t>(offset))) {}

  AMCT_VOP F scaled(const std::int32_t* acc, std::size_t i) const {
    I sum = params_.with_bias(load(acc), i);
    if constexpr (RequantizeTraits<Contract>::kShifts) sum = params_.shifted(sum);
    F scaled = mul(to_float(sum), params_.first(i));
    if constexpr (RequantizeTraits<Contract>::kTwoFactors) scaled = mul(scaled, params_.second(i));
    if constexpr (!kAddsAfter) scaled = add(scaled, offset_);
    return scaled;
  }
  AMCT_VOP F most(std::size_t) const { return most_; }
  AMCT_VOP H int16_offset(std::size_t) const { return int16_offset_; }
  AMCT_VOP I int_offset(std::size_t) const { return int_offset_; }

 private:
  Params params_;
  F most_, offset_;
  I int_offset_;
  H int16_offset_;
};

/// One bias and one fixed-point multiplier for all elements.
class UniformFixed {
 public:
  AMCT_VOP UniformFixed(std::int32_t bias, const FixedFactors& factors)
      : bias_(set(bias)), multiplier_(set(factors.multiplier)), shift_(set(std::int32_t{factors.shift})) {}

  AMCT_VOP I bias(std::size_t) const { return bias_; }
  AMCT_VOP I multiplier(std::size_t) const { return multiplier_; }
  AMCT_VOP I shift(std::size_t) const { return shift_; }

 private:
  I bias_, multiplier_, shift_;
};

/// The same for each element.
class RowFixed {
 public:
  AMCT_VOP explicit RowFixed(const FixedRow& row) : row_(&row) {}

  AMCT_VOP I bias(std::size_t i) const { return load(row_->bias + i); }
  AMCT_VOP I multiplier(std::size_t i) const { return load(row_->multiplier + i); }
  AMCT_VOP I shift(std::size_t i) const { return load(row_->shift + i); }

 private:
  const FixedRow* row_;
};

/// Accumulators in fixed-point arithmetic as a stage of to_codes-inl.hpp.
template <FixedRequantize Contract, class Params>
class FixedAccumulators {
 public:
  using Traits = RequantizeTraits<Contract>;
  static constexpr bool kCanBeNan = false;
  using Scalar = std::int32_t;
  static constexpr bool kAddsAfter = true;

  AMCT_VOP FixedAccumulators(const Params& params, std::int32_t offset, CodeRange range)
      : params_(params),
        most_(set(range.max() - offset)),
        bits_(set(31)),
        int_offset_(set(offset)),
        int16_offset_(set16(static_cast<std::int16_t>(offset))) {}

  AMCT_VOP I scaled(const std::int32_t* acc, std::size_t i) const {
    const I sum = add(load(acc), params_.bias(i));
    if constexpr (Traits::kTwice) {
      return divide_half_away(multiply_divide<false>(sum, params_.multiplier(i), bits_), params_.shift(i));
    } else {
      return multiply_divide<Traits::kAway>(sum, params_.multiplier(i), add(params_.shift(i), bits_));
    }
  }
  AMCT_VOP I most(std::size_t) const { return most_; }
  AMCT_VOP H int16_offset(std::size_t) const { return int16_offset_; }
  AMCT_VOP I int_offset(std::size_t) const { return int_offset_; }

 private:
  Params params_;
  I most_, bits_, int_offset_;
  H int16_offset_;
};

template <class Contract, class FloatParams, class FixedParams>
struct StageOf {
  using type = ScaledAccumulators<Contract, FloatParams>;
  using Params = FloatParams;
};
template <FixedRequantize Contract, class FloatParams, class FixedParams>
struct StageOf<Contract, FloatParams, FixedParams> {
  using type = FixedAccumulators<Contract, FixedParams>;
  using Params = FixedParams;
};

template <VectorRequantize Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, std::int32_t bias,
                const typename RequantizeTraits<Contract>::Factors& factors, std::int32_t offset, CodeRange range,
                Traffic traffic) noexcept {
  const auto run = [&]<class Of>(Of) {
    using Stage = typename Of::type;
    map(ToCodes<T, Stage>(Stage(typename Of::Params(bias, factors), offset, range), range), acc, codes, traffic);
  };
  if (bias == 0) return run(StageOf<Contract, UniformFactors<false>, UniformFixed>{});
  run(StageOf<Contract, UniformFactors<true>, UniformFixed>{});
}

template <RowRequantize Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes,
                const typename RequantizeTraits<Contract>::Row& row, std::int32_t offset, CodeRange range) noexcept {
  using Of = StageOf<Contract, RowFactors, RowFixed>;
  using Stage = typename Of::type;
  map_cached(ToCodes<T, Stage>(Stage(typename Of::Params(row), offset, range), range), acc, codes, 0);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
