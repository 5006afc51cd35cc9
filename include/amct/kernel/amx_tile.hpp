// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/tile_job.hpp>
#include <amct/simd/amx.hpp>

/// \file
/// Tiles of an integer product in the registers of AMX: up to two tiles of codes times two of weights. Written over
/// four operations (simd/amx.hpp), so that any machine can run it with others in their place.

namespace amct::kernel {

/// Sums of up to 16 kRowTiles rows with kPanels panels.
template <class Tiles, bool kSigned, std::size_t kRowTiles, std::size_t kPanels>
void multiply_in_tiles(const TileJob& job, std::size_t first_row, std::size_t first_panel) noexcept {
  constexpr std::size_t kGroups = simd::kTileRows;  // a row of a tile of weights is a group
  const std::byte* const rows = job.rows + first_row * job.row_step;
  const std::byte* const more_rows = rows + simd::kTileRows * job.row_step;
  const std::int8_t* const panel = job.panels + first_panel * job.panel_step;
  const std::int8_t* const next_panel = panel + job.panel_step;
  const std::int32_t* const start = job.start + first_panel * PackedWeights::kPanel;
  const auto add = []<int kSums, int kCodes, int kWeights>(std::integer_sequence<int, kSums, kCodes, kWeights>) {
    if constexpr (kSigned) Tiles::template add_signed<kSums, kCodes, kWeights>();
    if constexpr (!kSigned) Tiles::template add_unsigned<kSums, kCodes, kWeights>();
  };
  constexpr std::size_t kSumBytes = kSumStep * sizeof(std::int32_t);
  std::int32_t* const sums = job.sums + first_row * kSumStep + first_panel * PackedWeights::kPanel;
  std::int32_t* const more_sums = sums + simd::kTileRows * kSumStep;
  const std::size_t start_step = job.continues ? kSumBytes : 0;  // a step of 0: the same for all rows
  const std::int32_t* const first = job.continues ? sums : start;
  const std::int32_t* const more = job.continues ? more_sums : start;
  Tiles::template load<0>(first, start_step);
  if constexpr (kPanels == 2) Tiles::template load<1>(first + PackedWeights::kPanel, start_step);
  if constexpr (kRowTiles == 2) Tiles::template load<2>(more, start_step);
  if constexpr (kRowTiles == 2 && kPanels == 2) Tiles::template load<3>(more + PackedWeights::kPanel, start_step);
  for (std::size_t group = 0; group < job.groups; group += kGroups) {
    const std::size_t codes_at = group * PackedWeights::kGroup;
    const std::size_t weights_at = group * PackedWeights::kGroupBytes;
    Tiles::template load<6>(panel + weights_at, PackedWeights::kGroupBytes);
    Tiles::template load<4>(rows + codes_at, job.row_step);
    add(std::integer_sequence<int, 0, 4, 6>{});
    if constexpr (kPanels == 2) {
      Tiles::template load<7>(next_panel + weights_at, PackedWeights::kGroupBytes);
      add(std::integer_sequence<int, 1, 4, 7>{});
    }
    if constexpr (kRowTiles == 2) {
      Tiles::template load<5>(more_rows + codes_at, job.row_step);
      add(std::integer_sequence<int, 2, 5, 6>{});
      if constexpr (kPanels == 2) add(std::integer_sequence<int, 3, 5, 7>{});
    }
  }
  Tiles::template store<0>(sums, kSumBytes);
  if constexpr (kPanels == 2) Tiles::template store<1>(sums + PackedWeights::kPanel, kSumBytes);
  if constexpr (kRowTiles == 2) Tiles::template store<2>(more_sums, kSumBytes);
  if constexpr (kRowTiles == 2 && kPanels == 2) Tiles::template store<3>(more_sums + PackedWeights::kPanel, kSumBytes);
}

/// All rows of a job with kPanels panels; up to 15 rows too many are computed.
template <class Tiles, bool kSigned, std::size_t kPanels>
void multiply_in_tiles(const TileJob& job, std::size_t panel) noexcept {
  constexpr std::size_t kPair = 2 * simd::kTileRows;
  for (std::size_t row = 0; row < job.count; row += kPair) {
    if (job.count - row > simd::kTileRows) {
      multiply_in_tiles<Tiles, kSigned, 2, kPanels>(job, row, panel);
    } else {
      multiply_in_tiles<Tiles, kSigned, 1, kPanels>(job, row, panel);
    }
  }
}

/// A job in tiles, a block of the depth after the other, so that what tiles read stays in the first cache.
template <class Tiles, bool kSigned>
void multiply_in_tiles(const TileJob& whole) noexcept {
  constexpr std::size_t kGroups = 128;
  TileJob job = whole;
  for (std::size_t group = 0; group < whole.groups || group == 0; group += kGroups) {
    job.groups = std::min(kGroups, whole.groups - group);
    std::size_t panel = 0;
    for (; panel + 1 < job.panel_count; panel += 2) multiply_in_tiles<Tiles, kSigned, 2>(job, panel);
    if (panel < job.panel_count) multiply_in_tiles<Tiles, kSigned, 1>(job, panel);
    job.continues = true;
    job.rows += kGroups * PackedWeights::kGroup;
    job.panels += kGroups * PackedWeights::kGroupBytes;
  }
}

}  // namespace amct::kernel
