// SPDX-License-Identifier: Apache-2.0
// Vector operations for AVX-512 (F, BW, DQ, VL). Included by simd/vec.hpp inside the target region.

namespace amct::simd::avx512 {

using F = __m512;   // floats
using I = __m512i;  // 32-bit integers, or codes in order
using H = __m512i;  // 16-bit integers
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
/// The same bound, and 0 where v is NaN.
AMCT_VOP F at_most_or_zero(F v, F bound) { return _mm512_maskz_min_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v, bound); }
AMCT_VOP bool any_nan(F a, F b, F c, F d) {
  return (_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) | _mm512_cmp_ps_mask(c, d, _CMP_UNORD_Q)) != 0;
}
/// Whether a lane of v is above the same lane of bound.
AMCT_VOP bool any_above(F v, F bound) { return _mm512_cmp_ps_mask(v, bound, _CMP_GT_OQ) != 0; }
/// Rounds half to even, to a float; keeps the sign of zero.
AMCT_VOP F round(F v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
/// Rounds half to even; |v| < 2^31.
AMCT_VOP I to_int(F v) { return _mm512_cvtps_epi32(v); }
AMCT_VOP F to_float(I v) { return _mm512_cvtepi32_ps(v); }
AMCT_VOP I add(I a, I b) { return _mm512_add_epi32(a, b); }
AMCT_VOP I sub(I a, I b) { return _mm512_sub_epi32(a, b); }
/// Divides by 2^bits, rounding down; bits from 0 to 31.
AMCT_VOP I shift_right(I v, int bits) { return _mm512_sra_epi32(v, _mm_cvtsi32_si128(bits)); }
/// The same with a shift of its own for each lane.
AMCT_VOP I shift_right_each(I v, I bits) { return _mm512_srav_epi32(v, bits); }

AMCT_VOP F load(const Half* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
AMCT_VOP I load_bytes(const std::int8_t* p) { return _mm512_loadu_si512(p); }
AMCT_VOP I load_codes(const std::int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
AMCT_VOP I load_codes(const std::int16_t* p) {
  return _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
/// kLanes codes of 4 bits from kLanes / 2 bytes, the low nibble first.
AMCT_VOP I load_codes4(const std::int8_t* p) {
  const __m512i bytes = _mm512_castsi128_si512(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  const __m512i each =
      _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1), bytes);
  const __m512i to_top = _mm512_setr_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8, 4, 0);
  return _mm512_srai_epi32(_mm512_sllv_epi32(each, to_top), 28);
}

/// Stores a vector; streamed, past the caches, to an address that is a multiple of 64.
template <Traffic K>
AMCT_VOP void put(void* p, I v) {
  if constexpr (K == Traffic::streamed) {
    _mm512_stream_si512(static_cast<__m512i*>(p), v);
  } else {
    _mm512_storeu_si512(p, v);
  }
}
template <Traffic K>
AMCT_VOP void put(float* p, F v) {
  put<K>(static_cast<void*>(p), _mm512_castps_si512(v));
}
AMCT_VOP void finish_streaming() { _mm_sfence(); }

/// Two vectors saturated to int16, in an order of their own that codes8 and codes16 undo.
AMCT_VOP H narrow(I a, I b) { return _mm512_packs_epi32(a, b); }
AMCT_VOP H set16(std::int16_t v) { return _mm512_set1_epi16(v); }
AMCT_VOP H add_saturating(H a, H b) { return _mm512_adds_epi16(a, b); }
/// Two times two vectors saturated to int8 from `low` on, in order.
AMCT_VOP I codes8(H ab, H cd, std::int8_t low) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i codes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(ab, cd));
  return _mm512_max_epi8(codes, _mm512_set1_epi8(low));
}
/// 128 more or less for each of the codes, as unsigned ones.
AMCT_VOP I flip_signs(I codes) { return _mm512_xor_si512(codes, _mm512_set1_epi8(-128)); }
/// Two vectors of int16 from `low` on, in order.
AMCT_VOP I codes16(H ab, std::int16_t low) {
  const __m512i codes = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), ab);
  return _mm512_max_epi16(codes, _mm512_set1_epi16(low));
}

