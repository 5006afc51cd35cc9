// SPDX-License-Identifier: Apache-2.0
// Dot products of four steps for AVX-512 VNNI. See dot_avx512-inl.hpp for meanings.

namespace amct::simd::avx512vnni {

using avx512::I;
using avx512::kLanes;
using avx512::kTilePanels;
using avx512::load;
using avx512::store;

/// Unsigned codes times signed weights, four products an instruction.
struct DotBytes {
  static constexpr std::size_t kParts = 1;
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kGroupBytes = 4;
  using Sums = I;

  AMCT_VOP static Sums begin(I start) { return start; }
  AMCT_VOP static I end(Sums sums) { return sums; }
  template <std::size_t>
  AMCT_VOP static I weights(const std::int8_t* bytes) {
    return _mm512_loadu_si512(bytes);
  }
  template <std::size_t>
  AMCT_VOP static I codes(const std::byte* row) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, row, sizeof four);
    return _mm512_set1_epi32(four);
  }
  AMCT_VOP static Sums add(Sums sums, I codes, I weights) { return _mm512_dpbusd_epi32(sums, codes, weights); }
};

/// As those of AVX-512, with one instruction for product and sum.
struct DotPairs : avx512::DotPairs {
  AMCT_VOP static Sums add(Sums sums, I codes, I weights) { return _mm512_dpwssd_epi32(sums, codes, weights); }
};

}  // namespace amct::simd::avx512vnni
