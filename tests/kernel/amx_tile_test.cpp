// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/amx_tile.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/kernel/integer_product.hpp>
#include <amct/kernel/reference/dot_tile.hpp>

#include "kernel/integer_cases.hpp"

namespace {

using amct::PackedWeights;
using amct::kernel::TileJob;

/// The registers of AMX and their four operations in plain C++.
struct EmulatedTiles {
  using Tile = std::uint8_t[amct::simd::kTileRows][amct::simd::kTileBytes];
  static inline Tile tiles[8];

  static void begin() noexcept { ++begun; }
  static void end() noexcept { --begun; }
  static inline int begun = 0;

  template <int kTile>
  static void load(const void* from, std::size_t step) {
    for (std::size_t i = 0; i < amct::simd::kTileRows; ++i) {
      std::memcpy(tiles[kTile][i], static_cast<const char*>(from) + i * step, amct::simd::kTileBytes);
    }
  }
  template <int kTile>
  static void store(void* to, std::size_t step) {
    for (std::size_t i = 0; i < amct::simd::kTileRows; ++i) {
      std::memcpy(static_cast<char*>(to) + i * step, tiles[kTile][i], amct::simd::kTileBytes);
    }
  }
  template <int kSums, int kCodes, int kWeights>
  static void add_signed() {
    add<std::int8_t>(tiles[kSums], tiles[kCodes], tiles[kWeights]);
  }
  template <int kSums, int kCodes, int kWeights>
  static void add_unsigned() {
    add<std::uint8_t>(tiles[kSums], tiles[kCodes], tiles[kWeights]);
  }

 private:
  template <class T>
  static void add(Tile& sums, const Tile& codes, const Tile& weights) {
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 16; ++j) {
        std::uint32_t sum = 0;
        std::memcpy(&sum, sums[i] + 4 * j, sizeof sum);
        for (std::size_t k = 0; k < 64; ++k) {
          const auto weight = static_cast<std::int8_t>(weights[k / 4][4 * j + k % 4]);
          sum += static_cast<std::uint32_t>(std::int32_t{static_cast<T>(codes[i][k])} * weight);
        }
        std::memcpy(sums[i] + 4 * j, &sum, sizeof sum);
      }
    }
  }
};

struct alignas(64) Line {
  std::byte bytes[64];
};

/// A job of codes of T on the emulated tiles against the reference.
template <class T>
void check_job(std::size_t rows, std::size_t columns, std::size_t depth, bool continues) {
  Draws draws(rows * 1000 + columns * 10 + depth);
  const auto w = draws.codes<std::int8_t>(columns * depth);
  const PackedWeights weights(w.data(), amct::WeightLayout::matrix(depth, columns));
  const std::size_t lines = depth / 64 + 1;
  std::vector<Line> codes(amct::kernel::kMostTileRows * lines);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < depth; ++k)
      codes[i * lines + k / 64].bytes[k % 64] = static_cast<std::byte>(draws.code<T>());
  }
  std::vector<std::int32_t> start(weights.panels() * PackedWeights::kPanel);
  for (auto& value : start) value = draws.between(-100000, 100000);
  alignas(64) std::int32_t want[amct::kernel::kMostTileRows * amct::kernel::kSumStep];
  alignas(64) std::int32_t got[amct::kernel::kMostTileRows * amct::kernel::kSumStep];
  for (std::size_t i = 0; i < std::size(want); ++i) want[i] = got[i] = static_cast<std::int32_t>(i);
  TileJob job{.rows = codes.data()->bytes,
              .row_step = lines * 64,
              .count = rows,
              .panels = weights.panel(0),
              .panel_step = weights.panel_stride(),
              .panel_count = weights.panels(),
              .groups = weights.groups(),
              .start = start.data(),
              .continues = continues,
              .sums = want};
  amct::kernel::reference::multiply<T>(job);
  job.sums = got;
  amct::kernel::multiply_in_tiles<EmulatedTiles, std::is_signed_v<T>>(job);
  bool same = true;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < weights.panels() * PackedWeights::kPanel; ++j) {
      same = same && got[i * amct::kernel::kSumStep + j] == want[i * amct::kernel::kSumStep + j];
    }
  }
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(depth);
  CHECK(same);
}

/// A whole product on the emulated tiles against its definition.
template <class T>
void check_product_in_tiles(std::size_t rows, std::size_t columns, std::size_t depth) {
  Draws draws(rows + columns + depth);
  const auto w = draws.codes<std::int8_t>(columns * depth);
  const auto x = draws.codes<T>(rows * depth);
  const std::vector<std::int32_t> zeros = {depth % 2 == 0 ? 0 : 11};
  const PackedWeights weights(w.data(), amct::WeightLayout::matrix(depth, columns), zeros);
  const amct::Epilogue<> sums{};
  std::vector<std::int32_t> want(rows * columns);
  std::vector<std::int32_t> got(want.size());
  const auto compare = [&](const auto& source, const PackedWeights& packed) {
    using Rows = std::remove_cvref_t<decltype(source)>;
    amct::kernel::reference::gemm_s8(source, packed, sums, false, amct::ResultRows<std::int32_t>{want.data(), columns});
    const amct::kernel::IntegerProduct<Rows, amct::Epilogue<>, std::int32_t> product(
        source, packed, sums, false, {got.data(), columns}, amct::kernel::amx_kernel<EmulatedTiles, T>());
    product.compute(0, product.split().parts());
    CHECK(got == want);
    CHECK(EmulatedTiles::begun == 0);
  };
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(depth);
  compare(amct::CodeRows<T>(x.data(), rows, depth, depth, 9), weights);
  if (depth % 3 != 0) return;
  const std::size_t run = depth / 3;
  compare(RunRows<T>(x, rows, 3, run, -9),
          PackedWeights(w.data(), {columns, 3, run, 1, run * columns, columns}, zeros));
}

}  // namespace

TEST_CASE("a job in tiles gives the sums of the reference, with operations in plain C++") {
  for (const std::size_t rows : {1U, 15U, 16U, 17U, 32U, 33U, 48U, 64U}) {
    for (const std::size_t columns : {1U, 16U, 17U, 48U, 64U}) {
      for (const std::size_t depth : {1U, 60U, 64U, 65U, 130U, 520U}) {
        check_job<std::int8_t>(rows, columns, depth, depth % 2 == 0);
        check_job<std::uint8_t>(rows, columns, depth, depth % 2 == 1);
      }
    }
  }
}

TEST_CASE("a product in tiles is its definition, whatever its sizes leave over") {
  for (const std::size_t rows : {1U, 31U, 33U, 130U}) {
    for (const std::size_t columns : {1U, 17U, 70U}) {
      for (const std::size_t depth : {1U, 27U, 64U, 130U}) {
        check_product_in_tiles<std::int8_t>(rows, columns, depth);
        check_product_in_tiles<std::uint8_t>(rows, columns, depth);
      }
    }
  }
}
