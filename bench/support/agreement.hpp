// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>

namespace bench {

/// Ends the program: a benchmark of wrong results is worth nothing.
[[noreturn]] inline void fail(const std::string& complaint) {
  std::fprintf(stderr, "%s\n", complaint.c_str());
  std::exit(1);
}

/// Says how results differ from those of our scalar reference; nothing if they agree.
template <class T>
using Agreement = std::function<std::string(std::span<const T> got, std::span<const T> want)>;

template <class T>
[[nodiscard]] std::string describe_difference(std::size_t index, T got, T want) {
  return "element " + std::to_string(index) + " is " + std::to_string(got) + ", the reference gives " +
         std::to_string(want);
}

/// Every bit equal: what we ask of ourselves.
template <class T>
[[nodiscard]] std::string is_identical(std::span<const T> got, std::span<const T> want) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) return describe_difference(i, got[i], want[i]);
  }
  return {};
}

/// Peers that divide, or fuse the product and the offset, round some values to the code beside ours: one element in
/// 10,000 (and one of a small array) may differ by one step. Last bits of a float do not count.
template <class T>
[[nodiscard]] Agreement<T> within_one_step(double step) {
  return [step](std::span<const T> got, std::span<const T> want) -> std::string {
    std::size_t left = 1 + got.size() / 10000;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double distance = std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
      if (distance <= 1e-6 * std::abs(static_cast<double>(want[i]))) continue;
      if (!(distance <= 1.001 * step) || left-- == 0) return describe_difference(i, got[i], want[i]);
    }
    return {};
  };
}

}  // namespace bench
