// SPDX-License-Identifier: Apache-2.0
// Vector operations for AVX-512 (F, BW, DQ, VL). Included by simd/vec.hpp inside the target region.

namespace amct::simd::avx512 {

using F = __m512;   // floats
using I = __m512i;  // 32-bit integers
inline constexpr std::size_t kLanes = 16;

AMCT_VOP F load(const float* p) { return _mm512_loadu_ps(p); }
AMCT_VOP I load(const std::int32_t* p) { return _mm512_loadu_si512(p); }
AMCT_VOP void store(float* p, F v) { _mm512_storeu_ps(p, v); }
AMCT_VOP F set(float v) { return _mm512_set1_ps(v); }
AMCT_VOP I set(std::int32_t v) { return _mm512_set1_epi32(v); }
AMCT_VOP F add(F a, F b) { return _mm512_add_ps(a, b); }
AMCT_VOP F sub(F a, F b) { return _mm512_sub_ps(a, b); }
AMCT_VOP F mul(F a, F b) { return _mm512_mul_ps(a, b); }
AMCT_VOP F div(F a, F b) { return _mm512_div_ps(a, b); }
/// a * b + c and c - a * b with a single rounding.
AMCT_VOP F fused_add(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
AMCT_VOP F fused_sub(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
/// v where it is within the bound; NaN stays.
AMCT_VOP F at_most(F v, F bound) { return _mm512_min_ps(bound, v); }
AMCT_VOP F at_least(F v, F bound) { return _mm512_max_ps(bound, v); }
AMCT_VOP bool any_nan(F a, F b, F c, F d) {
  return (_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) | _mm512_cmp_ps_mask(c, d, _CMP_UNORD_Q)) != 0;
}
/// Whether a lane of v is above the same lane of bound.
AMCT_VOP bool any_above(F v, F bound) { return _mm512_cmp_ps_mask(v, bound, _CMP_GT_OQ) != 0; }
/// Rounds half to even; |v| < 2^31.
AMCT_VOP I to_int(F v) { return _mm512_cvtps_epi32(v); }
AMCT_VOP F to_float(I v) { return _mm512_cvtepi32_ps(v); }
AMCT_VOP I add(I a, I b) { return _mm512_add_epi32(a, b); }
AMCT_VOP I sub(I a, I b) { return _mm512_sub_epi32(a, b); }

AMCT_VOP I load_codes(const std::int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
AMCT_VOP I load_codes(const std::int16_t* p) {
  return _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
/// Saturates four vectors to int16, adds the offset with saturation, saturates to [low, high] and stores int8.
AMCT_VOP void store_codes(std::int8_t* p, I a, I b, I c, I d, std::int16_t offset, std::int8_t low, std::int8_t high) {
  const __m512i shift = _mm512_set1_epi16(offset);
  const __m512i ab = _mm512_adds_epi16(_mm512_packs_epi32(a, b), shift);
  const __m512i cd = _mm512_adds_epi16(_mm512_packs_epi32(c, d), shift);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i codes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(ab, cd));
  codes = _mm512_min_epi8(_mm512_max_epi8(codes, _mm512_set1_epi8(low)), _mm512_set1_epi8(high));
  _mm512_storeu_si512(p, codes);
}
/// Saturates two vectors to [low, high] and stores int16.
AMCT_VOP void store_codes(std::int16_t* p, I a, I b, std::int16_t low, std::int16_t high) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  __m512i codes = _mm512_permutexvar_epi64(order, _mm512_packs_epi32(a, b));
  codes = _mm512_min_epi16(_mm512_max_epi16(codes, _mm512_set1_epi16(low)), _mm512_set1_epi16(high));
  _mm512_storeu_si512(p, codes);
}

/// Bits of |v| as integers, which order as the values do; at and above 0x7f800000 v is not finite.
AMCT_VOP I magnitude_bits(F v) { return _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7fffffff)); }
AMCT_VOP I larger(I a, I b) { return _mm512_max_epi32(a, b); }
AMCT_VOP void store(std::int32_t* p, I v) { _mm512_storeu_si512(p, v); }

}  // namespace amct::simd::avx512
