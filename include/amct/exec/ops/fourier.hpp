// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace amct::exec {

using Complexes = std::vector<std::complex<double>>;

namespace detail {

[[nodiscard]] inline std::complex<double> root_of_unity(std::size_t numerator, std::size_t size, bool inverse) {
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(size);
  return std::polar(1.0, inverse ? angle : -angle);
}

/// The transform of a power of two elements: J. Cooley, J. Tukey, "An algorithm for the machine calculation of complex
/// Fourier series", 1965.
inline void transform_power_of_two(Complexes& values, bool inverse) {
  const std::size_t size = values.size();
  for (std::size_t i = 1, reversed = 0; i < size; ++i) {
    std::size_t bit = size / 2;
    for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
    reversed ^= bit;
    if (i < reversed) std::swap(values[i], values[reversed]);
  }
  Complexes roots(size / 2);
  for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = root_of_unity(i, size, inverse);
  for (std::size_t half = 1; half < size; half *= 2) {
    for (std::size_t block = 0; block < size; block += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        const auto odd = values[block + half + i] * roots[i * (size / 2 / half)];
        values[block + half + i] = values[block + i] - odd;
        values[block + i] += odd;
      }
    }
  }
}

/// The transform of any size as a convolution: L. Bluestein, "A linear filtering approach to the computation of the
/// discrete Fourier transform", 1970.
inline void transform_any_size(Complexes& values, bool inverse) {
  const std::size_t size = values.size();
  Complexes chirp(size);
  for (std::size_t i = 0; i < size; ++i) chirp[i] = root_of_unity(i * i % (2 * size), 2 * size, inverse);
  const std::size_t padded = std::bit_ceil(2 * size - 1);
  Complexes left(padded);
  Complexes right(padded);
  for (std::size_t i = 0; i < size; ++i) {
    left[i] = values[i] * chirp[i];
    right[i] = right[(padded - i) % padded] = std::conj(chirp[i]);
  }
  transform_power_of_two(left, false);
  transform_power_of_two(right, false);
  for (std::size_t i = 0; i < padded; ++i) left[i] *= right[i];
  transform_power_of_two(left, true);
  for (std::size_t i = 0; i < size; ++i) values[i] = left[i] / static_cast<double>(padded) * chirp[i];
}

}  // namespace detail

/// The discrete Fourier transform in place: element k becomes the sum of x[n] · exp(-2πi·k·n / size), or with the other
/// sign if `inverse`; not divided by the size. O(size · log size).
inline void fourier_transform(Complexes& values, bool inverse) {
  if (values.size() < 2) return;
  if (std::has_single_bit(values.size())) return detail::transform_power_of_two(values, inverse);
  detail::transform_any_size(values, inverse);
}

}  // namespace amct::exec
