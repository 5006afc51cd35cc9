// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <amct/kernel/amx_tile.hpp>
#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/reference/dot_tile.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/tile_job.hpp>
#include <amct/simd/amx.hpp>
#include <amct/simd/arch.hpp>
#include <amct/simd/dot.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/dot_tile-inl.hpp>
#include <amct/simd/for_each_dot_arch.hpp>
#define AMCT_KERNEL_BODY <amct/kernel/body/convert_codes-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct::kernel {

/// How the tiles of an instruction set multiply codes of one type.
struct TileKernel {
  std::size_t rows = 60;          ///< the most of a job
  std::size_t row_step = 6;       ///< what numbers of rows should be multiples of
  std::size_t panels = 4;         ///< the most of a job
  std::size_t code_bytes = 1;     ///< of a converted code
  std::size_t row_alignment = 4;  ///< codes of a row are read up to a multiple of this; those behind it must be 0
  std::int32_t shift = 0;         ///< what a converted code is larger by
  /// Null: codes stay as they are. If converted codes are bytes, they may go where they come from.
  void (*convert)(const CodesToConvert& job) noexcept = nullptr;
  void (*multiply)(const TileJob& job) noexcept = nullptr;
  /// Around the jobs of a thread; null: nothing.
  void (*begin)() noexcept = nullptr;
  void (*end)() noexcept = nullptr;
};

/// The kernel of tiles, on AMX or with the operations of Tiles in their place, for codes of a byte.
template <class Tiles, ActivationCode T>
requires(sizeof(T) == 1) [[nodiscard]] TileKernel amx_kernel() noexcept {
  return {.rows = 4 * simd::kTileRows,
          .row_step = 2 * simd::kTileRows,
          .row_alignment = simd::kTileBytes,
          .multiply = &multiply_in_tiles<Tiles, std::is_signed_v<T>>,
          .begin = &Tiles::begin,
          .end = &Tiles::end};
}

/// The kernel of an instruction set for activations of T.
template <ActivationCode T>
[[nodiscard]] inline TileKernel tile_kernel([[maybe_unused]] simd::Arch arch) noexcept {
#if defined(__x86_64__)
  if constexpr (sizeof(T) == 1) {
    if (arch == simd::Arch::amx) return amx_kernel<simd::AmxTiles, T>();
    if (arch >= simd::Arch::avx512vnni) {
      TileKernel kernel{.multiply = &avx512vnni::multiply<simd::avx512vnni::DotBytes>};
      if (std::is_signed_v<T>) kernel.shift = 128, kernel.convert = &avx512::flip_rows<T>;
      return kernel;
    }
  }
  if (arch >= simd::Arch::avx512) {
    const bool is_vnni = arch >= simd::Arch::avx512vnni;
    return {.code_bytes = 2,
            .convert = &avx512::widen_rows<T>,
            .multiply = is_vnni ? &avx512vnni::multiply<simd::avx512vnni::DotPairs>
                                : &avx512::multiply<simd::avx512::DotPairs>};
  }
  if (arch == simd::Arch::avx2) {
    return {.code_bytes = 2, .convert = &avx2::widen_rows<T>, .multiply = &avx2::multiply<simd::avx2::DotPairs>};
  }
#elif defined(__aarch64__)
  if (arch != simd::Arch::scalar) {
    if constexpr (sizeof(T) == 2) {
      return {.code_bytes = 2, .convert = &neon::widen_rows<T>, .multiply = &neon::multiply<simd::neon::DotPairs>};
    } else {
      TileKernel kernel{.multiply = &neon::multiply<simd::neon::DotBytes>};
#if defined(AMCT_HAS_NEON_DOT)
      if (arch == simd::Arch::neon_dot) kernel.multiply = &neon_dot::multiply<simd::neon_dot::DotBytes>;
#endif
      if (!std::is_signed_v<T>) kernel.shift = -128, kernel.convert = &neon::flip_rows<T>;
      return kernel;
    }
  }
#endif
  return {.code_bytes = sizeof(T), .multiply = &reference::multiply<T>};
}

}  // namespace amct::kernel
