// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace amct {

/// Pseudo-random numbers that are the same on every machine for the same seed, for algorithms that sample.
///
/// SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The period
/// is 2^64. Not for secrets.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed = 0) noexcept : state_(seed) {}

  /// 64 random bits.
  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31);
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Uniform in 0 .. bound-1, without bias. \pre bound > 0
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    // The lowest 2^64 mod bound numbers would make some results likelier than others.
    const std::uint64_t surplus = (0 - bound) % bound;
    std::uint64_t bits = next();
    while (bits < surplus) bits = next();
    return bits % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace amct
