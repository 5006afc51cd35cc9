// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compiles the kernel body that the macro AMCT_KERNEL_BODY names once for each instruction set, inside its target
/// region, with AMCT_ARCH_NAMESPACE set to its name. With AMCT_KERNEL_IS_REFERENCE defined also for plain C++, in the
/// namespace `reference`, for formulas that are written once. No include guard: each kernel includes this once.

#include <amct/simd/vec.hpp>

#if defined(AMCT_KERNEL_IS_REFERENCE)
#define AMCT_ARCH_NAMESPACE reference
AMCT_EXACT_BEGIN
#include AMCT_KERNEL_BODY
AMCT_EXACT_END
#undef AMCT_ARCH_NAMESPACE
#undef AMCT_KERNEL_IS_REFERENCE
#endif
#if defined(__x86_64__)
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
#define AMCT_ARCH_NAMESPACE neon
AMCT_EXACT_BEGIN
#include AMCT_KERNEL_BODY
AMCT_EXACT_END
#undef AMCT_ARCH_NAMESPACE
#endif
#undef AMCT_KERNEL_BODY
