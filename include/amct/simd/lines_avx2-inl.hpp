// SPDX-License-Identifier: Apache-2.0
// Lines of codes for AVX2. See lines_avx512-inl.hpp for meanings.

namespace amct::simd::avx2 {

inline constexpr std::size_t kZippedHalves = 16;

AMCT_VOP __m256i load_turned(const std::int16_t* p) {
  return _mm256_permute4x64_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), 0b11011000);
}

AMCT_VOP void zip_halves(const std::int16_t* a, const std::int16_t* b, std::int32_t* to) {
  const __m256i va = load_turned(a);
  const __m256i vb = load_turned(b);
  store(to, _mm256_unpacklo_epi16(va, vb));
  store(to + 8, _mm256_unpackhi_epi16(va, vb));
}

AMCT_VOP void store_halves(std::int16_t* to, __m256i codes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), codes);
}
AMCT_VOP void copy_halves(const std::int8_t* from, std::int16_t* to) {
  store_halves(to, _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
AMCT_VOP void copy_halves(const std::uint8_t* from, std::int16_t* to) {
  store_halves(to, _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
AMCT_VOP void copy_halves(const std::int16_t* from, std::int16_t* to) {
  store_halves(to, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

template <class T>
struct CodeVector {
  static constexpr std::size_t kCodes = 32 / sizeof(T);

  AMCT_VOP static __m256i load(const T* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  AMCT_VOP static void store(T* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  AMCT_VOP static __m256i larger(__m256i a, __m256i b) {
    if constexpr (std::is_same_v<T, std::int8_t>) return _mm256_max_epi8(a, b);
    if constexpr (std::is_same_v<T, std::uint8_t>) return _mm256_max_epu8(a, b);
    return _mm256_max_epi16(a, b);
  }
};

}  // namespace amct::simd::avx2
