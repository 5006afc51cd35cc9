// SPDX-License-Identifier: Apache-2.0
// Dot products of four steps for AVX-512. Included by simd/dot.hpp inside the target region.
//
// A way of multiplying takes weights as PackedWeights holds them, 4 * kLanes bytes at a time, and of each row four
// codes, the same for all lanes, and adds four products to the int32 sum of each column. It may need several parts for
// that.
//
//   kParts, kRows           parts; rows of a tile whose sums fit the registers beside kTilePanels panels
//   kGroupBytes             memory of four codes of a row
//   Sums                    the sums of kLanes columns, begun with begin(I) and taken with end(Sums)
//   weights<part>(bytes)    what multiplies in a part
//   codes<part>(row)        the same of a row
//   add(sums, codes, weights)

namespace amct::simd::avx512 {

/// Panels of a tile.
inline constexpr std::size_t kTilePanels = 4;

/// Products of int16, two by two: the even steps of a group, then the odd ones. Codes of a group stand in the order 0,
/// 2, 1, 3, so that each two are neighbours.
struct DotPairs {
  static constexpr std::size_t kParts = 2;
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kGroupBytes = 8;
  using Sums = I;

  AMCT_VOP static Sums begin(I start) { return start; }
  AMCT_VOP static I end(Sums sums) { return sums; }
  template <std::size_t kPart>
  AMCT_VOP static I weights(const std::int8_t* bytes) {
    const __m512i all = _mm512_loadu_si512(bytes);
    return _mm512_srai_epi16(kPart == 0 ? _mm512_slli_epi16(all, 8) : all, 8);
  }
  template <std::size_t kPart>
  AMCT_VOP static I codes(const std::byte* row) {
    std::int32_t two = 0;
    __builtin_memcpy(&two, row + 4 * kPart, sizeof two);
    return _mm512_set1_epi32(two);
  }
  AMCT_VOP static Sums add(Sums sums, I codes, I weights) {
    return _mm512_add_epi32(sums, _mm512_madd_epi16(codes, weights));
  }
};

/// Sixteen or more codes at a time on their way to a tile: as they are, with the other sign convention, or widened to
/// pairs.
inline constexpr std::size_t kConvertedCodes = 32;
AMCT_VOP void flip_codes(const std::byte* from, std::byte* to) {
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(to),
      _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), _mm256_set1_epi8(-128)));
}
AMCT_VOP void store_pairs(std::byte* to, __m512i codes) {
  _mm512_storeu_si512(to, _mm512_shufflehi_epi16(_mm512_shufflelo_epi16(codes, 0b11011000), 0b11011000));
}
AMCT_VOP void widen_codes(const std::int8_t* from, std::byte* to) {
  store_pairs(to, _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
AMCT_VOP void widen_codes(const std::uint8_t* from, std::byte* to) {
  store_pairs(to, _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
AMCT_VOP void widen_codes(const std::int16_t* from, std::byte* to) { store_pairs(to, _mm512_loadu_si512(from)); }

}  // namespace amct::simd::avx512
