// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/random.hpp>

namespace amct {

/// Where the centroids of Lloyd's algorithm start.
enum class ClusterInit : std::uint8_t {
  uniform,    ///< equally spaced from the minimum to the maximum, both included
  gaussian,   ///< the quantiles (i + 0.5) / k of a normal distribution with the mean and deviation of the data
  d2sampling  ///< k-means++: values of the data, each drawn with a probability that grows with the squared distance
};

/// Numbers of Lloyd's algorithm.
struct LloydOptions {
  std::size_t clusters = 16;         ///< at least 1
  std::size_t max_iteration = 1000;  ///< 0 leaves the centroids where they start
  double min_distance = 1e-10;       ///< ends when no centroid has moved by as much
  ClusterInit init = ClusterInit::uniform;
  std::uint64_t seed = 0;  ///< of d2sampling
};

/// Where Lloyd's algorithm ended.
struct LloydResult {
  std::vector<double> centroids;  ///< ascending
  std::size_t iterations = 0;
};

namespace lloyd_detail {

AMCT_EXACT_BEGIN

/// Ascending values with fast sums. Sums are taken over blocks rather than as differences of running totals, which a
/// single huge value would make useless.
class SortedValues {
 public:
  explicit SortedValues(std::vector<float> values) : values_(std::move(values)) {
    std::sort(values_.begin(), values_.end());
    for (std::size_t i = 0; i + kBlock <= values_.size(); i += kBlock) blocks_.push_back(plain_sum(i, i + kBlock));
  }

  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] double operator[](std::size_t i) const noexcept { return static_cast<double>(values_[i]); }
  /// How many values are at most `bound`.
  [[nodiscard]] std::size_t count_up_to(double bound) const noexcept {
    const auto end = std::upper_bound(values_.begin(), values_.end(), bound,
                                      [](double b, float value) { return b < static_cast<double>(value); });
    return static_cast<std::size_t>(end - values_.begin());
  }
  /// Mean of values [first, last), never outside of them. \pre first < last
  [[nodiscard]] double mean(std::size_t first, std::size_t last) const noexcept {
    return std::clamp(sum(first, last) / static_cast<double>(last - first), (*this)[first], (*this)[last - 1]);
  }
  /// Standard deviation of all values around `mean`.
  [[nodiscard]] double deviation(double mean) const noexcept {
    double squares = 0.0;
    for (const float value : values_) squares += square(static_cast<double>(value) - mean);
    return std::sqrt(squares / static_cast<double>(size()));
  }
  [[nodiscard]] static double square(double x) noexcept { return x * x; }

 private:
  static constexpr std::size_t kBlock = 1024;

  [[nodiscard]] double plain_sum(std::size_t first, std::size_t last) const noexcept {
    double total = 0.0;
    for (std::size_t i = first; i < last; ++i) total += (*this)[i];
    return total;
  }
  [[nodiscard]] double sum(std::size_t first, std::size_t last) const noexcept {
    const std::size_t first_block = (first + kBlock - 1) / kBlock;
    const std::size_t last_block = last / kBlock;
    if (first_block >= last_block) return plain_sum(first, last);
    double total = plain_sum(first, first_block * kBlock);
    for (std::size_t block = first_block; block < last_block; ++block) total += blocks_[block];
    return total + plain_sum(last_block * kBlock, last);
  }

  std::vector<float> values_;
  std::vector<double> blocks_;
};

/// The point below which a standard normal variable lies with probability p, 0 < p < 1, by bisection.
[[nodiscard]] inline double normal_quantile(double p) noexcept {
  double low = -9.0;
  double high = 9.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

[[nodiscard]] inline std::vector<double> d2_sample(const SortedValues& values, std::size_t clusters,
                                                   std::uint64_t seed) {
  Random random(seed);
  std::vector<double> centroids{values[random.below(values.size())]};
  std::vector<double> distances(values.size(), std::numeric_limits<double>::infinity());
  while (centroids.size() < clusters) {
    double total = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      distances[i] = std::min(distances[i], SortedValues::square(values[i] - centroids.back()));
      total += distances[i];
    }
    // With fewer distinct values than centroids the distances end up all 0, and the last centroid is taken again.
    double target = random.uniform() * total;
    std::size_t drawn = 0;
    while (drawn + 1 < values.size() && !(target < distances[drawn])) target -= distances[drawn++];
    centroids.push_back(total > 0.0 ? values[drawn] : centroids.back());
  }
  std::sort(centroids.begin(), centroids.end());
  return centroids;
}

[[nodiscard]] inline std::vector<double> initial_centroids(const SortedValues& values, const LloydOptions& options) {
  const std::size_t clusters = options.clusters;
  if (options.init == ClusterInit::d2sampling) return d2_sample(values, clusters, options.seed);
  std::vector<double> centroids(clusters);
  const auto count = static_cast<double>(clusters);
  const double mean = values.mean(0, values.size());
  const double deviation = options.init == ClusterInit::gaussian ? values.deviation(mean) : 0.0;
  const double low = values[0];
  const double width = values[values.size() - 1] - low;
  for (std::size_t i = 0; i < clusters; ++i) {
    const auto index = static_cast<double>(i);
    if (options.init == ClusterInit::gaussian) {
      centroids[i] = mean + deviation * normal_quantile((index + 0.5) / count);
    } else {
      centroids[i] = clusters == 1 ? mean : low + width * (index / (count - 1.0));
    }
  }
  return centroids;
}

/// One step: every centroid moves to the mean of the values nearest to it. Returns the largest move.
[[nodiscard]] inline double move_centroids(const SortedValues& values, std::span<double> centroids) noexcept {
  double largest = 0.0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < centroids.size(); ++i) {
    const std::size_t last =
        i + 1 < centroids.size() ? values.count_up_to(0.5 * (centroids[i] + centroids[i + 1])) : values.size();
    if (last <= first) continue;
    const double mean = values.mean(first, last);
    largest = std::max(largest, std::fabs(mean - centroids[i]));
    centroids[i] = mean;
    first = last;
  }
  return largest;
}

AMCT_EXACT_END

}  // namespace lloyd_detail

/// Lloyd's algorithm (k-means) on a line: centroids that make the squared distance of the values to the nearest one
/// small; a local minimum that depends on where they start.
///
/// A value half way between two centroids belongs to the lower one. A centroid without values stays where it is, so
/// data with fewer distinct values than centroids leave some unused. Computed in double.
/// Source: S. Lloyd, "Least squares quantization in PCM", 1982; k-means++: D. Arthur, S. Vassilvitskii, 2007.
///
/// \param values  at least one, all finite; taken by value since they are sorted
/// \note O(n log n), then O(clusters * (n / 1024 + 1024)) at most an iteration; d2sampling O(n * clusters) first.
[[nodiscard]] inline LloydResult lloyd(std::vector<float> values, const LloydOptions& options) {
  assert(!values.empty() && options.clusters >= 1);
  const lloyd_detail::SortedValues sorted(std::move(values));
  LloydResult result{lloyd_detail::initial_centroids(sorted, options), 0};
  double moved = std::numeric_limits<double>::infinity();
  while (result.iterations < options.max_iteration && !(moved < options.min_distance)) {
    moved = lloyd_detail::move_centroids(sorted, result.centroids);
    ++result.iterations;
  }
  return result;
}

}  // namespace amct
