// SPDX-License-Identifier: Apache-2.0
// Vector operations for NEON on aarch64. See vec_avx512-inl.hpp for meanings.

namespace amct::simd::neon {

using F = float32x4_t;
using I = int32x4_t;
using H = int16x8_t;
inline constexpr std::size_t kLanes = 4;

AMCT_VOP F load(const float* p) { return vld1q_f32(p); }
AMCT_VOP I load(const std::int32_t* p) { return vld1q_s32(p); }
AMCT_VOP void store(float* p, F v) { vst1q_f32(p, v); }
AMCT_VOP F set(float v) { return vdupq_n_f32(v); }
AMCT_VOP I set(std::int32_t v) { return vdupq_n_s32(v); }
AMCT_VOP F add(F a, F b) { return vaddq_f32(a, b); }
AMCT_VOP F sub(F a, F b) { return vsubq_f32(a, b); }
AMCT_VOP F mul(F a, F b) { return vmulq_f32(a, b); }
AMCT_VOP F div(F a, F b) { return vdivq_f32(a, b); }
AMCT_VOP F fused_add(F a, F b, F c) { return vfmaq_f32(c, a, b); }
AMCT_VOP F fused_sub(F a, F b, F c) { return vfmsq_f32(c, a, b); }
AMCT_VOP F at_most(F v, F bound) { return vbslq_f32(vcgtq_f32(v, bound), bound, v); }
AMCT_VOP F at_least(F v, F bound) { return vbslq_f32(vcltq_f32(v, bound), bound, v); }
AMCT_VOP F at_most_or_zero(F v, F bound) { return vbslq_f32(vceqq_f32(v, v), at_most(v, bound), vdupq_n_f32(0.0F)); }
AMCT_VOP bool any_nan(F a, F b, F c, F d) {
  const uint32x4_t ordered =
      vandq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)), vandq_u32(vceqq_f32(c, c), vceqq_f32(d, d)));
  return vminvq_u32(ordered) == 0;
}
AMCT_VOP bool any_above(F v, F bound) { return vmaxvq_u32(vcgtq_f32(v, bound)) != 0; }
AMCT_VOP F round(F v) { return vrndnq_f32(v); }
AMCT_VOP I to_int(F v) { return vcvtnq_s32_f32(v); }
AMCT_VOP F to_float(I v) { return vcvtq_f32_s32(v); }
AMCT_VOP I add(I a, I b) { return vaddq_s32(a, b); }
AMCT_VOP I sub(I a, I b) { return vsubq_s32(a, b); }
AMCT_VOP I shift_right(I v, int bits) { return vshlq_s32(v, vdupq_n_s32(-bits)); }
AMCT_VOP I shift_right_each(I v, I bits) { return vshlq_s32(v, vnegq_s32(bits)); }

AMCT_VOP F load(const Half* p) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<const std::uint16_t*>(p))));
}
AMCT_VOP int8x16_t load_bytes(const std::int8_t* p) { return vld1q_s8(p); }
AMCT_VOP I load_codes(const std::int8_t* p) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, p, sizeof four);
  return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four)))));
}
AMCT_VOP I load_codes(const std::int16_t* p) { return vmovl_s16(vld1_s16(p)); }
AMCT_VOP I load_codes4(const std::int8_t* p) {
  std::int16_t two = 0;
  __builtin_memcpy(&two, p, sizeof two);
  constexpr std::int32_t kToTop[] = {28, 24, 20, 16};
  return vshrq_n_s32(vshlq_s32(vdupq_n_s32(two), vld1q_s32(kToTop)), 28);
}

/// Streamed stores have no instruction of their own here.
template <Traffic>
AMCT_VOP void put(std::int8_t* p, int8x16_t v) {
  vst1q_s8(p, v);
}
template <Traffic>
AMCT_VOP void put(std::int16_t* p, int16x8_t v) {
  vst1q_s16(p, v);
}
template <Traffic>
AMCT_VOP void put(float* p, F v) {
  vst1q_f32(p, v);
}
AMCT_VOP void finish_streaming() {}

