// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <amct/simd/target.hpp>

/// \file
/// The same named vector operations for each instruction set, in a namespace each: amct::simd::avx512, avx2, neon.

#if defined(__x86_64__)
AMCT_BEGIN_AVX512
#include <amct/simd/vec_avx512-inl.hpp>
AMCT_END_TARGET
AMCT_BEGIN_AVX2
#include <amct/simd/vec_avx2-inl.hpp>
AMCT_END_TARGET
#elif defined(__aarch64__)
AMCT_EXACT_BEGIN
#include <amct/simd/vec_neon-inl.hpp>
AMCT_EXACT_END
#endif
