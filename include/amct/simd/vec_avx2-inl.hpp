// SPDX-License-Identifier: Apache-2.0
// Vector operations for AVX2. Included by simd/vec.hpp inside the target region. See vec_avx512-inl.hpp for meanings.

namespace amct::simd::avx2 {

using F = __m256;
using I = __m256i;
using H = __m256i;
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
AMCT_VOP F at_most_or_zero(F v, F bound) {
  return _mm256_and_ps(_mm256_cmp_ps(v, v, _CMP_ORD_Q), _mm256_min_ps(v, bound));
}
AMCT_VOP bool any_nan(F a, F b, F c, F d) {
  const F found = _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), _mm256_cmp_ps(c, d, _CMP_UNORD_Q));
  return _mm256_movemask_ps(found) != 0;
}
AMCT_VOP bool any_above(F v, F bound) { return _mm256_movemask_ps(_mm256_cmp_ps(v, bound, _CMP_GT_OQ)) != 0; }
AMCT_VOP F round(F v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
AMCT_VOP I to_int(F v) { return _mm256_cvtps_epi32(v); }
AMCT_VOP F to_float(I v) { return _mm256_cvtepi32_ps(v); }
AMCT_VOP I add(I a, I b) { return _mm256_add_epi32(a, b); }
AMCT_VOP I sub(I a, I b) { return _mm256_sub_epi32(a, b); }
AMCT_VOP I shift_right(I v, int bits) { return _mm256_sra_epi32(v, _mm_cvtsi32_si128(bits)); }
AMCT_VOP I shift_right_each(I v, I bits) { return _mm256_srav_epi32(v, bits); }

AMCT_VOP F load(const Half* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
AMCT_VOP I load_bytes(const std::int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
AMCT_VOP I load_codes(const std::int8_t* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
AMCT_VOP I load_codes(const std::int16_t* p) {
  return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
AMCT_VOP I load_codes4(const std::int8_t* p) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, p, sizeof four);
  const __m256i to_top = _mm256_setr_epi32(28, 24, 20, 16, 12, 8, 4, 0);
  return _mm256_srai_epi32(_mm256_sllv_epi32(_mm256_set1_epi32(four), to_top), 28);
}

template <Traffic K>
AMCT_VOP void put(void* p, I v) {
  if constexpr (K == Traffic::streamed) {
    _mm256_stream_si256(static_cast<__m256i*>(p), v);
  } else {
    _mm256_storeu_si256(static_cast<__m256i*>(p), v);
  }
}
template <Traffic K>
AMCT_VOP void put(float* p, F v) {
  put<K>(static_cast<void*>(p), _mm256_castps_si256(v));
}
AMCT_VOP void finish_streaming() { _mm_sfence(); }

AMCT_VOP H narrow(I a, I b) { return _mm256_packs_epi32(a, b); }
AMCT_VOP H set16(std::int16_t v) { return _mm256_set1_epi16(v); }
AMCT_VOP H add_saturating(H a, H b) { return _mm256_adds_epi16(a, b); }
AMCT_VOP I codes8(H ab, H cd, std::int8_t low) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i codes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), order);
  return _mm256_max_epi8(codes, _mm256_set1_epi8(low));
}
AMCT_VOP I flip_signs(I codes) { return _mm256_xor_si256(codes, _mm256_set1_epi8(-128)); }
AMCT_VOP I codes16(H ab, std::int16_t low) {
  const __m256i codes = _mm256_permute4x64_epi64(ab, 0b11011000);
  return _mm256_max_epi16(codes, _mm256_set1_epi16(low));
}

AMCT_VOP I pair_nibbles(I a, I b) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i weights = _mm256_set1_epi16(0x1001);
  const __m256i first = _mm256_maddubs_epi16(_mm256_and_si256(a, mask), weights);
  const __m256i second = _mm256_maddubs_epi16(_mm256_and_si256(b, mask), weights);
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0b11011000);
}
AMCT_VOP void split_nibbles(I bytes, I& first, I& second) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i signs =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  const __m256i spread = _mm256_permute4x64_epi64(bytes, 0b11011000);
  const __m256i low = _mm256_shuffle_epi8(signs, _mm256_and_si256(spread, mask));
  const __m256i high = _mm256_shuffle_epi8(signs, _mm256_and_si256(_mm256_srli_epi16(spread, 4), mask));
  first = _mm256_unpacklo_epi8(low, high);
  second = _mm256_unpackhi_epi8(low, high);
}

/// There is no arithmetic shift of 64 bits: 2^62 is added for a logical one, and taken off again.
template <bool kAway>
AMCT_VOP __m256i divide_products(__m256i products, __m256i bits) {
  const __m256i raise = _mm256_set1_epi64x(std::int64_t{1} << 62);
  __m256i half = _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_sub_epi64(bits, _mm256_set1_epi64x(1)));
  if constexpr (kAway) half = _mm256_add_epi64(half, _mm256_cmpgt_epi64(_mm256_setzero_si256(), products));
  const __m256i raised = _mm256_add_epi64(_mm256_add_epi64(products, half), raise);
  return _mm256_sub_epi64(_mm256_srlv_epi64(raised, bits), _mm256_srlv_epi64(raise, bits));
}
template <bool kAway>
AMCT_VOP I multiply_divide(I a, I b, I bits) {
  const __m256i low = _mm256_set1_epi64x(0xFFFFFFFF);
  const __m256i even = divide_products<kAway>(_mm256_mul_epi32(a, b), _mm256_and_si256(bits, low));
  const __m256i odd = divide_products<kAway>(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)),
                                             _mm256_srli_epi64(bits, 32));
  return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}
AMCT_VOP I divide_half_away(I v, I bits) {
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, bits), one);
  const __m256i most = _mm256_sub_epi32(_mm256_srli_epi32(mask, 1), _mm256_srai_epi32(v, 31));
  return _mm256_sub_epi32(_mm256_srav_epi32(v, bits), _mm256_cmpgt_epi32(_mm256_and_si256(v, mask), most));
}

AMCT_VOP F where_above(F v, F bound, F a, F b) { return _mm256_blendv_ps(b, a, _mm256_cmp_ps(v, bound, _CMP_GT_OQ)); }
AMCT_VOP F where_nan(F v, F a, F b) { return _mm256_blendv_ps(b, a, _mm256_cmp_ps(v, v, _CMP_UNORD_Q)); }
AMCT_VOP I truncate(F v) { return _mm256_cvttps_epi32(v); }

AMCT_VOP F square_root(F v) { return _mm256_sqrt_ps(v); }
AMCT_VOP I as_int(F v) { return _mm256_castps_si256(v); }
AMCT_VOP F as_float(I v) { return _mm256_castsi256_ps(v); }
AMCT_VOP I shift_left(I v, int bits) { return _mm256_sll_epi32(v, _mm_cvtsi32_si128(bits)); }
AMCT_VOP I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
AMCT_VOP I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
AMCT_VOP F load_even(const float* p) {
  const F pairs = _mm256_shuffle_ps(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8), 0b10001000);
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(pairs), 0b11011000));
}

AMCT_VOP I to_int(I v) { return v; }
AMCT_VOP I at_most(I v, I bound) { return _mm256_min_epi32(v, bound); }
AMCT_VOP I at_least(I v, I bound) { return _mm256_max_epi32(v, bound); }
AMCT_VOP void store(std::int32_t* p, I v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

}  // namespace amct::simd::avx2
