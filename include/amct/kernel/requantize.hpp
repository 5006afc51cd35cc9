// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/bits.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/requantize.hpp>
#include <amct/kernel/channels.hpp>
#include <amct/kernel/map.hpp>
#include <amct/kernel/reference/requantize.hpp>
#include <amct/kernel/requantize_factors.hpp>
#include <amct/kernel/to_codes.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/requantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// Whether the vector bodies compute such parameters.
template <VectorRequantize Contract, CodeStorage T>
[[nodiscard]] constexpr bool is_in_reach(const typename Contract::Params& params, std::int32_t offset) noexcept {
  return is_within(offset, sizeof(T) == 1 ? kMostOffset16 : kMostOffset) &&
         are_usable(RequantizeTraits<Contract>::factors(params));
}

/// On the active instruction set, on this thread.
template <RequantizeContract Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, std::int32_t bias,
                const typename Contract::Params& params, std::int32_t offset, CodeRange range,
                Traffic traffic = Traffic::cached) noexcept {
  if constexpr (VectorRequantize<Contract>) {
    if (is_in_reach<Contract, T>(params, offset)) {
      const auto factors = RequantizeTraits<Contract>::factors(params);
      AMCT_DISPATCH_VECTOR(requantize<Contract>(acc, codes, bias, factors, offset, range, traffic))
    }
  }
  reference::requantize<Contract>(acc, codes, bias, params, offset, range);
}

/// The same with parameters for each element, which a vector body can compute.
template <RowRequantize Contract, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes,
                const typename RequantizeTraits<Contract>::Row& row, std::int32_t offset, CodeRange range) noexcept {
  AMCT_DISPATCH_VECTOR(requantize<Contract>(acc, codes, row, offset, range))
}

/// Whether rows of parameters can be computed: a vector contract without a shift, and all parameters in reach.
template <RequantizeContract Contract, CodeStorage T>
[[nodiscard]] constexpr bool can_use_rows(std::span<const typename Contract::Params> params,
                                          std::int32_t offset) noexcept {
  if constexpr (RowRequantize<Contract>) {
    return std::ranges::all_of(params, [&](const auto& p) { return is_in_reach<Contract, T>(p, offset); });
  }
  return false;
}

/// A row and what fills it, for for_each_channel.
template <RequantizeContract Contract, class Apply>
class RequantizeRows {
 public:
  RequantizeRows(std::span<const std::int32_t> bias, std::span<const typename Contract::Params> params,
                 const Apply& apply) noexcept
      : bias_(bias), params_(params), apply_(apply) {}

  void set(std::size_t channel, std::size_t first, std::size_t count) noexcept {
    if constexpr (RowRequantize<Contract>) row_.set(first, count, bias(channel), factors(channel));
  }
  void set_each(std::size_t channel, std::size_t count) noexcept {
    if constexpr (RowRequantize<Contract>) {
      for (std::size_t i = 0; i < count; ++i) row_.set_one(i, bias(channel + i), factors(channel + i));
    }
  }
  void repeat(std::size_t period, std::size_t count) noexcept { row_.repeat(period, count); }
  void apply(std::size_t first, std::size_t count) const noexcept { apply_(row_, first, count); }

 private:
  [[nodiscard]] std::int32_t bias(std::size_t channel) const noexcept { return bias_.empty() ? 0 : bias_[channel]; }
  [[nodiscard]] auto factors(std::size_t channel) const noexcept {
    return RequantizeTraits<Contract>::factors(params_[channel]);
  }

  typename RowOf<Contract>::type row_;
  std::span<const std::int32_t> bias_;
  std::span<const typename Contract::Params> params_;
  const Apply& apply_;
};

}  // namespace kernel

/// Turns int32 accumulators into codes of `range` under a named contract (core/requantize.hpp).
///
/// \param acc     accumulators, all with the same parameters
/// \param codes   as many codes; T must hold `range`
/// \param params  parameters of the contract, such as {multiplier} or {dequant_scale, next_scale}
/// \param offset  offset of the codes
/// \note O(n), no allocation. Large arrays are split over threads, with the same result, and from 64 MiB of traffic on
///       the codes bypass the caches (simd/traffic.hpp).
template <RequantizeContract Contract = RequantizeByScales<>, CodeStorage T>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, const typename Contract::Params& params,
                std::int32_t offset, CodeRange range) noexcept {
  assert(acc.size() == codes.size());
  assert(range.min() >= std::numeric_limits<T>::min() && range.max() <= std::numeric_limits<T>::max());
  const auto traffic = simd::choose_traffic(acc.data(), codes.data(), acc.size_bytes() + codes.size_bytes());
  parallel_for(acc.size(), kernel::kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] {
      kernel::requantize<Contract>(acc.subspan(first, count), codes.subspan(first, count), 0, params, offset, range,
                                   traffic);
    });
  });
}

/// The same with parameters, and a bias that is added to the accumulators first, for each channel or group: the end of
/// a convolution or matrix multiplication.
///
/// \param layout  which elements belong to which channel: ChannelLayout (any axis), GroupLayout
/// \param bias    one for each of layout.channels(), or none at all; added modulo 2^32
/// \param params  one for each of layout.channels()
/// \pre  acc.size() == layout.size()
template <RequantizeContract Contract = RequantizeByScales<>, CodeStorage T, Granularity G>
void requantize(std::span<const std::int32_t> acc, std::span<T> codes, const G& layout,
                std::span<const std::int32_t> bias, std::span<const typename Contract::Params> params,
                std::int32_t offset, CodeRange range) noexcept {
  assert(acc.size() == layout.size() && codes.size() == acc.size());
  assert(params.size() == layout.channels() && (bias.empty() || bias.size() == params.size()));
  assert(range.min() >= std::numeric_limits<T>::min() && range.max() <= std::numeric_limits<T>::max());
  const auto of_row = [&](const auto& row, std::size_t first, std::size_t count) {
    if constexpr (kernel::RowRequantize<Contract>) {
      kernel::requantize<Contract>(acc.subspan(first, count), codes.subspan(first, count), row, offset, range);
    }
  };
  kernel::for_each_channel(
      layout, kernel::can_use_rows<Contract, T>(params, offset),
      [&](std::size_t channel, std::size_t first, std::size_t count) {
        kernel::requantize<Contract>(acc.subspan(first, count), codes.subspan(first, count),
                                     bias.empty() ? 0 : bias[channel], params[channel], offset, range);
      },
      [&] { return kernel::RequantizeRows<Contract, decltype(of_row)>(bias, params, of_row); });
}

}  // namespace amct
