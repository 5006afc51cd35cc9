// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/requantize.hpp; the reference is kernel/reference/requantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Gives what a contract rounds: the accumulator times one factor, or times two in turn.
template <VectorRequantize Contract>
struct ScaledAccumulator {
  static constexpr bool kCanBeNan = false;
  const std::int32_t* acc;
  F first, second, offset;
  std::int32_t shift;

  AMCT_VOP ScaledAccumulator(const std::int32_t* values, const RequantizeFactors& factors, std::int32_t offset_code)
      : acc(values),
        first(set(factors.first)),
        second(set(factors.second)),
        offset(set(static_cast<float>(offset_code))),
        shift(RequantizeTraits<Contract>::kAddsAfter ? offset_code : 0) {}

  AMCT_VOP F operator()(std::size_t i) const {
    F scaled = mul(to_float(load(acc + i)), first);
    if constexpr (RequantizeTraits<Contract>::kTwoFactors) scaled = mul(scaled, second);
    if constexpr (!RequantizeTraits<Contract>::kAddsAfter) scaled = add(scaled, offset);
    return scaled;
  }
};

template <VectorRequantize Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, const typename Contract::Params& params,
                std::int32_t offset, CodeRange range) noexcept {
  const ScaledAccumulator<Contract> source(acc.data(), RequantizeTraits<Contract>::factors(params), offset);
  store_rounded(source, codes, range, [&](std::size_t first, std::size_t count) {
    reference::requantize<Contract>(acc.subspan(first, count), codes.subspan(first, count), params, offset, range);
  });
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
