// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/half.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/affine_row.hpp>
#include <amct/kernel/channels.hpp>
#include <amct/kernel/map.hpp>
#include <amct/kernel/reference/quantize.hpp>
#include <amct/kernel/to_codes.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/quantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// Whether the vector bodies compute such scales and offsets.
template <VectorContract Contract, CodeStorage T>
[[nodiscard]] constexpr bool is_in_reach(const Affine& affine) noexcept {
  return is_within(affine.offset, sizeof(T) == 1 ? kMostOffset16 : kMostOffset) &&
         (!kDivides<Contract> || has_exact_quotients(affine.scale));
}
template <CodeContract Contract, CodeStorage T>
[[nodiscard]] constexpr bool are_in_reach(std::span<const Affine> affines) noexcept {
  if constexpr (VectorContract<Contract>) return std::ranges::all_of(affines, is_in_reach<Contract, T>);
  return false;
}

/// On the active instruction set, on this thread.
template <CodeContract Contract, RealInput X, CodeStorage T>
void quantize(std::span<const X> x, std::span<T> codes, const Affine& affine, CodeRange range,
              Traffic traffic = Traffic::cached) noexcept {
  if constexpr (VectorContract<Contract>) {
    if (is_in_reach<Contract, T>(affine)) AMCT_DISPATCH_VECTOR(quantize<Contract>(x, codes, affine, range, traffic))
  }
  reference::quantize<Contract>(x, codes, range, [&](std::size_t) -> const Affine& { return affine; });
}

/// The same with parameters for each element, which a vector body can compute.
template <VectorContract Contract, RealInput X, CodeStorage T>
void quantize(std::span<const X> x, std::span<T> codes, const AffineRow& row, CodeRange range) noexcept {
  AMCT_DISPATCH_VECTOR(quantize<Contract>(x, codes, row, range))
}

template <CodeContract Contract, RealInput X, CodeStorage T>
void quantize_tensor(std::span<const X> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  assert(x.size() == codes.size());
  assert(range.min() >= std::numeric_limits<T>::min() && range.max() <= std::numeric_limits<T>::max());
  const auto traffic = simd::choose_traffic(x.data(), codes.data(), x.size_bytes() + codes.size_bytes());
  parallel_for(x.size(), kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { quantize<Contract>(x.subspan(first, count), codes.subspan(first, count), affine, range, traffic); });
  });
}

template <CodeContract Contract, RealInput X, CodeStorage T, Granularity G>
void quantize_channels(std::span<const X> x, std::span<T> codes, const G& layout, std::span<const Affine> affines,
                       CodeRange range) noexcept {
  assert(x.size() == layout.size() && codes.size() == x.size() && affines.size() == layout.channels());
  assert(range.min() >= std::numeric_limits<T>::min() && range.max() <= std::numeric_limits<T>::max());
  const auto of_row = [&](const AffineRow& row, std::size_t first, std::size_t count) {
    if constexpr (VectorContract<Contract>) {
      quantize<Contract>(x.subspan(first, count), codes.subspan(first, count), row, range);
    }
  };
  for_each_channel(
      layout, are_in_reach<Contract, T>(affines),
      [&](std::size_t channel, std::size_t first, std::size_t count) {
        quantize<Contract>(x.subspan(first, count), codes.subspan(first, count), affines[channel], range);
      },
      [&] { return AffineRows(affines, of_row); });
}

}  // namespace kernel

/// Turns real values into codes of `range` under a named contract.
///
/// \param x      values, float32 or halves; NaN becomes the code of 0.0 (the offset), infinities saturate
/// \param codes  as many codes as values; T must hold `range` (int8 up to 8 bits, int16 above)
/// \pre  is_usable(affine); x and codes do not overlap
/// \note O(n), no allocation. Large arrays are split over threads (core/parallel.hpp), with the same result, and from
///       64 MiB of traffic on the codes bypass the caches (simd/traffic.hpp).
template <CodeContract Contract = ReciprocalRoundAdd, CodeStorage T>
void quantize(std::span<const float> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  kernel::quantize_tensor<Contract>(x, codes, affine, range);
}
template <CodeContract Contract = ReciprocalRoundAdd, CodeStorage T>
void quantize(std::span<const Half> x, std::span<T> codes, const Affine& affine, CodeRange range) noexcept {
  kernel::quantize_tensor<Contract>(x, codes, affine, range);
}

/// The same with a scale and an offset for each channel or group.
///
/// \param layout   which elements belong to which channel: ChannelLayout (any axis), GroupLayout
/// \param affines  one for each of layout.channels(), all usable
/// \pre  x.size() == layout.size()
template <CodeContract Contract = ReciprocalRoundAdd, CodeStorage T, Granularity G>
void quantize(std::span<const float> x, std::span<T> codes, const G& layout, std::span<const Affine> affines,
              CodeRange range) noexcept {
  kernel::quantize_channels<Contract>(x, codes, layout, affines, range);
}
template <CodeContract Contract = ReciprocalRoundAdd, CodeStorage T, Granularity G>
void quantize(std::span<const Half> x, std::span<T> codes, const G& layout, std::span<const Affine> affines,
              CodeRange range) noexcept {
  kernel::quantize_channels<Contract>(x, codes, layout, affines, range);
}

}  // namespace amct
