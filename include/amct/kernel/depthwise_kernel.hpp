// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <amct/kernel/row_source.hpp>
#include <amct/simd/arch.hpp>
#include <amct/simd/dot.hpp>
#include <amct/simd/lines.hpp>

namespace amct::kernel {

/// What the innermost loop of a depthwise convolution reads and writes: for each position of a strip and each channel,
/// start[channel] plus the products of all groups of taps.
struct TapSums {
  static constexpr std::size_t kPositions = 4;  ///< computed at once

  const std::int32_t* zipped = nullptr;  ///< elements of four lines beside each other, channels within positions
  const std::size_t* offsets = nullptr;  ///< by group: where its position 0 is
  std::size_t groups = 0;
  std::size_t part = 0;                  ///< integers from the even two of four elements of int16 to the odd two
  std::size_t width = 0;                 ///< channels, a multiple of 16
  std::size_t step = 0;                  ///< integers from a position to the next in `zipped`
  std::size_t positions = 0;             ///< a multiple of kPositions
  const std::int8_t* weights = nullptr;  ///< a block of PackedDepthwise
  std::size_t variant = 0;               ///< bytes to the weights of a second line
  const std::int32_t* start = nullptr;
  std::int32_t* sums = nullptr;  ///< aligned to 64 bytes
  std::size_t line = 0;          ///< integers to the sums of a second line
};

/// Pixels that are copied: channels of each, which stand and go at equal distances, with some bits exchanged.
struct PixelCopy {
  std::size_t pixels = 0, channels = 0;
  std::size_t from_step = 0, to_step = 0;
  std::byte flip{};
};

}  // namespace amct::kernel

#define AMCT_KERNEL_BODY <amct/kernel/body/depthwise_s8-inl.hpp>
#include <amct/simd/for_each_dot_arch.hpp>
#define AMCT_KERNEL_BODY <amct/kernel/body/depthwise_lines-inl.hpp>
#include <amct/simd/for_each_arch.hpp>
#if defined(__x86_64__)
#define AMCT_ARCH_NAMESPACE avx512
AMCT_BEGIN_AVX512
#include <amct/kernel/body/depthwise_bytes-inl.hpp>
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#elif defined(__aarch64__)
#define AMCT_ARCH_NAMESPACE neon
AMCT_EXACT_BEGIN
#include <amct/kernel/body/depthwise_bytes-inl.hpp>
AMCT_EXACT_END
#undef AMCT_ARCH_NAMESPACE
#endif

namespace amct::kernel {

/// How an instruction set computes depthwise convolutions of X, with lines of Element in scratch memory.
template <ActivationCode X, class Element>
struct DepthwiseKernel {
  void (*copy)(const PixelCopy& copy, const X* from, Element* to) noexcept = nullptr;
  void (*zip)(const std::array<const Element*, 4>& lines, std::size_t count, std::size_t part,
              std::int32_t* to) noexcept = nullptr;
  void (*sum)(const TapSums& tile, std::size_t lines) noexcept = nullptr;
  std::byte flip{};        ///< exchanged bits of codes when they are copied
  std::int32_t shift = 0;  ///< what that adds to them
};

/// Codes of a byte as the signed or unsigned bytes that products want.
template <ActivationCode X>
[[nodiscard]] constexpr DepthwiseKernel<X, std::byte> with_signs(DepthwiseKernel<X, std::byte> kernel,
                                                                 bool wants_signed) noexcept {
  constexpr bool kIsSigned = std::is_signed_v<X>;
  if (kIsSigned == wants_signed) return kernel;
  kernel.flip = std::byte{0x80};
  kernel.shift = kIsSigned ? 128 : -128;
  return kernel;
}

/// Calls run(kernel) with the DepthwiseKernel of an instruction set.
/// \return false, without a call, if it has none
template <ActivationCode X, class Run>
bool with_depthwise_kernel(simd::Arch arch, const Run& run) {
  using simd::Arch;
  constexpr bool kIsByte = sizeof(X) == 1;
  using Halves = DepthwiseKernel<X, std::int16_t>;
#if defined(__x86_64__)
  if (arch == Arch::amx || arch == Arch::avx512vnni) {
    if constexpr (kIsByte) {
      using Bytes = DepthwiseKernel<X, std::byte>;
      run(with_signs<X>(
          Bytes{&avx512::copy_codes<X>, &avx512::zip_lines, &avx512vnni::sum_taps<simd::avx512vnni::DotBytes>}, false));
    } else {
      run(Halves{&avx512::copy_codes<X>, &avx512::zip_lines, &avx512vnni::sum_taps<simd::avx512vnni::DotPairs>});
    }
    return true;
  }
  if (arch == Arch::avx512) {
    run(Halves{&avx512::copy_codes<X>, &avx512::zip_lines, &avx512::sum_taps<simd::avx512::DotPairs>});
    return true;
  }
  if (arch == Arch::avx2) {
    run(Halves{&avx2::copy_codes<X>, &avx2::zip_lines, &avx2::sum_taps<simd::avx2::DotPairs>});
    return true;
  }
#elif defined(__aarch64__)
  if (simd::base_of(arch) == Arch::neon) {
    if constexpr (kIsByte) {
      using Bytes = DepthwiseKernel<X, std::byte>;
      Bytes bytes{&neon::copy_codes<X>, &neon::zip_lines, &neon::sum_taps<simd::neon::DotBytes>};
#if defined(AMCT_HAS_NEON_DOT)
      if (arch == Arch::neon_dot) bytes.sum = &neon_dot::sum_taps<simd::neon_dot::DotBytes>;
#endif
      run(with_signs<X>(bytes, true));
    } else {
      run(Halves{&neon::copy_codes<X>, &neon::zip_lines, &neon::sum_taps<simd::neon::DotPairs>});
    }
    return true;
  }
#endif
  return false;
}

}  // namespace amct::kernel
