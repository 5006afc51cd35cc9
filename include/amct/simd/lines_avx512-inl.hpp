// SPDX-License-Identifier: Apache-2.0
// Lines of codes for AVX-512. Included by simd/lines.hpp inside the target region.

namespace amct::simd::avx512 {

/// Codes that a step of these functions takes from each line.
inline constexpr std::size_t kZippedBytes = 64;
inline constexpr std::size_t kZippedHalves = 32;

/// 64 bytes with the rows and columns of their 4 x 4 integers exchanged. Unpacking works within quarters of a register;
/// of bytes turned like this its results come in order.
AMCT_VOP __m512i load_turned(const std::byte* p) {
  const __m512i turned = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(turned, _mm512_loadu_si512(p));
}

/// Four lines of bytes as groups of four bytes, one of each line.
AMCT_VOP void zip_bytes(const std::byte* a, const std::byte* b, const std::byte* c, const std::byte* d,
                        std::int32_t* to) {
  const __m512i va = load_turned(a);
  const __m512i vb = load_turned(b);
  const __m512i vc = load_turned(c);
  const __m512i vd = load_turned(d);
  const __m512i ab_low = _mm512_unpacklo_epi8(va, vb);
  const __m512i ab_high = _mm512_unpackhi_epi8(va, vb);
  const __m512i cd_low = _mm512_unpacklo_epi8(vc, vd);
  const __m512i cd_high = _mm512_unpackhi_epi8(vc, vd);
  _mm512_storeu_si512(to, _mm512_unpacklo_epi16(ab_low, cd_low));
  _mm512_storeu_si512(to + 16, _mm512_unpackhi_epi16(ab_low, cd_low));
  _mm512_storeu_si512(to + 32, _mm512_unpacklo_epi16(ab_high, cd_high));
  _mm512_storeu_si512(to + 48, _mm512_unpackhi_epi16(ab_high, cd_high));
}

/// Two lines of int16 as pairs, one of each line.
AMCT_VOP void zip_halves(const std::int16_t* a, const std::int16_t* b, std::int32_t* to) {
  const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  const __m512i va = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(a));
  const __m512i vb = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(b));
  _mm512_storeu_si512(to, _mm512_unpacklo_epi16(va, vb));
  _mm512_storeu_si512(to + 16, _mm512_unpackhi_epi16(va, vb));
}

/// 64 bytes, the top bit of each exchanged by xor.
AMCT_VOP void copy_bytes(const std::byte* from, std::byte flip, std::byte* to) {
  _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_loadu_si512(from), _mm512_set1_epi8(static_cast<char>(flip))));
}
/// kZippedHalves codes as int16.
AMCT_VOP void copy_halves(const std::int8_t* from, std::int16_t* to) {
  _mm512_storeu_si512(to, _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
AMCT_VOP void copy_halves(const std::uint8_t* from, std::int16_t* to) {
  _mm512_storeu_si512(to, _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
AMCT_VOP void copy_halves(const std::int16_t* from, std::int16_t* to) {
  _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}

/// A register of codes of T.
template <class T>
struct CodeVector {
  static constexpr std::size_t kCodes = 64 / sizeof(T);

  AMCT_VOP static __m512i load(const T* p) { return _mm512_loadu_si512(p); }
  AMCT_VOP static void store(T* p, __m512i v) { _mm512_storeu_si512(p, v); }
  AMCT_VOP static __m512i larger(__m512i a, __m512i b) {
    if constexpr (std::is_same_v<T, std::int8_t>) return _mm512_max_epi8(a, b);
    if constexpr (std::is_same_v<T, std::uint8_t>) return _mm512_max_epu8(a, b);
    return _mm512_max_epi16(a, b);
  }
};

}  // namespace amct::simd::avx512
