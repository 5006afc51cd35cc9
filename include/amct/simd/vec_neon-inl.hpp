// SPDX-License-Identifier: Apache-2.0
// Vector operations for NEON on aarch64. See vec_avx512-inl.hpp for meanings.

namespace amct::simd::neon {

using F = float32x4_t;
using I = int32x4_t;
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
AMCT_VOP bool any_nan(F a, F b, F c, F d) {
  const uint32x4_t ordered =
      vandq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)), vandq_u32(vceqq_f32(c, c), vceqq_f32(d, d)));
  return vminvq_u32(ordered) == 0;
}
AMCT_VOP bool any_above(F v, F bound) { return vmaxvq_u32(vcgtq_f32(v, bound)) != 0; }
AMCT_VOP I to_int(F v) { return vcvtnq_s32_f32(v); }
AMCT_VOP F to_float(I v) { return vcvtq_f32_s32(v); }
AMCT_VOP I add(I a, I b) { return vaddq_s32(a, b); }
AMCT_VOP I sub(I a, I b) { return vsubq_s32(a, b); }

AMCT_VOP I load_codes(const std::int8_t* p) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, p, sizeof four);
  return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four)))));
}
AMCT_VOP I load_codes(const std::int16_t* p) { return vmovl_s16(vld1_s16(p)); }
AMCT_VOP void store_codes(std::int8_t* p, I a, I b, I c, I d, std::int16_t offset, std::int8_t low, std::int8_t high) {
  const int16x8_t shift = vdupq_n_s16(offset);
  const int16x8_t ab = vqaddq_s16(vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)), shift);
  const int16x8_t cd = vqaddq_s16(vcombine_s16(vqmovn_s32(c), vqmovn_s32(d)), shift);
  const int8x16_t codes = vcombine_s8(vqmovn_s16(ab), vqmovn_s16(cd));
  vst1q_s8(p, vminq_s8(vmaxq_s8(codes, vdupq_n_s8(low)), vdupq_n_s8(high)));
}
AMCT_VOP void store_codes(std::int16_t* p, I a, I b, std::int16_t low, std::int16_t high) {
  const int16x8_t codes = vcombine_s16(vqmovn_s32(a), vqmovn_s32(b));
  vst1q_s16(p, vminq_s16(vmaxq_s16(codes, vdupq_n_s16(low)), vdupq_n_s16(high)));
}

AMCT_VOP I magnitude_bits(F v) { return vandq_s32(vreinterpretq_s32_f32(v), vdupq_n_s32(0x7fffffff)); }
AMCT_VOP I larger(I a, I b) { return vmaxq_s32(a, b); }
AMCT_VOP void store(std::int32_t* p, I v) { vst1q_s32(p, v); }

}  // namespace amct::simd::neon
