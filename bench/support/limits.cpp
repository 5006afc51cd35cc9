// SPDX-License-Identifier: Apache-2.0
// Compiled with -O3 -march=native, unlike our kernels, which choose their instructions at run time.
#include "support/limits.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

/// A cache line.
using Line = std::uint64_t __attribute__((vector_size(64), may_alias));

template <bool kNonTemporal>
inline void put(Line* to, Line line) {
#if defined(__AVX512F__)
  if constexpr (kNonTemporal)
    return _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(line));
#elif defined(__AVX__)
  if constexpr (kNonTemporal) {
    const auto* halves = reinterpret_cast<const __m256i*>(&line);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), halves[0]);
    return _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, halves[1]);
  }
#endif
  *to = line;
}

/// Reads kRead lines and writes kWritten; what is read is combined or repeated, so that every line counts.
template <std::size_t kRead, std::size_t kWritten, bool kNonTemporal>
inline void move_block(const Line* in, Line* out) {
  if constexpr (kRead >= kWritten) {
    for (std::size_t w = 0; w < kWritten; ++w) {
      Line line = in[w];
      for (std::size_t r = w + kWritten; r < kRead; r += kWritten) line |= in[r];
      put<kNonTemporal>(out + w, line);
    }
  } else {
    for (std::size_t w = 0; w < kWritten; ++w) put<kNonTemporal>(out + w, in[w * kRead / kWritten]);
  }
}

/// Asks for the lines that a stream reads 1 KiB later.
template <std::size_t kRead>
inline void prefetch(const Line* in) {
  for (std::size_t r = 0; r < kRead; ++r) __builtin_prefetch(in + 16 + r);
}

inline void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <std::size_t kRead, std::size_t kWritten, bool kNonTemporal, std::size_t kStreams>
void move(const void* in, void* out, std::size_t bytes_in) {
  const auto* const from = static_cast<const Line*>(in);
  auto* const to = static_cast<Line*>(out);
  const std::size_t blocks = bytes_in / (kRead * sizeof(Line)) / kStreams;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const std::size_t block = s * blocks + b;
      if constexpr (kStreams > 1) prefetch<kRead>(from + block * kRead);
      move_block<kRead, kWritten, kNonTemporal>(from + block * kRead, to + block * kWritten);
    }
  }
  if constexpr (kNonTemporal) finish_stores();
}

/// Four lines a step, each with a register of its own.
template <std::size_t kStreams>
void read(const void* in, void*, std::size_t bytes_in) {
  constexpr std::size_t kRead = 4;
  const auto* const from = static_cast<const Line*>(in);
  const std::size_t blocks = bytes_in / (kRead * sizeof(Line)) / kStreams;
  Line seen[kRead] = {};
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const Line* const block = from + (s * blocks + b) * kRead;
      if constexpr (kStreams > 1) prefetch<kRead>(block);
      for (std::size_t r = 0; r < kRead; ++r) seen[r] |= block[r];
    }
  }
  asm volatile("" ::"m"(seen));
}

template <std::size_t kRead, std::size_t kWritten>
std::vector<Limit> moves(const std::string& name, bool past_caches) {
  std::vector<Limit> found{{name, move<kRead, kWritten, false, 1>}};
  if (past_caches) {
    found.push_back({name + ", streamed", move<kRead, kWritten, true, 1>});
    found.push_back({name + ", streamed x4", move<kRead, kWritten, true, 4>});
    found.push_back({name + ", streamed x8", move<kRead, kWritten, true, 8>});
  }
  return found;
}

std::vector<Limit> copies(bool past_caches) {
  auto found = moves<4, 4>("copy", past_caches);
  found.push_back({"memcpy", [](const void* in, void* out, std::size_t bytes) { std::memcpy(out, in, bytes); }});
  return found;
}

std::vector<Limit> reads(bool past_caches) {
  std::vector<Limit> found{{"read", read<1>}};
  if (past_caches) {
    found.push_back({"read x4", read<4>});
    found.push_back({"read x8", read<8>});
  }
  return found;
}

#if defined(__AVX512BW__) && defined(__AVX512VNNI__)

/// Adds products of 8 bits, four a sum, as each instruction set does.
struct Avx2 {
  using Vector = __m256i;
  static void add(Vector& sum, Vector a, Vector b) {
    const Vector pairs = _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1));
    sum = _mm256_add_epi32(sum, pairs);
  }
};
struct Avx512 {
  using Vector = __m512i;
  static void add(Vector& sum, Vector a, Vector b) {
    const Vector pairs = _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1));
    sum = _mm512_add_epi32(sum, pairs);
  }
};
struct Vnni {
  using Vector = __m512i;
  static void add(Vector& sum, Vector a, Vector b) { sum = _mm512_dpbusd_epi32(sum, a, b); }
};

/// Makes the compiler believe that a register might hold anything.
template <class Vector>
inline void forget(Vector& value) {
  asm volatile("" : "+v"(value));
}

/// Products of registers for as many operations; two a product.
template <class Set, std::size_t... sum>
void multiply(std::size_t operations, std::index_sequence<sum...>) {
  using Vector = typename Set::Vector;
  Vector sums[sizeof...(sum)] = {};
  Vector a = {};
  Vector b = {};
  for (std::size_t i = 0; i < operations / (sizeof...(sum) * 2 * sizeof(Vector)); ++i) {
    ((forget(a), forget(b), forget(sums[sum]), Set::add(sums[sum], a, b)), ...);
  }
  (forget(sums[sum]), ...);
}

template <class Set>
void multiply(std::size_t operations) {
  multiply<Set>(operations, std::make_index_sequence<12>{});
}

Multiply multiply_on(amct::simd::Arch arch) {
  switch (arch) {
    case amct::simd::Arch::avx2: return multiply<Avx2>;
    case amct::simd::Arch::avx512: return multiply<Avx512>;
    case amct::simd::Arch::avx512vnni: return multiply<Vnni>;
    default: return nullptr;
  }
}

#else

Multiply multiply_on(amct::simd::Arch) { return nullptr; }

#endif

}  // namespace

Multiply multiply_limit() { return multiply_on(amct::simd::active()); }

std::vector<Limit> limits(Traffic traffic, bool past_caches) {
  switch (traffic) {
    case Traffic::read: return reads(past_caches);
    case Traffic::one_to_one: return copies(past_caches);
    case Traffic::two_to_one: return moves<2, 1>("2n to n", past_caches);
    case Traffic::four_to_one: return moves<4, 1>("4n to n", past_caches);
    case Traffic::eight_to_one: return moves<8, 1>("8n to n", past_caches);
    case Traffic::one_to_two: return moves<1, 2>("n to 2n", past_caches);
    case Traffic::one_to_four: return moves<1, 4>("n to 4n", past_caches);
    case Traffic::one_to_eight: return moves<1, 8>("n to 8n", past_caches);
  }
  return {};
}

}  // namespace bench
