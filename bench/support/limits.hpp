// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/simd/arch.hpp>

#include "support/entrant.hpp"

namespace bench {

/// A routine that moves the bytes of a kernel and computes nothing.
struct Limit {
  std::string name;
  void (*run)(const void* in, void* out, std::size_t bytes_in);
};

/// How many bytes are written for those read.
enum class Traffic { read, one_to_one, two_to_one, four_to_one, eight_to_one, one_to_two, one_to_four, one_to_eight };

/// The routines for a pattern: ordinary stores; past the caches also non-temporal ("streamed") stores, along one part
/// of the array or along four or eight parts at once with prefetches.
[[nodiscard]] std::vector<Limit> limits(Traffic traffic, bool past_caches);

/// Does that many additions and multiplications of 8 bits with registers only.
using Multiply = void (*)(std::size_t operations);

/// On the active instruction set; null where there is none yet, and on machines without AVX-512 VNNI.
[[nodiscard]] Multiply multiply_limit();

/// The same as a participant of a contest, which each thread does a part of.
template <class In, class Out>
[[nodiscard]] std::vector<Entrant<In, Out>> multiply_entrants(std::size_t operations, int threads) {
  const Multiply multiply = multiply_limit();
  if (multiply == nullptr) return {};
  const auto run = [=](std::span<const In>, std::span<Out>) {
    amct::parallel_for(operations, operations / static_cast<std::size_t>(threads),
                       [&](std::size_t, std::size_t count) { multiply(count); });
  };
  return {{"products", direct(run), threads}};
}

/// Limits of traffic as participants of a contest. Several threads each move a part of the bytes.
template <class In, class Out>
[[nodiscard]] std::vector<Entrant<In, Out>> limit_entrants(Traffic traffic, bool past_caches, int threads = 1) {
  std::vector<Entrant<In, Out>> entrants;
  for (const Limit& limit : limits(traffic, past_caches)) {
    const auto run = [move = limit.run, threads](std::span<const In> in, std::span<Out> out) {
      const std::size_t part = in.size() / static_cast<std::size_t>(threads);
      amct::parallel_for(in.size(), part, [&](std::size_t first, std::size_t count) {
        move(in.data() + first, out.data() + first * out.size() / in.size(), count * sizeof(In));
      });
    };
    entrants.push_back({limit.name, direct(run), threads});
  }
  return entrants;
}

}  // namespace bench
