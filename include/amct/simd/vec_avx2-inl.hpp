// SPDX-License-Identifier: Apache-2.0
// Vector operations for AVX2. Included by simd/vec.hpp inside the target region. See vec_avx512-inl.hpp for meanings.

namespace amct::simd::avx2 {

using F = __m256;
using I = __m256i;
inline constexpr std::size_t kLanes = 8;

AMCT_VOP F load(const float* p) { return _mm256_loadu_ps(p); }
AMCT_VOP I load(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
AMCT_VOP void store(float* p, F v) { _mm256_storeu_ps(p, v); }
AMCT_VOP F set(float v) { return _mm256_set1_ps(v); }
AMCT_VOP I set(std::int32_t v) { return _mm256_set1_epi32(v); }
AMCT_VOP F add(F a, F b) { return _mm256_add_ps(a, b); }
AMCT_VOP F sub(F a, F b) { return _mm256_sub_ps(a, b); }
AMCT_VOP F mul(F a, F b) { return _mm256_mul_ps(a, b); }
AMCT_VOP F div(F a, F b) { return _mm256_div_ps(a, b); }
AMCT_VOP F fused_add(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
AMCT_VOP F fused_sub(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
AMCT_VOP F at_most(F v, F bound) { return _mm256_min_ps(bound, v); }
AMCT_VOP F at_least(F v, F bound) { return _mm256_max_ps(bound, v); }
AMCT_VOP bool any_nan(F a, F b, F c, F d) {
  const F found = _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), _mm256_cmp_ps(c, d, _CMP_UNORD_Q));
  return _mm256_movemask_ps(found) != 0;
}
AMCT_VOP bool any_above(F v, F bound) { return _mm256_movemask_ps(_mm256_cmp_ps(v, bound, _CMP_GT_OQ)) != 0; }
AMCT_VOP I to_int(F v) { return _mm256_cvtps_epi32(v); }
AMCT_VOP F to_float(I v) { return _mm256_cvtepi32_ps(v); }
AMCT_VOP I add(I a, I b) { return _mm256_add_epi32(a, b); }
AMCT_VOP I sub(I a, I b) { return _mm256_sub_epi32(a, b); }

AMCT_VOP I load_codes(const std::int8_t* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
AMCT_VOP I load_codes(const std::int16_t* p) {
  return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
AMCT_VOP void store_codes(std::int8_t* p, I a, I b, I c, I d, std::int16_t offset, std::int8_t low, std::int8_t high) {
  const __m256i shift = _mm256_set1_epi16(offset);
  const __m256i ab = _mm256_adds_epi16(_mm256_packs_epi32(a, b), shift);
  const __m256i cd = _mm256_adds_epi16(_mm256_packs_epi32(c, d), shift);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  __m256i codes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), order);
  codes = _mm256_min_epi8(_mm256_max_epi8(codes, _mm256_set1_epi8(low)), _mm256_set1_epi8(high));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), codes);
}
AMCT_VOP void store_codes(std::int16_t* p, I a, I b, std::int16_t low, std::int16_t high) {
  __m256i codes = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0b11011000);
  codes = _mm256_min_epi16(_mm256_max_epi16(codes, _mm256_set1_epi16(low)), _mm256_set1_epi16(high));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), codes);
}

AMCT_VOP I magnitude_bits(F v) { return _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7fffffff)); }
AMCT_VOP I larger(I a, I b) { return _mm256_max_epi32(a, b); }
AMCT_VOP void store(std::int32_t* p, I v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

}  // namespace amct::simd::avx2