AMCT_VOP H narrow(I a, I b) { return vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)); }
AMCT_VOP H set16(std::int16_t v) { return vdupq_n_s16(v); }
AMCT_VOP H add_saturating(H a, H b) { return vqaddq_s16(a, b); }
AMCT_VOP int8x16_t codes8(H ab, H cd, std::int8_t low) {
  const int8x16_t codes = vcombine_s8(vqmovn_s16(ab), vqmovn_s16(cd));
  return vmaxq_s8(codes, vdupq_n_s8(low));
}
AMCT_VOP int8x16_t flip_signs(int8x16_t codes) { return veorq_s8(codes, vdupq_n_s8(-128)); }
AMCT_VOP H codes16(H ab, std::int16_t low) { return vmaxq_s16(ab, vdupq_n_s16(low)); }

AMCT_VOP int8x16_t pair_nibbles(int8x16_t a, int8x16_t b) {
  return vsliq_n_s8(vandq_s8(vuzp1q_s8(a, b), vdupq_n_s8(15)), vuzp2q_s8(a, b), 4);
}
AMCT_VOP void split_nibbles(int8x16_t bytes, int8x16_t& first, int8x16_t& second) {
  const int8x16_t low = vshrq_n_s8(vshlq_n_s8(bytes, 4), 4);
  const int8x16_t high = vshrq_n_s8(bytes, 4);
  first = vzip1q_s8(low, high);
  second = vzip2q_s8(low, high);
}

template <bool kAway>
AMCT_VOP int32x2_t divide_products(int64x2_t products, int32x2_t bits) {
  if constexpr (kAway) products = vaddq_s64(products, vshrq_n_s64(products, 63));
  return vmovn_s64(vrshlq_s64(products, vnegq_s64(vmovl_s32(bits))));
}
template <bool kAway>
AMCT_VOP I multiply_divide(I a, I b, I bits) {
  return vcombine_s32(divide_products<kAway>(vmull_s32(vget_low_s32(a), vget_low_s32(b)), vget_low_s32(bits)),
                      divide_products<kAway>(vmull_high_s32(a, b), vget_high_s32(bits)));
}
AMCT_VOP I divide_half_away(I v, I bits) {
  const int32x4_t right = vnegq_s32(bits);
  const int32x4_t towards_below = vshrq_n_s32(vandq_s32(v, right), 31);
  return vrshlq_s32(vqaddq_s32(v, towards_below), right);
}

AMCT_VOP F where_above(F v, F bound, F a, F b) { return vbslq_f32(vcgtq_f32(v, bound), a, b); }
AMCT_VOP F where_nan(F v, F a, F b) { return vbslq_f32(vceqq_f32(v, v), b, a); }
AMCT_VOP I truncate(F v) { return vcvtq_s32_f32(v); }

AMCT_VOP F square_root(F v) { return vsqrtq_f32(v); }
AMCT_VOP I as_int(F v) { return vreinterpretq_s32_f32(v); }
AMCT_VOP F as_float(I v) { return vreinterpretq_f32_s32(v); }
AMCT_VOP I shift_left(I v, int bits) { return vshlq_s32(v, vdupq_n_s32(bits)); }
AMCT_VOP I bit_and(I a, I b) { return vandq_s32(a, b); }
AMCT_VOP I bit_or(I a, I b) { return vorrq_s32(a, b); }
AMCT_VOP F load_even(const float* p) { return vuzp1q_f32(vld1q_f32(p), vld1q_f32(p + 4)); }

AMCT_VOP I to_int(I v) { return v; }
AMCT_VOP I at_most(I v, I bound) { return vminq_s32(v, bound); }
AMCT_VOP I at_least(I v, I bound) { return vmaxq_s32(v, bound); }
AMCT_VOP void store(std::int32_t* p, I v) { vst1q_s32(p, v); }

}  // namespace amct::simd::neon
