// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
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
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/reference/fake_quantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/fake_quantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
template <CodeContract Contract, RealInput X>
void fake_quantize(std::span<const X> x, std::span<float> y, const Affine& affine, CodeRange range,
                   Traffic traffic = Traffic::cached) noexcept {
  if constexpr (VectorContract<Contract>) {
    if (is_in_reach<Contract, std::int16_t>(affine)) {
      AMCT_DISPATCH_VECTOR(fake_quantize<Contract>(x, y, affine, range, traffic))
    }
  }
  reference::fake_quantize<Contract>(x, y, range, [&](std::size_t) -> const Affine& { return affine; });
}

/// The same with parameters for each element, which a vector body can compute.
template <VectorContract Contract, RealInput X>
void fake_quantize(std::span<const X> x, std::span<float> y, const AffineRow& row, CodeRange range) noexcept {
  AMCT_DISPATCH_VECTOR(fake_quantize<Contract>(x, y, row, range))
}

template <CodeContract Contract, RealInput X>
void fake_quantize_tensor(std::span<const X> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  assert(x.size() == y.size());
  const auto traffic = simd::choose_traffic(x.data(), y.data(), x.size_bytes() + y.size_bytes());
  parallel_for(x.size(), kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { fake_quantize<Contract>(x.subspan(first, count), y.subspan(first, count), affine, range, traffic); });
  });
}

template <CodeContract Contract, RealInput X, Granularity G>
void fake_quantize_channels(std::span<const X> x, std::span<float> y, const G& layout, std::span<const Affine> affines,
                            CodeRange range) noexcept {
  assert(x.size() == layout.size() && y.size() == x.size() && affines.size() == layout.channels());
  const auto of_row = [&](const AffineRow& row, std::size_t first, std::size_t count) {
    if constexpr (VectorContract<Contract>) {
      fake_quantize<Contract>(x.subspan(first, count), y.subspan(first, count), row, range);
    }
  };
  for_each_channel(
      layout, are_in_reach<Contract, std::int16_t>(affines),
      [&](std::size_t channel, std::size_t first, std::size_t count) {
        fake_quantize<Contract>(x.subspan(first, count), y.subspan(first, count), affines[channel], range);
      },
      [&] { return AffineRows(affines, of_row); });
}

}  // namespace kernel

/// Quantizes and dequantizes: the float values that integer execution would see.
///
/// \param x  values, float32 or halves; NaN stays NaN (made quiet), infinities saturate
/// \param y  as many results; may be the same memory as x
/// \pre  is_usable(affine)
/// \note O(n), no allocation. Large arrays are split over threads, with the same result, and from 64 MiB of traffic on
///       the results bypass the caches unless they overwrite x (simd/traffic.hpp).
template <CodeContract Contract = ReciprocalRoundAdd>
void fake_quantize(std::span<const float> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  kernel::fake_quantize_tensor<Contract>(x, y, affine, range);
}
template <CodeContract Contract = ReciprocalRoundAdd>
void fake_quantize(std::span<const Half> x, std::span<float> y, const Affine& affine, CodeRange range) noexcept {
  kernel::fake_quantize_tensor<Contract>(x, y, affine, range);
}

/// The same with a scale and an offset for each channel or group.
///
/// \param layout   which elements belong to which channel: ChannelLayout (any axis), GroupLayout
/// \param affines  one for each of layout.channels(), all usable
/// \pre  x.size() == layout.size()
template <CodeContract Contract = ReciprocalRoundAdd, Granularity G>
void fake_quantize(std::span<const float> x, std::span<float> y, const G& layout, std::span<const Affine> affines,
                   CodeRange range) noexcept {
  kernel::fake_quantize_channels<Contract>(x, y, layout, affines, range);
}
template <CodeContract Contract = ReciprocalRoundAdd, Granularity G>
void fake_quantize(std::span<const Half> x, std::span<float> y, const G& layout, std::span<const Affine> affines,
                   CodeRange range) noexcept {
  kernel::fake_quantize_channels<Contract>(x, y, layout, affines, range);
}

}  // namespace amct
