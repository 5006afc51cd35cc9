// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <amct/simd/arch.hpp>
#include <amct/simd/vec.hpp>

/// \file
/// Sums of products of int8 and int16 for each instruction set, in the namespaces of simd/vec.hpp and, for what integer
/// products alone use, amct::simd::avx512vnni and amct::simd::neon_dot.

#if defined(__x86_64__)
#define AMCT_ARCH_NAMESPACE avx512vnni
AMCT_BEGIN_AVX512VNNI
#include <amct/simd/unroll-inl.hpp>
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
AMCT_BEGIN_AVX512
#include <amct/simd/dot_avx512-inl.hpp>
AMCT_END_TARGET
AMCT_BEGIN_AVX512VNNI
#include <amct/simd/dot_avx512vnni-inl.hpp>
AMCT_END_TARGET
AMCT_BEGIN_AVX2
#include <amct/simd/dot_avx2-inl.hpp>
AMCT_END_TARGET
#elif defined(__aarch64__)
AMCT_EXACT_BEGIN
#include <amct/simd/dot_neon-inl.hpp>
AMCT_EXACT_END
#if defined(AMCT_HAS_NEON_DOT)
#define AMCT_ARCH_NAMESPACE neon_dot
AMCT_BEGIN_NEON_DOT
#include <amct/simd/dot_neon_dot-inl.hpp>
#include <amct/simd/unroll-inl.hpp>
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#endif
#endif
