// SPDX-License-Identifier: Apache-2.0
// Dot products of four steps for AVX2. See dot_avx512-inl.hpp for meanings.

namespace amct::simd::avx2 {

inline constexpr std::size_t kTilePanels = 1;

struct DotPairs {
  static constexpr std::size_t kParts = 2;
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kGroupBytes = 8;
  using Sums = I;

  AMCT_VOP static Sums begin(I start) { return start; }
  AMCT_VOP static I end(Sums sums) { return sums; }
  template <std::size_t kPart>
  AMCT_VOP static I weights(const std::int8_t* bytes) {
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    return _mm256_srai_epi16(kPart == 0 ? _mm256_slli_epi16(all, 8) : all, 8);
  }
  template <std::size_t kPart>
  AMCT_VOP static I codes(const std::byte* row) {
    std::int32_t two = 0;
    __builtin_memcpy(&two, row + 4 * kPart, sizeof two);
    return _mm256_set1_epi32(two);
  }
  AMCT_VOP static Sums add(Sums sums, I codes, I weights) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(codes, weights));
  }
};

inline constexpr std::size_t kConvertedCodes = 16;
AMCT_VOP void store_pairs(std::byte* to, __m256i codes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(codes, 0b11011000), 0b11011000));
}
AMCT_VOP void widen_codes(const std::int8_t* from, std::byte* to) {
  store_pairs(to, _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
AMCT_VOP void widen_codes(const std::uint8_t* from, std::byte* to) {
  store_pairs(to, _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
AMCT_VOP void widen_codes(const std::int16_t* from, std::byte* to) {
  store_pairs(to, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

}  // namespace amct::simd::avx2
