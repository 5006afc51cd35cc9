// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/fourier.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

using amct::exec::Complexes;
using amct::exec::fourier_transform;

namespace {

Complexes signal(std::size_t size) {
  Complexes values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = {static_cast<double>(i * 7919 % 23) - 11.0, static_cast<double>(i * 104729 % 19) - 9.0};
  }
  return values;
}

Complexes by_definition(const Complexes& values, bool inverse) {
  Complexes result(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      const double turn = static_cast<double>(k * n % values.size()) / static_cast<double>(values.size());
      result[k] += values[n] * std::polar(1.0, (inverse ? 2.0 : -2.0) * std::numbers::pi * turn);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("The transform is the sum of its definition, for every size") {
  for (std::size_t size = 0; size <= 70; ++size) {
    CAPTURE(size);
    for (const bool inverse : {false, true}) {
      Complexes values = signal(size);
      const Complexes expected = by_definition(values, inverse);
      fourier_transform(values, inverse);
      double worst = 0.0;
      for (std::size_t i = 0; i < size; ++i) worst = std::max(worst, std::abs(values[i] - expected[i]));
      CHECK(worst < 1e-10);
    }
  }
}

TEST_CASE("Forwards and backwards give the signal, times its size") {
  for (const std::size_t size : {std::size_t{4096}, std::size_t{5000}}) {
    const Complexes expected = signal(size);
    Complexes values = expected;
    fourier_transform(values, false);
    fourier_transform(values, true);
    double worst = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      worst = std::max(worst, std::abs(values[i] / static_cast<double>(size) - expected[i]));
    }
    CHECK(worst < 1e-10);
  }
}
