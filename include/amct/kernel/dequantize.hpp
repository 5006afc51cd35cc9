// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/affine_row.hpp>
#include <amct/kernel/channels.hpp>
#include <amct/kernel/map.hpp>
#include <amct/kernel/reference/dequantize.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/dequantize-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set, on this thread.
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine,
                Traffic traffic = Traffic::cached) noexcept {
  AMCT_DISPATCH_VECTOR(dequantize(codes, x, affine, traffic))
  reference::dequantize(codes, x, [&](std::size_t) -> const Affine& { return affine; });
}

/// The same with parameters for each element, for vector bodies.
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const AffineRow& row) noexcept {
  AMCT_DISPATCH_VECTOR(dequantize(codes, x, row))
}

}  // namespace kernel

/// Turns codes back into real values: (code - offset) * scale.
///
/// \pre codes and x have the same size and do not overlap
/// \note O(n), no allocation. Large arrays are split over threads, with the same result, and from 64 MiB of traffic on
///       the values bypass the caches (simd/traffic.hpp).
template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine) noexcept {
  assert(x.size() == codes.size());
  const auto traffic = simd::choose_traffic(codes.data(), x.data(), x.size_bytes() + codes.size_bytes());
  parallel_for(x.size(), kernel::kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment(
        [&] { kernel::dequantize(codes.subspan(first, count), x.subspan(first, count), affine, traffic); });
  });
}

/// The same with a scale and an offset for each channel or group.
///
/// \param layout   which elements belong to which channel: ChannelLayout (any axis), GroupLayout
/// \param affines  one for each of layout.channels()
/// \pre  codes.size() == layout.size()
template <CodeStorage T, Granularity G>
void dequantize(std::span<const T> codes, std::span<float> x, const G& layout,
                std::span<const Affine> affines) noexcept {
  assert(codes.size() == layout.size() && x.size() == codes.size() && affines.size() == layout.channels());
  const auto of_row = [&](const kernel::AffineRow& row, std::size_t first, std::size_t count) {
    kernel::dequantize(codes.subspan(first, count), x.subspan(first, count), row);
  };
  kernel::for_each_channel(
      layout, true,
      [&](std::size_t channel, std::size_t first, std::size_t count) {
        kernel::dequantize(codes.subspan(first, count), x.subspan(first, count), affines[channel]);
      },
      [&] { return kernel::AffineRows(affines, of_row); });
}

}  // namespace amct
