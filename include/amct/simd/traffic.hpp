// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace amct::simd {

/// How results go to memory: through the caches, or past them with non-temporal stores.
enum class Traffic : bool { cached, streamed };

/// Array calls that move at least this much stream their results. Far below it the next reader would find them in a
/// cache; from here on they would only push other data out, and every line would be read before it is written.
inline constexpr std::size_t kStreamedBytes = std::size_t{64} << 20;

/// The traffic of a call that reads and writes so many bytes. Results that overwrite their input are never streamed:
/// their lines are in the cache anyway.
[[nodiscard]] inline Traffic choose_traffic(const void* in, const void* out, std::size_t bytes) noexcept {
  return bytes >= kStreamedBytes && in != out ? Traffic::streamed : Traffic::cached;
}

/// Whether large data are read faster as several streams than as one: AMD's prefetchers do best with one.
[[nodiscard]] inline bool reads_in_streams() noexcept {
#if defined(__x86_64__)
  return !__builtin_cpu_is("amd");
#else
  return true;
#endif
}

}  // namespace amct::simd
