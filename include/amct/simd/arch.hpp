// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace amct::simd {

/// Instruction sets that kernels have bodies for, from slow to fast on one kind of machine.
enum class Arch : std::uint8_t { scalar, neon, avx2, avx512 };

[[nodiscard]] constexpr const char* name_of(Arch arch) noexcept {
  switch (arch) {
    case Arch::scalar: return "scalar";
    case Arch::neon: return "neon";
    case Arch::avx2: return "avx2";
    case Arch::avx512: return "avx512";
  }
  return "unknown";
}

#if defined(__x86_64__)
namespace detail {

/// Conversions of halves, which clang's __builtin_cpu_supports does not know.
[[nodiscard]] inline bool has_f16c() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace detail
#endif

/// Whether this machine executes an instruction set. AVX-512 means F, BW, DQ and VL; AVX2 includes FMA and F16C.
[[nodiscard]] inline bool is_available(Arch arch) noexcept {
  switch (arch) {
    case Arch::scalar: return true;
#if defined(__x86_64__)
    case Arch::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && detail::has_f16c();
    case Arch::avx512:
      return is_available(Arch::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
    case Arch::neon: return true;  // part of the base instruction set
#endif
    default: return false;
  }
}

namespace detail {

inline constexpr Arch kAllArchs[] = {Arch::avx512, Arch::avx2, Arch::neon, Arch::scalar};

/// The fastest instruction set, but not above what the environment variable AMCT_ARCH names.
[[nodiscard]] inline Arch choose_arch() noexcept {
  const char* const wanted = std::getenv("AMCT_ARCH");
  Arch limit = Arch::avx512;
  for (const Arch arch : kAllArchs) {
    if (wanted != nullptr && std::string_view(wanted) == name_of(arch)) limit = arch;
  }
  for (const Arch arch : kAllArchs) {
    if (arch <= limit && is_available(arch)) return arch;
  }
  return Arch::scalar;
}

inline std::atomic<Arch>& active_arch() noexcept {
  static std::atomic<Arch> arch{choose_arch()};
  return arch;
}

}  // namespace detail

/// The instruction set that kernels take now: the fastest this machine has, unless the environment variable AMCT_ARCH
/// (scalar, neon, avx2, avx512; read once) or use() chose a lower one. All give the same bits.
[[nodiscard]] inline Arch active() noexcept { return detail::active_arch().load(std::memory_order_relaxed); }

/// Forces an instruction set for all kernels of the process, for tests and benchmarks.
/// \return false, and nothing changes, if this machine does not have it
inline bool use(Arch arch) noexcept {
  if (!is_available(arch)) return false;
  detail::active_arch().store(arch, std::memory_order_relaxed);
  return true;
}

/// Calls `body(arch)` with each instruction set of this machine forced, then restores the one before.
template <class Body>
void for_each_available(Body&& body) {
  const Arch before = active();
  for (const Arch arch : detail::kAllArchs) {
    if (use(arch)) body(arch);
  }
  use(before);
}

}  // namespace amct::simd
