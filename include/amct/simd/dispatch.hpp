// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/simd/arch.hpp>

/// Calls amct::kernel::<arch>::call for the active instruction set, or amct::kernel::reference::call. `call` is a
/// function name with its arguments; one relaxed load and one branch a call.
#if defined(__x86_64__)
#define AMCT_DISPATCH(...)                                                       \
  switch (::amct::simd::active()) {                                              \
    case ::amct::simd::Arch::avx512: return ::amct::kernel::avx512::__VA_ARGS__; \
    case ::amct::simd::Arch::avx2: return ::amct::kernel::avx2::__VA_ARGS__;     \
    default: return ::amct::kernel::reference::__VA_ARGS__;                      \
  }
#elif defined(__aarch64__)
#define AMCT_DISPATCH(...)                                                   \
  switch (::amct::simd::active()) {                                          \
    case ::amct::simd::Arch::neon: return ::amct::kernel::neon::__VA_ARGS__; \
    default: return ::amct::kernel::reference::__VA_ARGS__;                  \
  }
#else
#define AMCT_DISPATCH(...) return ::amct::kernel::reference::__VA_ARGS__;
#endif
