// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/half.hpp>
#include <amct/core/packed4.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/affine_row.hpp>
#include <amct/kernel/map.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/reference/packed4.hpp>
#include <amct/kernel/to_codes.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/packed4-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// Neighbours in memory, on the active instruction set, on this thread.
inline void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes, Traffic traffic) noexcept {
  AMCT_DISPATCH_VECTOR(pack4(codes, bytes, traffic))
  reference::pack4(codes, bytes, {1, codes.size(), 1});
}

inline void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes, Traffic traffic) noexcept {
  AMCT_DISPATCH_VECTOR(unpack4(bytes, codes, traffic))
  reference::unpack4(bytes, codes, {1, codes.size(), 1});
}

template <CodeContract Contract, RealInput X>
void quantize4(std::span<const X> x, std::span<std::int8_t> bytes, const Affine& affine, Traffic traffic) noexcept {
  if constexpr (VectorContract<Contract>) {
    if (is_in_reach<Contract, std::int8_t>(affine)) {
      AMCT_DISPATCH_VECTOR(quantize4<Contract>(x, bytes, affine, traffic))
    }
  }
  reference::quantize4<Contract>(x, bytes, affine);
}

inline void dequantize4(std::span<const std::int8_t> bytes, std::span<float> x, const Affine& affine,
                        Traffic traffic) noexcept {
  AMCT_DISPATCH_VECTOR(dequantize4(bytes, x, affine, traffic))
  reference::dequantize4(bytes, x, affine);
}

/// Calls `work(first_code, codes, first_byte, bytes)` for parts of an array, on several threads if it is large.
template <class Work>
void for_each_packed_part(std::size_t codes, const Work& work) {
  parallel_for(codes, kParallelGrain, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] { work(first, count, first / 2, packed4_size(count)); });
  });
}

template <CodeContract Contract, RealInput X>
void quantize4_tensor(std::span<const X> x, std::span<std::int8_t> bytes, const Affine& affine) noexcept {
  assert(bytes.size() == packed4_size(x.size()));
  const auto traffic = simd::choose_traffic(x.data(), bytes.data(), x.size_bytes() + bytes.size());
  for_each_packed_part(x.size(), [&](std::size_t first, std::size_t count, std::size_t byte, std::size_t size) {
    quantize4<Contract>(x.subspan(first, count), bytes.subspan(byte, size), affine, traffic);
  });
}

}  // namespace kernel

/// Packs neighbours in memory, two codes a byte (core/packed4.hpp). \pre bytes.size() == packed4_size(codes.size()),
/// all codes in -8..7 \note O(n), no allocation, usable in constant expressions. Large arrays are split over threads.
constexpr void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes) noexcept {
  assert(bytes.size() == packed4_size(codes.size()));
  if (std::is_constant_evaluated()) return kernel::reference::pack4(codes, bytes, {1, codes.size(), 1});
  const auto traffic = simd::choose_traffic(codes.data(), bytes.data(), codes.size() + bytes.size());
  kernel::for_each_packed_part(codes.size(),
                               [&](std::size_t first, std::size_t count, std::size_t byte, std::size_t size) {
                                 kernel::pack4(codes.subspan(first, count), bytes.subspan(byte, size), traffic);
                               });
}

/// The reverse. \pre bytes.size() == packed4_size(codes.size())
constexpr void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes) noexcept {
  assert(bytes.size() == packed4_size(codes.size()));
  if (std::is_constant_evaluated()) return kernel::reference::unpack4(bytes, codes, {1, codes.size(), 1});
  const auto traffic = simd::choose_traffic(bytes.data(), codes.data(), codes.size() + bytes.size());
  kernel::for_each_packed_part(codes.size(),
                               [&](std::size_t first, std::size_t count, std::size_t byte, std::size_t size) {
                                 kernel::unpack4(bytes.subspan(byte, size), codes.subspan(first, count), traffic);
                               });
}

/// Packs along the axis of the layout; the result is the dense tensor [outer, (length+1)/2, inner].
/// \pre codes.size() == layout.codes(), bytes.size() == layout.bytes(), all codes in -8..7
constexpr void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes,
                     const Packed4Layout& layout) noexcept {
  assert(codes.size() == layout.codes() && bytes.size() == layout.bytes());
  if (layout.inner == 1 && layout.length % 2 == 0) return pack4(codes, bytes);
  kernel::reference::pack4(codes, bytes, layout);
}

/// The reverse; the nibble that completes an odd row is dropped.
constexpr void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes,
                       const Packed4Layout& layout) noexcept {
  assert(codes.size() == layout.codes() && bytes.size() == layout.bytes());
  if (layout.inner == 1 && layout.length % 2 == 0) return unpack4(bytes, codes);
  kernel::reference::unpack4(bytes, codes, layout);
}

/// Turns real values into packed 4-bit codes: quantize() and pack4() in one pass.
/// \pre is_usable(affine), bytes.size() == packed4_size(x.size())
/// \note O(n), no allocation. Large arrays are split over threads, with the same result.
template <CodeContract Contract = ReciprocalRoundAdd>
void quantize4(std::span<const float> x, std::span<std::int8_t> bytes, const Affine& affine) noexcept {
  kernel::quantize4_tensor<Contract>(x, bytes, affine);
}
template <CodeContract Contract = ReciprocalRoundAdd>
void quantize4(std::span<const Half> x, std::span<std::int8_t> bytes, const Affine& affine) noexcept {
  kernel::quantize4_tensor<Contract>(x, bytes, affine);
}

/// Turns packed 4-bit codes back into real values: unpack4() and dequantize() in one pass.
/// \pre bytes.size() == packed4_size(x.size())
/// \note O(n), no allocation. Large arrays are split over threads, with the same result.
inline void dequantize4(std::span<const std::int8_t> bytes, std::span<float> x, const Affine& affine) noexcept {
  assert(bytes.size() == packed4_size(x.size()));
  const auto traffic = simd::choose_traffic(bytes.data(), x.data(), x.size_bytes() + bytes.size());
  kernel::for_each_packed_part(x.size(), [&](std::size_t first, std::size_t count, std::size_t byte, std::size_t size) {
    kernel::dequantize4(bytes.subspan(byte, size), x.subspan(first, count), affine, traffic);
  });
}

}  // namespace amct
