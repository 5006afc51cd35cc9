// SPDX-License-Identifier: Apache-2.0
// Lines of codes for NEON. See lines_avx512-inl.hpp for meanings.

namespace amct::simd::neon {

inline constexpr std::size_t kZippedBytes = 16;
inline constexpr std::size_t kZippedHalves = 8;

AMCT_VOP uint8x16_t load_line(const std::byte* p) { return vld1q_u8(reinterpret_cast<const std::uint8_t*>(p)); }

AMCT_VOP void zip_bytes(const std::byte* a, const std::byte* b, const std::byte* c, const std::byte* d,
                        std::int32_t* to) {
  vst4q_u8(reinterpret_cast<std::uint8_t*>(to), uint8x16x4_t{{load_line(a), load_line(b), load_line(c), load_line(d)}});
}

AMCT_VOP void zip_halves(const std::int16_t* a, const std::int16_t* b, std::int32_t* to) {
  vst2q_s16(reinterpret_cast<std::int16_t*>(to), int16x8x2_t{{vld1q_s16(a), vld1q_s16(b)}});
}

AMCT_VOP void copy_bytes(const std::byte* from, std::byte flip, std::byte* to) {
  vst1q_u8(reinterpret_cast<std::uint8_t*>(to), veorq_u8(load_line(from), vdupq_n_u8(static_cast<std::uint8_t>(flip))));
}
AMCT_VOP void copy_halves(const std::int8_t* from, std::int16_t* to) { vst1q_s16(to, vmovl_s8(vld1_s8(from))); }
AMCT_VOP void copy_halves(const std::uint8_t* from, std::int16_t* to) {
  vst1q_s16(to, vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from))));
}
AMCT_VOP void copy_halves(const std::int16_t* from, std::int16_t* to) { vst1q_s16(to, vld1q_s16(from)); }

template <class T>
struct CodeVector;
template <>
struct CodeVector<std::int8_t> {
  static constexpr std::size_t kCodes = 16;

  AMCT_VOP static int8x16_t load(const std::int8_t* p) { return vld1q_s8(p); }
  AMCT_VOP static void store(std::int8_t* p, int8x16_t v) { vst1q_s8(p, v); }
  AMCT_VOP static int8x16_t larger(int8x16_t a, int8x16_t b) { return vmaxq_s8(a, b); }
};
template <>
struct CodeVector<std::uint8_t> {
  static constexpr std::size_t kCodes = 16;

  AMCT_VOP static uint8x16_t load(const std::uint8_t* p) { return vld1q_u8(p); }
  AMCT_VOP static void store(std::uint8_t* p, uint8x16_t v) { vst1q_u8(p, v); }
  AMCT_VOP static uint8x16_t larger(uint8x16_t a, uint8x16_t b) { return vmaxq_u8(a, b); }
};
template <>
struct CodeVector<std::int16_t> {
  static constexpr std::size_t kCodes = 8;

  AMCT_VOP static int16x8_t load(const std::int16_t* p) { return vld1q_s16(p); }
  AMCT_VOP static void store(std::int16_t* p, int16x8_t v) { vst1q_s16(p, v); }
  AMCT_VOP static int16x8_t larger(int16x8_t a, int16x8_t b) { return vmaxq_s16(a, b); }
};

}  // namespace amct::simd::neon
