// SPDX-License-Identifier: Apache-2.0
// Tiles of an integer product: sums of some rows with the columns of some panels, which stay in registers over all
// steps. See kernel/tile_kernel.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Sums of kRows rows with kPanels panels.
template <class Dot, std::size_t kRows, std::size_t kPanels>
[[gnu::noinline]] void multiply_tile(const TileJob& shared, std::size_t first_row, std::size_t first_panel) noexcept {
  constexpr std::size_t kPerPanel = PackedWeights::kPanel / kLanes;
  constexpr std::size_t kVectors = kPanels * kPerPanel;
  const TileJob job = shared;  // a copy that no store can change, so that it stays in registers
  std::int32_t* const to = job.sums + first_row * kSumStep + first_panel * PackedWeights::kPanel;
  typename Dot::Sums sums[kRows][kVectors];
  if (job.continues) {
    AMCT_UNROLL for (std::size_t r = 0; r < kRows; ++r) {
      const std::int32_t* const old = to + r * kSumStep;
      AMCT_UNROLL for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = Dot::begin(load(old + v * kLanes));
    }
  } else {
    const std::int32_t* const start = job.start + first_panel * PackedWeights::kPanel;
    AMCT_UNROLL for (std::size_t r = 0; r < kRows; ++r) {
      AMCT_UNROLL for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = Dot::begin(load(start + v * kLanes));
    }
  }
  // Rows are reached from every third one, which takes no more registers than there are.
  const std::byte* rows[(kRows + 2) / 3];
  AMCT_UNROLL for (std::size_t i = 0; i < (kRows + 2) / 3; ++i) rows[i] = job.rows + (first_row + 3 * i) * job.row_step;
  const std::int8_t* weights = job.panels + first_panel * job.panel_step;
  for (std::size_t group = 0; group < job.groups; ++group) {
    const auto add_part = [&](auto part) AMCT_VLAMBDA {
      decltype(Dot::template weights<part>(weights)) right[kVectors];
      AMCT_UNROLL for (std::size_t v = 0; v < kVectors; ++v) {
        const std::size_t within = v % kPerPanel * kLanes * PackedWeights::kGroup;
        right[v] = Dot::template weights<part>(weights + v / kPerPanel * job.panel_step + within);
      }
      AMCT_UNROLL for (std::size_t r = 0; r < kRows; ++r) {
        const auto left = Dot::template codes<part>(rows[r / 3] + r % 3 * job.row_step);
        AMCT_UNROLL for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = Dot::add(sums[r][v], left, right[v]);
      }
    };
    add_part(std::integral_constant<std::size_t, 0>{});
    if constexpr (Dot::kParts == 2) add_part(std::integral_constant<std::size_t, 1>{});
    weights += PackedWeights::kGroupBytes;
    AMCT_UNROLL for (std::size_t i = 0; i < (kRows + 2) / 3; ++i) rows[i] += Dot::kGroupBytes;
  }
  AMCT_UNROLL for (std::size_t r = 0; r < kRows; ++r) {
    AMCT_UNROLL for (std::size_t v = 0; v < kVectors; ++v) store(to + r * kSumStep + v * kLanes, Dot::end(sums[r][v]));
  }
}

/// All rows with kPanels panels, in tiles as large as the registers allow; up to kMostRows - 1 rows too many are
/// computed.
template <class Dot, std::size_t kPanels>
void multiply_rows(const TileJob& job, std::size_t first_panel) noexcept {
  constexpr std::size_t kMostRows = Dot::kRows * (2 * kPanels <= kTilePanels ? 2 : 1);
  std::size_t row = 0;
  for (; row + kMostRows <= job.count; row += kMostRows) multiply_tile<Dot, kMostRows, kPanels>(job, row, first_panel);
  const std::size_t left = job.count - row;
  if (left == 0) return;
  if (left == 1) return multiply_tile<Dot, 1, kPanels>(job, row, first_panel);
  if (left <= 3) return multiply_tile<Dot, 3, kPanels>(job, row, first_panel);
  if constexpr (kMostRows > 6) {
    if (left <= 6) return multiply_tile<Dot, 6, kPanels>(job, row, first_panel);
  }
  if constexpr (kMostRows > 3) multiply_tile<Dot, kMostRows, kPanels>(job, row, first_panel);
}

/// All rows with all panels of a job, a block of the depth after the other: the weights of one stay in the first cache
/// while rows run.
template <class Dot>
void multiply(const TileJob& whole) noexcept {
  constexpr std::size_t kGroups = 256;
  TileJob job = whole;
  for (std::size_t group = 0; group < whole.groups || group == 0; group += kGroups) {
    job.groups = std::min(kGroups, whole.groups - group);
    std::size_t panel = 0;
    for (; panel + kTilePanels <= job.panel_count; panel += kTilePanels) multiply_rows<Dot, kTilePanels>(job, panel);
    if constexpr (kTilePanels > 2) {
      if (panel + 2 <= job.panel_count) {
        multiply_rows<Dot, 2>(job, panel);
        panel += 2;
      }
      if (panel < job.panel_count) multiply_rows<Dot, 1>(job, panel);
    }
    job.continues = true;
    job.rows += kGroups * Dot::kGroupBytes;
    job.panels += kGroups * PackedWeights::kGroupBytes;
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
