// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/// clang's arm_neon.h has dot products only where the whole program may use them.
#if defined(__aarch64__) && defined(__linux__) && (defined(__ARM_FEATURE_DOTPROD) || !defined(__clang__))
#define AMCT_HAS_NEON_DOT 1
#endif

namespace amct::simd {

/// Instruction sets, from slow to fast on one kind of machine. Ordinary kernels have bodies for neon, avx2 and avx512;
/// the integer products of kernel/gemm_s8.hpp also for what comes with these: neon_dot (SDOT), avx512vnni (VPDPBUSD)
/// and amx (tiles of int8).
enum class Arch : std::uint8_t { scalar, neon, neon_dot, avx2, avx512, avx512vnni, amx };

[[nodiscard]] constexpr const char* name_of(Arch arch) noexcept {
  switch (arch) {
    case Arch::scalar: return "scalar";
    case Arch::neon: return "neon";
    case Arch::neon_dot: return "neon_dot";
    case Arch::avx2: return "avx2";
    case Arch::avx512: return "avx512";
    case Arch::avx512vnni: return "avx512vnni";
    case Arch::amx: return "amx";
  }
  return "unknown";
}

/// The instruction set whose bodies ordinary kernels take under `arch`.
[[nodiscard]] constexpr Arch base_of(Arch arch) noexcept {
  switch (arch) {
    case Arch::neon_dot: return Arch::neon;
    case Arch::avx512vnni:
    case Arch::amx: return Arch::avx512;
    default: return arch;
  }
}

namespace detail {

#if defined(__x86_64__)
/// Conversions of halves, which clang's __builtin_cpu_supports does not know.
[[nodiscard]] inline bool has_f16c() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/// Whether the processor has int8 tiles and the system lets this process use them. Linux wants to be asked first, once
/// a process, since tiles make the memory of each of its threads 8 KiB larger.
[[nodiscard]] inline bool ask_for_tiles() noexcept {
#if defined(__linux__)
  constexpr unsigned kTiles = 1U << 24;
  constexpr unsigned kInt8Tiles = 1U << 25;
  constexpr unsigned kSavesRegisters = 1U << 27;  // XGETBV can be used
  constexpr unsigned kTileState = 3U << 17;
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSavesRegisters) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTiles) == 0 || (d & kInt8Tiles) == 0) return false;
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

[[nodiscard]] inline bool may_use_tiles() noexcept {
  static const bool granted = ask_for_tiles();
  return granted;
}
#endif

#if defined(AMCT_HAS_NEON_DOT)
[[nodiscard]] inline bool has_dot_products() noexcept { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
#endif

}  // namespace detail

/// Whether this machine executes an instruction set. AVX-512 means F, BW, DQ and VL; AVX2 includes FMA and F16C. AMX
/// also needs the system's permission, which the first question asks for.
[[nodiscard]] inline bool is_available(Arch arch) noexcept {
  switch (arch) {
    case Arch::scalar: return true;
#if defined(__x86_64__)
    case Arch::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && detail::has_f16c();
    case Arch::avx512:
      return is_available(Arch::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Arch::avx512vnni: return is_available(Arch::avx512) && __builtin_cpu_supports("avx512vnni");
    case Arch::amx: return is_available(Arch::avx512vnni) && detail::may_use_tiles();
#elif defined(__aarch64__)
    case Arch::neon: return true;  // part of the base instruction set
#if defined(AMCT_HAS_NEON_DOT)
    case Arch::neon_dot: return detail::has_dot_products();
#endif
#endif
    default: return false;
  }
}

namespace detail {

inline constexpr Arch kAllArchs[] = {Arch::amx,      Arch::avx512vnni, Arch::avx512, Arch::avx2,
                                     Arch::neon_dot, Arch::neon,       Arch::scalar};

/// The fastest instruction set, but not above what the environment variable AMCT_ARCH names.
[[nodiscard]] inline Arch choose_arch() noexcept {
  const char* const wanted = std::getenv("AMCT_ARCH");
  Arch limit = kAllArchs[0];
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
/// (a name of name_of(); read once) or use() chose a lower one. All give the same bits.
[[nodiscard]] inline Arch active() noexcept { return detail::active_arch().load(std::memory_order_relaxed); }

/// Forces an instruction set for all kernels of the process, for tests and benchmarks.
/// \return false, and nothing changes, if this machine does not have it
inline bool use(Arch arch) noexcept {
  if (!is_available(arch)) return false;
  detail::active_arch().store(arch, std::memory_order_relaxed);
  return true;
}

/// Calls `body(arch)` with each instruction set of this machine forced that integer products have a body for, the
/// fastest first, then restores the one before.
template <class Body>
void for_each_available_integer(Body&& body) {
  const Arch before = active();
  for (const Arch arch : detail::kAllArchs) {
    if (use(arch)) body(arch);
  }
  use(before);
}

/// The same with those that ordinary kernels have bodies for.
template <class Body>
void for_each_available(Body&& body) {
  for_each_available_integer([&](Arch arch) {
    if (arch == base_of(arch)) body(arch);
  });
}

}  // namespace amct::simd
