// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <amct/core/half.hpp>
#include <amct/simd/target.hpp>
#include <amct/simd/traffic.hpp>

/// \file
/// The same named vector operations for each instruction set, in a namespace each: amct::simd::avx512, avx2, neon; and
/// some of them for plain C++ in amct::simd::reference.

#define AMCT_ARCH_NAMESPACE reference
AMCT_EXACT_BEGIN
#include <amct/simd/unroll-inl.hpp>
#include <amct/simd/vec_reference-inl.hpp>
AMCT_EXACT_END
#undef AMCT_ARCH_NAMESPACE

#if defined(__x86_64__)
#define AMCT_ARCH_NAMESPACE avx512
AMCT_BEGIN_AVX512
#include <amct/simd/unroll-inl.hpp>
#include <amct/simd/vec_avx512-inl.hpp>
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#define AMCT_ARCH_NAMESPACE avx2
AMCT_BEGIN_AVX2
#include <amct/simd/unroll-inl.hpp>
#include <amct/simd/vec_avx2-inl.hpp>
AMCT_END_TARGET
#undef AMCT_ARCH_NAMESPACE
#elif defined(__aarch64__)
#define AMCT_ARCH_NAMESPACE neon
AMCT_EXACT_BEGIN
#include <amct/simd/unroll-inl.hpp>
#include <amct/simd/vec_neon-inl.hpp>
AMCT_EXACT_END
#undef AMCT_ARCH_NAMESPACE
#endif
