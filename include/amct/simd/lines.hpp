// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <amct/simd/vec.hpp>

/// \file
/// Lines of codes: copies, elements brought together, the larger of two; for each instruction set in the namespaces of
/// simd/vec.hpp.

#if defined(__x86_64__)
AMCT_BEGIN_AVX512
#include <amct/simd/lines_avx512-inl.hpp>
AMCT_END_TARGET
AMCT_BEGIN_AVX2
#include <amct/simd/lines_avx2-inl.hpp>
AMCT_END_TARGET
#elif defined(__aarch64__)
AMCT_EXACT_BEGIN
#include <amct/simd/lines_neon-inl.hpp>
AMCT_EXACT_END
#endif
