// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/// \file
/// A host may have changed the rounding mode or let denormals flush to zero. Array functions compute under the defaults
/// all the same (round to nearest even, denormals kept) and restore what they found.

namespace amct {

namespace detail {

/// The control register of floating-point arithmetic.
[[nodiscard]] inline std::uint64_t fp_control() noexcept {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

inline void set_fp_control([[maybe_unused]] std::uint64_t value) noexcept {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(value));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(value));
#endif
}

/// Rounding mode and flushing of denormals within the control register; 0 = the defaults.
#if defined(__x86_64__)
inline constexpr std::uint64_t kFpModes = 0xE040;  // flush to zero, rounding, denormals are zero
#elif defined(__aarch64__)
inline constexpr std::uint64_t kFpModes = 0x3C00000;  // default NaN, flush to zero, rounding
#else
inline constexpr std::uint64_t kFpModes = 0;
#endif

/// A call the compiler cannot look through, so that no computation leaves the guarded region.
template <class Work>
[[gnu::noinline]] void call_opaque(Work& work) {
  work();
}

template <class Work>
[[gnu::noinline, gnu::cold]] void run_under_defaults(Work& work, std::uint64_t control) {
  set_fp_control(control & ~kFpModes);
  call_opaque(work);
  set_fp_control(control);
}

}  // namespace detail

/// Runs `work` under the default floating-point environment. `work` must not throw.
template <class Work>
void in_default_fp_environment(Work&& work) {
  const std::uint64_t control = detail::fp_control();
  if ((control & detail::kFpModes) == 0) [[likely]] {
    work();
  } else {
    detail::run_under_defaults(work, control);
  }
}

}  // namespace amct
