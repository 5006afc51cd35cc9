// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace amct::simd {

/// Rows of a tile, and bytes of a row.
inline constexpr std::size_t kTileRows = 16;
inline constexpr std::size_t kTileBytes = 64;

#if defined(__x86_64__)

/// The eight tile registers of AMX and what integer products need of them. Only where is_available(Arch::amx); between
/// begin() and end() of the same thread.
///
/// Assembly instead of intrinsics: g++ 12 takes only 8 bytes of the configuration for an input, and drops stores of the
/// others, and its intrinsics want names of registers as literals.
struct AmxTiles {
  /// All tiles get 16 rows of 64 bytes.
  static void begin() noexcept {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1;
      std::uint8_t start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    const Configuration configuration;
    asm volatile("ldtilecfg %0" : : "m"(configuration));
  }
  /// Gives the registers back, so that switching threads need not save them.
  static void end() noexcept { asm volatile("tilerelease"); }

  /// Rows of memory, `step` bytes apart, to a tile.
  template <int kTile>
  static void load(const void* from, std::size_t step) noexcept {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(void* to, std::size_t step) noexcept {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(step), "i"(kTile) : "memory");
  }
  /// sum[i][j] += sum over k of 64 codes[i][k] * weights[k / 4][4 * j + k % 4], modulo 2^32.
  template <int kSums, int kCodes, int kWeights>
  static void add_signed() noexcept {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kCodes), "i"(kWeights));
  }
  /// The same with unsigned codes.
  template <int kSums, int kCodes, int kWeights>
  static void add_unsigned() noexcept {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kCodes), "i"(kWeights));
  }
};

#endif

}  // namespace amct::simd
