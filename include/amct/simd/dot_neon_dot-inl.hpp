// SPDX-License-Identifier: Apache-2.0
// Dot products of four steps for NEON with SDOT. See dot_avx512-inl.hpp for meanings.

namespace amct::simd::neon_dot {

using neon::I;
using neon::kLanes;
using neon::kTilePanels;
using neon::load;
using neon::store;

/// Signed codes times signed weights, four products an instruction.
struct DotBytes {
  static constexpr std::size_t kParts = 1;
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kGroupBytes = 4;
  using Sums = I;

  AMCT_VOP static Sums begin(I start) { return start; }
  AMCT_VOP static I end(Sums sums) { return sums; }
  template <std::size_t>
  AMCT_VOP static int8x16_t weights(const std::int8_t* bytes) {
    return vld1q_s8(bytes);
  }
  template <std::size_t>
  AMCT_VOP static int8x16_t codes(const std::byte* row) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, row, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }
  AMCT_VOP static Sums add(Sums sums, int8x16_t codes, int8x16_t weights) { return vdotq_s32(sums, weights, codes); }
};

}  // namespace amct::simd::neon_dot
