// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/affine.hpp>
#include <amct/simd/arch.hpp>

/// Ordinary quantizers, both ends of the offsets, offsets beyond what vector bodies take, a tiny and a huge scale.
inline constexpr amct::Affine kAwkwardAffines[] = {{0.03F, -7},     {1.0F, 0},     {0.1F, -128},    {3e-6F, 127},
                                                   {0.01F, -32768}, {0.5F, 90000}, {2.0F, -600000}, {1e30F, 1}};

/// The same scale and offset for every element, as the reference kernels ask for them.
[[nodiscard]] inline auto always(amct::Affine affine) {
  return [affine](std::size_t) { return affine; };
}

/// Lengths that end in every place of a vector, and starts that are not aligned to it.
template <class Body>
void for_lengths_and_offsets(Body&& body) {
  for (std::size_t length = 0; length <= 200; ++length) body(length, length % 7);
  for (std::size_t offset = 0; offset < 16; ++offset) body(std::size_t{133}, offset);
  body(std::size_t{5000}, std::size_t{1});
}

template <class T>
[[nodiscard]] bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Runs `body` on every path of this machine, naming the path in failures.
template <class Body>
void on_every_path(Body&& body) {
  amct::simd::for_each_available([&](amct::simd::Arch arch) {
    CAPTURE(name_of(arch));
    body();
  });
}
