// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/simd/arch.hpp>

/// \file
/// `AMCT_DISPATCH(call)` returns what amct::kernel::<arch>::call gives for the active instruction set, or
/// amct::kernel::reference::call. `AMCT_DISPATCH_VECTOR(call)` does so where there is a vector body, and goes on behind
/// it otherwise. `call` is a function name with its arguments; one relaxed load and one branch a call.

#if defined(__x86_64__)
#define AMCT_DISPATCH_VECTOR(...)                                                \
  switch (::amct::simd::base_of(::amct::simd::active())) {                       \
    case ::amct::simd::Arch::avx512: return ::amct::kernel::avx512::__VA_ARGS__; \
    case ::amct::simd::Arch::avx2: return ::amct::kernel::avx2::__VA_ARGS__;     \
    default: break;                                                              \
  }
#elif defined(__aarch64__)
#define AMCT_DISPATCH_VECTOR(...)                                            \
  switch (::amct::simd::base_of(::amct::simd::active())) {                   \
    case ::amct::simd::Arch::neon: return ::amct::kernel::neon::__VA_ARGS__; \
    default: break;                                                          \
  }
#else
#define AMCT_DISPATCH_VECTOR(...)
#endif

#define AMCT_DISPATCH(...)          \
  AMCT_DISPATCH_VECTOR(__VA_ARGS__) \
  return ::amct::kernel::reference::__VA_ARGS__;
