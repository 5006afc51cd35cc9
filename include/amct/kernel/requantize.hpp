// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/bits.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/requantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/reference/requantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

namespace amct::kernel {

/// The float factors of a requantization; with one, the second is 1 and not used.
struct RequantizeFactors {
  float first, second;
};

/// How the vector bodies compute a contract; contracts without a specialisation take the reference.
template <class Contract>
struct RequantizeTraits;

template <OffsetOrder O>
struct RequantizeTraits<RequantizeByMultiplier<O, HalfEven>> {
  static constexpr bool kTwoFactors = false;
  static constexpr bool kAddsAfter = std::same_as<O, RoundThenAdd>;
  [[nodiscard]] static RequantizeFactors factors(const auto& params) noexcept { return {params.multiplier, 1.0F}; }
};

template <VectorContract C>
requires(!kDivides<C>) struct RequantizeTraits<RequantizeByScales<C>> {
  static constexpr bool kTwoFactors = true;
  static constexpr bool kAddsAfter = kAddsAfterRounding<C>;
  [[nodiscard]] static RequantizeFactors factors(const auto& params) noexcept {
    return {params.dequant_scale, 1.0F / params.next_scale};
  }
};

/// A contract that the vector bodies compute.
template <class C>
concept VectorRequantize = RequantizeContract<C> && requires {
  RequantizeTraits<C>::kTwoFactors;
};

/// Finite factors cannot make a NaN of a finite accumulator: the first product is finite or infinite and not 0 * inf.
[[nodiscard]] constexpr bool are_usable(const RequantizeFactors& f) noexcept {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return f.first > 0.0F && f.first <= kLargest && f.second > 0.0F && f.second <= kLargest;
}

}  // namespace amct::kernel

#define AMCT_KERNEL_BODY <amct/kernel/body/requantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
template <RequantizeContract Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, const typename Contract::Params& params,
                std::int32_t offset, CodeRange range) noexcept {
  if constexpr (VectorRequantize<Contract>) {
    constexpr std::int32_t kMost = sizeof(T) == 1 ? kMostOffset16 : kMostOffset;
    const bool in_reach =
        has_offset_within({1.0F, offset}, kMost) && are_usable(RequantizeTraits<Contract>::factors(params));
    if (in_reach) AMCT_DISPATCH(requantize<Contract>(acc, codes, params, offset, range))
  }
  reference::requantize<Contract>(acc, codes, params, offset, range);
}

}  // namespace kernel

/// Turns int32 accumulators into codes of `range` under a named contract (core/requantize.hpp).
///
/// \param acc     accumulators, all with the same parameters
/// \param codes   as many codes; T must hold `range`
/// \param params  parameters of the contract, such as {multiplier} or {dequant_scale, next_scale}
/// \param offset  offset of the codes
/// \note O(n), no allocation. Large arrays are split over threads, with the same result.
template <RequantizeContract Contract = RequantizeByScales<>, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, const typename Contract::Params& params,
                std::int32_t offset, CodeRange range) noexcept {
  assert(acc.size() == codes.size());
  assert(range.min() >= std::numeric_limits<T>::min() && range.max() <= std::numeric_limits<T>::max());
  parallel_for(acc.size(), kernel::kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] {
      kernel::requantize<Contract>(acc.subspan(first, count), codes.subspan(first, count), params, offset, range);
    });
  });
}

}  // namespace amct
