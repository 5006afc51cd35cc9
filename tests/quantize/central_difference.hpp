// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

/// \file
/// Straight-through gradients are the real ones of a smooth stand-in: rounding adds a constant number of steps to each
/// value, the one it adds where the gradient is taken. Central differences of that stand-in are the gradients to
/// expect.

/// (loss(at + h) - loss(at - h)) / 2h.
template <class Loss>
double central_difference(const Loss& loss, double at) {
  const double h = 1e-5 * std::fabs(at) + 1e-9;
  return (loss(at + h) - loss(at - h)) / (2.0 * h);
}

/// What rounding adds to x/scale.
inline double rounding_of(double x, double scale) { return std::nearbyint(x / scale) - x / scale; }

/// `count` values in -span .. span, spread like noise but always the same.
inline std::vector<float> scattered(std::size_t count, double span, unsigned seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    values.push_back(static_cast<float>((static_cast<double>(seed >> 8) / 8388608.0 - 1.0) * span));
  }
  return values;
}
