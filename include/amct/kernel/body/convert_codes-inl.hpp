// SPDX-License-Identifier: Apache-2.0
// Codes on their way to the tiles of an integer product. See kernel/tile_kernel.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Converts a row in blocks of kConvertedCodes with step(from, to); the last one, if it is not full, works on copies.
/// `to` takes kBytes bytes a code and may be `from`.
template <class T, std::size_t kBytes, class Step>
AMCT_VOP void convert_row(const T* from, std::size_t count, std::byte* to, const Step& step) {
  std::size_t i = 0;
  for (; i + kConvertedCodes <= count; i += kConvertedCodes) step(from + i, to + i * kBytes);
  if (i == count) return;
  T last[kConvertedCodes] = {};
  std::byte converted[kConvertedCodes * kBytes];
  std::memcpy(last, from + i, (count - i) * sizeof(T));
  step(last, converted);
  std::memcpy(to + i * kBytes, converted, padded_run(count - i) * kBytes);
}

template <class T, std::size_t kBytes, class Step>
AMCT_VOP void convert_rows(const CodesToConvert& job, const Step& step) {
  const auto* from = static_cast<const std::byte*>(job.from);
  std::byte* to = job.to;
  for (std::size_t i = 0; i < job.rows; ++i, from += job.from_step, to += job.to_step) {
    convert_row<T, kBytes>(reinterpret_cast<const T*>(from), job.count, to, step);
  }
}

/// Codes of the other sign convention, 128 more or less.
template <class T>
void flip_rows(const CodesToConvert& shared) noexcept {
  const CodesToConvert job = shared;  // a copy that no store can change
  convert_rows<T, 1>(job, [](const T* codes, auto* flipped)
                              AMCT_VLAMBDA { flip_codes(reinterpret_cast<const std::byte*>(codes), flipped); });
}

/// Codes as int16, in the order of pairs.
template <class T>
void widen_rows(const CodesToConvert& shared) noexcept {
  const CodesToConvert job = shared;
  convert_rows<T, 2>(job, [](const T* codes, std::byte* wide) AMCT_VLAMBDA { widen_codes(codes, wide); });
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
