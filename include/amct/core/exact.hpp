// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Regions in which the compiler may not fuse a multiplication and an addition.
///
/// Under `-march=native` both g++ and clang may turn `a * b + c` into one fused operation, which rounds once instead
/// of twice and moves the last bit. Every formula whose bits are part of amct's contract therefore stands between
/// AMCT_EXACT_BEGIN and AMCT_EXACT_END. Include other headers before the region, never inside it.

#if defined(__clang__)
#define AMCT_EXACT_BEGIN _Pragma("float_control(push)") _Pragma("clang fp contract(off)")
#define AMCT_EXACT_END _Pragma("float_control(pop)")
#elif defined(__GNUC__)
#define AMCT_EXACT_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"fp-contract=off\")")
#define AMCT_EXACT_END _Pragma("GCC pop_options")
#else
#error "amct supports g++ (12 or newer) and clang (14 or newer)"
#endif

#if defined(__FAST_MATH__)
#error "amct promises exact results; compile without -ffast-math"
#endif
