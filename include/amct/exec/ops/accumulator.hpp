// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <amct/exec/ops/arithmetic.hpp>

/// \file
/// What reductions keep while they see the elements of type T that make one of the result, one after the other: floats
/// in double, 64-bit integers modulo 2^64. `result` gets the number of elements.

namespace amct::exec::ops::accumulator {

/// The type in which elements are added and multiplied.
template <class T>
using Sums = std::conditional_t<std::floating_point<T>, double, T>;

template <class T>
struct Sum {
  Sums<T> sum{};
  void add(T x) { sum = arithmetic::add(sum, static_cast<Sums<T>>(x)); }
  [[nodiscard]] Sums<T> result(std::size_t) const { return sum; }
};

/// Integer means are cut towards zero; the mean of no integers is 0.
template <class T>
struct Mean : Sum<T> {
  [[nodiscard]] Sums<T> result(std::size_t count) const {
    if constexpr (std::integral<T>) {
      if (count == 0) return T{};
    }
    return this->sum / static_cast<Sums<T>>(count);
  }
};

template <class T>
struct SumOfSquares {
  Sums<T> sum{};
  void add(T x) {
    const auto wide = static_cast<Sums<T>>(x);
    sum = arithmetic::add(sum, arithmetic::mul(wide, wide));
  }
  [[nodiscard]] Sums<T> result(std::size_t) const { return sum; }
};

template <class T>
struct L1 {
  Sums<T> sum{};
  void add(T x) {
    const auto wide = static_cast<Sums<T>>(x);
    sum = wide < Sums<T>{} ? arithmetic::sub(sum, wide) : arithmetic::add(sum, wide);
  }
  [[nodiscard]] Sums<T> result(std::size_t) const { return sum; }
};

template <class T>
struct L2 {
  double sum = 0.0;
  void add(T x) { sum += static_cast<double>(x) * static_cast<double>(x); }
  [[nodiscard]] double result(std::size_t) const { return std::sqrt(sum); }
};

template <class T>
struct Product {
  Sums<T> product{1};
  void add(T x) { product = arithmetic::mul(product, static_cast<Sums<T>>(x)); }
  [[nodiscard]] Sums<T> result(std::size_t) const { return product; }
};

/// The largest element; NaN if one is. The maximum of nothing is the least value of T.
template <class T>
struct Max {
  T top = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  void add(T x) { top = arithmetic::max(x, top); }
  [[nodiscard]] T result(std::size_t) const { return top; }
};

template <class T>
struct Min {
  T bottom = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  void add(T x) { bottom = arithmetic::min(x, bottom); }
  [[nodiscard]] T result(std::size_t) const { return bottom; }
};

/// The logarithm of the sum.
template <class T>
struct LogSum {
  double sum = 0.0;
  void add(T x) { sum += static_cast<double>(x); }
  [[nodiscard]] double result(std::size_t) const { return std::log(sum); }
};

/// The logarithm of the sum of e^x, relative to the largest x so far, so that nothing overflows.
template <class T>
struct LogSumExp {
  double top = -std::numeric_limits<double>::infinity();
  double sum = 0.0;
  void add(T x) {
    const auto value = static_cast<double>(x);
    if (value > top) {
      sum = sum * std::exp(top - value) + 1.0;
      top = value;
    } else {
      sum += value == top ? 1.0 : std::exp(value - top);
    }
  }
  [[nodiscard]] double result(std::size_t) const { return top + std::log(sum); }
};

}  // namespace amct::exec::ops::accumulator
