// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace bench {

/// Values that repeat after so many elements: making all of 32 Mi would take longer than timing them.
inline constexpr std::size_t kTile = std::size_t{1} << 18;

/// Calls `make_first` for the first tile and repeats what it wrote. Peers in other processes do the same with the tile.
template <class T, class Make>
void fill_tiles(std::span<T> values, Make make_first) {
  const std::size_t first = std::min(values.size(), kTile);
  make_first(values.first(first));
  for (std::size_t i = first; i < values.size(); ++i) values[i] = values[i - first];
}

/// Standard normal values without repetition, the same in every run.
inline void fill_normal(std::span<float> values) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  for (float& value : values) value = normal(random);
}

/// Activations after a ReLU: the same with zeros for negative values.
inline void fill_relu(std::span<float> values) {
  fill_normal(values);
  for (float& value : values) value = std::max(0.0F, value);
}

inline void fill_normal_tiles(std::span<float> values) {
  fill_tiles(values, [](std::span<float> tile) { fill_normal(tile); });
}

/// Integers of [low, high], all equally likely.
template <class T>
void fill_uniform_tiles(std::span<T> values, std::int32_t low, std::int32_t high) {
  fill_tiles(values, [&](std::span<T> tile) {
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int32_t> uniform(low, high);
    for (T& value : tile) value = static_cast<T>(uniform(random));
  });
}

}  // namespace bench
