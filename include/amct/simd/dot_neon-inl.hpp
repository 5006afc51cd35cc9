// SPDX-License-Identifier: Apache-2.0
// Dot products of four steps for NEON. See dot_avx512-inl.hpp for meanings.

namespace amct::simd::neon {

inline constexpr std::size_t kTilePanels = 1;

/// The sums of four columns, two halves of each beside each other.
struct SplitSums {
  int32x4_t low, high;
};
AMCT_VOP SplitSums begin_split(I start) {
  const int32x4_t zero = vdupq_n_s32(0);
  return {vzip1q_s32(start, zero), vzip2q_s32(start, zero)};
}
AMCT_VOP I end_split(SplitSums sums) { return vpaddq_s32(sums.low, sums.high); }

/// Signed codes times signed weights; products fit int16, and go in pairs to int32.
struct DotBytes {
  static constexpr std::size_t kParts = 1;
  static constexpr std::size_t kRows = 3;
  static constexpr std::size_t kGroupBytes = 4;
  using Sums = SplitSums;

  AMCT_VOP static Sums begin(I start) { return begin_split(start); }
  AMCT_VOP static I end(Sums sums) { return end_split(sums); }
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
  AMCT_VOP static Sums add(Sums sums, int8x16_t codes, int8x16_t weights) {
    return {vpadalq_s16(sums.low, vmull_s8(vget_low_s8(codes), vget_low_s8(weights))),
            vpadalq_s16(sums.high, vmull_high_s8(codes, weights))};
  }
};

struct DotPairs {
  static constexpr std::size_t kParts = 2;
  static constexpr std::size_t kRows = 3;
  static constexpr std::size_t kGroupBytes = 8;
  using Sums = SplitSums;

  AMCT_VOP static Sums begin(I start) { return begin_split(start); }
  AMCT_VOP static I end(Sums sums) { return end_split(sums); }
  template <std::size_t kPart>
  AMCT_VOP static int16x8_t weights(const std::int8_t* bytes) {
    const int16x8_t all = vreinterpretq_s16_s8(vld1q_s8(bytes));
    return vshrq_n_s16(kPart == 0 ? vshlq_n_s16(all, 8) : all, 8);
  }
  template <std::size_t kPart>
  AMCT_VOP static int16x8_t codes(const std::byte* row) {
    std::int32_t two = 0;
    __builtin_memcpy(&two, row + 4 * kPart, sizeof two);
    return vreinterpretq_s16_s32(vdupq_n_s32(two));
  }
  AMCT_VOP static Sums add(Sums sums, int16x8_t codes, int16x8_t weights) {
    return {vmlal_s16(sums.low, vget_low_s16(codes), vget_low_s16(weights)), vmlal_high_s16(sums.high, codes, weights)};
  }
};

inline constexpr std::size_t kConvertedCodes = 16;
AMCT_VOP void flip_codes(const std::byte* from, std::byte* to) {
  vst1q_u8(reinterpret_cast<std::uint8_t*>(to),
           veorq_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(from)), vdupq_n_u8(128)));
}
AMCT_VOP void widen_codes(const std::int16_t* from, std::byte* to) {
  for (std::size_t i = 0; i < kConvertedCodes; i += 4) {
    const int16x4_t group = vld1_s16(from + i);
    const int16x4_t pairs = vuzp1_s16(group, group);
    const int16x4_t others = vuzp2_s16(group, group);
    vst1_s16(reinterpret_cast<std::int16_t*>(to) + i,
             vreinterpret_s16_s32(vzip1_s32(vreinterpret_s32_s16(pairs), vreinterpret_s32_s16(others))));
  }
}

}  // namespace amct::simd::neon