/// Two vectors of 4-bit codes in a byte each, as one vector of two codes a byte.
AMCT_VOP I pair_nibbles(I a, I b) {
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i weights = _mm512_set1_epi16(0x1001);  // 1 for the first of two bytes, 16 for the second
  const __m512i first = _mm512_maddubs_epi16(_mm512_and_si512(a, mask), weights);
  const __m512i second = _mm512_maddubs_epi16(_mm512_and_si512(b, mask), weights);
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _mm512_packus_epi16(first, second));
}
/// The reverse: a byte each for the codes of `bytes`, the first half in `first`.
AMCT_VOP void split_nibbles(I bytes, I& first, I& second) {
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i signs = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  const __m512i spread = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), bytes);
  const __m512i low = _mm512_shuffle_epi8(signs, _mm512_and_si512(spread, mask));
  const __m512i high = _mm512_shuffle_epi8(signs, _mm512_and_si512(_mm512_srli_epi16(spread, 4), mask));
  first = _mm512_unpacklo_epi8(low, high);
  second = _mm512_unpackhi_epi8(low, high);
}

/// 64-bit products divided by 2^bits, rounded half up or half away from zero.
template <bool kAway>
AMCT_VOP __m512i divide_products(__m512i products, __m512i bits) {
  __m512i half = _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_sub_epi64(bits, _mm512_set1_epi64(1)));
  if constexpr (kAway) half = _mm512_add_epi64(half, _mm512_srai_epi64(products, 63));
  return _mm512_srav_epi64(_mm512_add_epi64(products, half), bits);
}
/// a * b / 2^bits, rounded once, half up or half away from zero; b >= 0, bits from 31 to 62.
template <bool kAway>
AMCT_VOP I multiply_divide(I a, I b, I bits) {
  const __m512i low = _mm512_set1_epi64(0xFFFFFFFF);
  const __m512i even = divide_products<kAway>(_mm512_mul_epi32(a, b), _mm512_and_si512(bits, low));
  const __m512i odd = divide_products<kAway>(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)),
                                             _mm512_srli_epi64(bits, 32));
  return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}
/// v / 2^bits, rounded half away from zero; bits from 0 to 31.
AMCT_VOP I divide_half_away(I v, I bits) {
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, bits), one);
  const __m512i most = _mm512_sub_epi32(_mm512_srli_epi32(mask, 1), _mm512_srai_epi32(v, 31));
  const __m512i floor = _mm512_srav_epi32(v, bits);
  return _mm512_mask_add_epi32(floor, _mm512_cmpgt_epi32_mask(_mm512_and_si512(v, mask), most), floor, one);
}

/// a where v is above the bound, else b; NaN is not above.
AMCT_VOP F where_above(F v, F bound, F a, F b) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(v, bound, _CMP_GT_OQ), b, a);
}
/// a where v is NaN, else b.
AMCT_VOP F where_nan(F v, F a, F b) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), b, a); }
/// Towards zero; |v| < 2^31.
AMCT_VOP I truncate(F v) { return _mm512_cvttps_epi32(v); }

AMCT_VOP F square_root(F v) { return _mm512_sqrt_ps(v); }
/// The bits of a float as an integer, and back.
AMCT_VOP I as_int(F v) { return _mm512_castps_si512(v); }
AMCT_VOP F as_float(I v) { return _mm512_castsi512_ps(v); }
AMCT_VOP I shift_left(I v, int bits) { return _mm512_sll_epi32(v, _mm_cvtsi32_si128(bits)); }
AMCT_VOP I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
AMCT_VOP I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
/// Every second of 2 * kLanes floats, from the first on.
AMCT_VOP F load_even(const float* p) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(_mm512_loadu_ps(p), even, _mm512_loadu_ps(p + 16));
}

/// For code that takes both.
AMCT_VOP I to_int(I v) { return v; }
AMCT_VOP I at_most(I v, I bound) { return _mm512_min_epi32(v, bound); }
AMCT_VOP I at_least(I v, I bound) { return _mm512_max_epi32(v, bound); }
AMCT_VOP void store(std::int32_t* p, I v) { _mm512_storeu_si512(p, v); }

}  // namespace amct::simd::avx512
