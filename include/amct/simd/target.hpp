// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Regions of code compiled for one instruction set in a program built for any other, with fusing of multiplication and
/// addition switched off as in core/exact.hpp. Include headers before a region, never inside.
///
/// Everything in a region must stand in a namespace named after the instruction set, or the linker may keep the one
/// copy of a function that the machine cannot execute. Vector types must not cross a function that is not AMCT_VOP.

#include <amct/core/exact.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// A vector operation: always inlined, so that using it outside its region is an error and not garbage.
#define AMCT_VOP [[gnu::always_inline]] inline

/// The same for a lambda: [&](...) AMCT_VLAMBDA { ... }.
#define AMCT_VLAMBDA __attribute__((always_inline))

/// In front of a loop over registers with a constant count, at most 16: unrolled, so that they need no memory.
#if defined(__clang__)
#define AMCT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define AMCT_UNROLL _Pragma("GCC unroll 16")
#endif

#define AMCT_PRAGMA(text) _Pragma(#text)

#if defined(__clang__)
#define AMCT_BEGIN_TARGET(features)                                                         \
  AMCT_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function)) \
  AMCT_EXACT_BEGIN
#define AMCT_END_TARGET AMCT_EXACT_END _Pragma("clang attribute pop")
#else
// The intrinsics of g++ 12 warn of their own undefined values, which is what they are for.
#define AMCT_BEGIN_TARGET(features)                                                 \
  AMCT_EXACT_BEGIN AMCT_PRAGMA(GCC target(features)) _Pragma("GCC diagnostic push") \
      _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")                         \
          _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")
#define AMCT_END_TARGET _Pragma("GCC diagnostic pop") AMCT_EXACT_END
#endif

#define AMCT_BEGIN_AVX2 AMCT_BEGIN_TARGET("avx2,fma,f16c")
#define AMCT_BEGIN_AVX512 AMCT_BEGIN_TARGET("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#define AMCT_BEGIN_AVX512VNNI AMCT_BEGIN_TARGET("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#define AMCT_BEGIN_NEON_DOT AMCT_BEGIN_TARGET("arch=armv8.2-a+dotprod")
