// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/depthwise_s8.hpp; the reference is kernel/reference/conv_s8.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// The weights of one group of taps for kLines output lines.
template <class Dot, std::size_t kLines>
struct TapWeights {
  using Vector = decltype(Dot::template weights<0>(nullptr));
  Vector of[Dot::kParts][kLines];

  AMCT_VOP void load_from(const std::int8_t* weights, std::size_t variant) {
    unroll<Dot::kParts>([&](auto part) AMCT_VLAMBDA {
      unroll<kLines>([&](auto l) AMCT_VLAMBDA { of[part][l] = Dot::template weights<part>(weights + l * variant); });
    });
  }
};

/// The sums of kLanes channels at some positions of kLines output lines.
template <class Dot, std::size_t kLines, std::size_t kPositions>
struct PositionSums {
  typename Dot::Sums of[kLines][kPositions];

  AMCT_VOP void begin(I start) {
    unroll<kLines>(
        [&](auto l) AMCT_VLAMBDA { unroll<kPositions>([&](auto p) AMCT_VLAMBDA { of[l][p] = Dot::begin(start); }); });
  }
  AMCT_VOP void add(const std::int32_t* zipped, std::size_t part_step, std::size_t step,
                    const TapWeights<Dot, kLines>& weights) {
    unroll<Dot::kParts>([&](auto part) AMCT_VLAMBDA {
      unroll<kPositions>([&](auto p) AMCT_VLAMBDA {
        const I integers = load(zipped + part * part_step + p * step);
        const auto codes = __builtin_bit_cast(typename TapWeights<Dot, kLines>::Vector, integers);
        unroll<kLines>([&](auto l) AMCT_VLAMBDA { of[l][p] = Dot::add(of[l][p], codes, weights.of[part][l]); });
      });
    });
  }
  AMCT_VOP void end(std::int32_t* sums, std::size_t line, std::size_t step) {
    unroll<kLines>([&](auto l) AMCT_VLAMBDA {
      unroll<kPositions>([&](auto p) AMCT_VLAMBDA { store(sums + l * line + p * step, Dot::end(of[l][p])); });
    });
  }
};

/// Any number of groups; their weights are loaded again for each few positions.
template <class Dot, std::size_t kLines>
[[gnu::noinline]] void sum_many(const TapSums& shared) noexcept {
  const TapSums tile = shared;  // a copy that no store can change, so that it stays in registers
  for (std::size_t c = 0; c < tile.width; c += kLanes) {
    const I start = load(tile.start + c);
    for (std::size_t x = 0; x < tile.positions; x += TapSums::kPositions) {
      PositionSums<Dot, kLines, TapSums::kPositions> sums;
      sums.begin(start);
      const std::int32_t* const zipped = tile.zipped + x * tile.step + c;
      const std::int8_t* weights = tile.weights + c * 4;
      const std::size_t* const end = tile.offsets + tile.groups;
      for (const std::size_t* at = tile.offsets; at != end; ++at, weights += tile.width * 4) {
        TapWeights<Dot, kLines> group;
        group.load_from(weights, tile.variant);
        sums.add(zipped + *at, tile.part, tile.step, group);
      }
      sums.end(tile.sums + x * tile.width + c, tile.line, tile.width);
    }
  }
}

/// A few groups, whose weights stay in registers; one position after the other, which keeps the stores apart.
template <class Dot, std::size_t kLines, std::size_t kGroups>
[[gnu::noinline]] void sum_few(const TapSums& shared) noexcept {
  const TapSums tile = shared;
  for (std::size_t c = 0; c < tile.width; c += kLanes) {
    const I start = load(tile.start + c);
    TapWeights<Dot, kLines> groups[kGroups];
    const std::int32_t* zipped[kGroups];
    unroll<kGroups>([&](auto g) AMCT_VLAMBDA {
      groups[g].load_from(tile.weights + (g * tile.width + c) * 4, tile.variant);
      zipped[g] = tile.zipped + tile.offsets[g] + c;
    });
    std::int32_t* to = tile.sums + c;
    for (std::size_t x = 0; x < tile.positions; ++x) {
      PositionSums<Dot, kLines, 1> sums;
      sums.begin(start);
      unroll<kGroups>([&](auto g) AMCT_VLAMBDA {
        sums.add(zipped[g], tile.part, tile.step, groups[g]);
        zipped[g] += tile.step;
      });
      sums.end(to, tile.line, tile.width);
      to += tile.width;
    }
  }
}

template <class Dot, std::size_t kLines>
void sum_lines(const TapSums& tile) noexcept {
  if (tile.groups == 3) return sum_few<Dot, kLines, 3>(tile);  // windows of 3 x 3
  sum_many<Dot, kLines>(tile);
}

template <class Dot>
void sum_taps(const TapSums& tile, std::size_t lines) noexcept {
  if (lines == 2) return sum_lines<Dot, 2>(tile);
  sum_lines<Dot, 1>(tile);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
