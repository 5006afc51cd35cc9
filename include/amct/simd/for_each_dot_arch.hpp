// SPDX-License-Identifier: Apache-2.0

/// \file
/// As simd/for_each_arch.hpp, for the instruction sets of simd/dot.hpp. The body may be compiled for a namespace whose
/// operations are those of another one with few more.

#include <amct/simd/dot.hpp>

#if defined(__x86_64__)
#define AMCT_ARCH_NAMESPACE avx512vnni
AMCT_BEGIN_AVX512VNNI
#include AMCT_KERNEL_BODY
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#define AMCT_ARCH_NAMESPACE avx512
AMCT_BEGIN_AVX512
#include AMCT_KERNEL_BODY
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#define AMCT_ARCH_NAMESPACE avx2
AMCT_BEGIN_AVX2
#include AMCT_KERNEL_BODY
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#elif defined(__aarch64__)
#if defined(AMCT_HAS_NEON_DOT)
#define AMCT_ARCH_NAMESPACE neon_dot
AMCT_BEGIN_NEON_DOT
#include AMCT_KERNEL_BODY
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#endif
#define AMCT_ARCH_NAMESPACE neon
AMCT_EXACT_BEGIN
#include AMCT_KERNEL_BODY
AMCT_EXACT_END
#undef AMCT_ARCH_NAMESPACE
#endif
#undef AMCT_KERNEL_BODY
