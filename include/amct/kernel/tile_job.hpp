// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace amct::kernel {

/// The largest job: rows and panels. It may read and write up to kMostTileRows rows, even if it counts fewer.
inline constexpr std::size_t kMostTileRows = 64;
inline constexpr std::size_t kMostTilePanels = 4;
/// Sums from a row of a job to the next.
inline constexpr std::size_t kSumStep = 64;

/// What a tile of an integer product reads and writes: for each of `count` rows and each column of `panel_count`
/// panels, start[column] plus the sum over all groups of code * weight, modulo 2^32.
struct TileJob {
  const std::byte* rows = nullptr;  ///< codes as the kernel wants them
  std::size_t row_step = 0;         ///< bytes
  std::size_t count = 0;
  const std::int8_t* panels = nullptr;  ///< as PackedWeights has them
  std::size_t panel_step = 0;           ///< bytes
  std::size_t panel_count = 0;
  std::size_t groups = 0;
  const std::int32_t* start = nullptr;
  bool continues = false;        ///< sums start with what they are, instead
  std::int32_t* sums = nullptr;  ///< rows kSumStep apart; aligned to 64 bytes
};

/// Rows of codes on their way to a tile.
struct CodesToConvert {
  const void* from = nullptr;
  std::size_t from_step = 0;  ///< bytes
  std::size_t rows = 0;
  std::size_t count = 0;  ///< codes of a row
  std::byte* to = nullptr;
  std::size_t to_step = 0;  ///< bytes
};

}  // namespace amct::kernel
