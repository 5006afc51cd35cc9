// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/lloyd.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>

using amct::ClusterInit;
using amct::lloyd;
using amct::LloydOptions;
using amct::LloydResult;

namespace {

constexpr ClusterInit kInits[] = {ClusterInit::uniform, ClusterInit::gaussian, ClusterInit::d2sampling};

std::vector<float> noise(std::size_t count) {
  amct::Random random(11);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(random.uniform() + random.uniform() + random.uniform() - 1.5));
  }
  return values;
}

/// The mean of the values nearest to each centroid, by the definition.
std::vector<double> nearest_means(const std::vector<float>& values, const std::vector<double>& centroids) {
  std::vector<double> sums(centroids.size());
  std::vector<double> counts(centroids.size());
  for (const float value : values) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < centroids.size(); ++i) {
      if (std::fabs(static_cast<double>(value) - centroids[i]) <
          std::fabs(static_cast<double>(value) - centroids[best]))
        best = i;
    }
    sums[best] += static_cast<double>(value);
    counts[best] += 1.0;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = counts[i] > 0.0 ? sums[i] / counts[i] : centroids[i];
  return sums;
}

double squared_error(const std::vector<float>& values, const std::vector<double>& centroids) {
  double sum = 0.0;
  for (const float value : values) {
    double best = std::numeric_limits<double>::infinity();
    for (const double c : centroids) best = std::min(best, std::fabs(static_cast<double>(value) - c));
    sum += best * best;
  }
  return sum;
}

}  // namespace

TEST_CASE("centroids start where the options say") {
  const std::vector<float> values{0.0F, 1.0F, 2.0F, 6.0F};
  const auto start = [&](ClusterInit init, std::size_t clusters) {
    return lloyd(values, {.clusters = clusters, .max_iteration = 0, .init = init}).centroids;
  };
  CHECK(start(ClusterInit::uniform, 4) == std::vector<double>{0.0, 2.0, 4.0, 6.0});
  CHECK(start(ClusterInit::uniform, 1) == std::vector<double>{2.25});
  const auto gaussian = start(ClusterInit::gaussian, 4);  // mean 2.25, population deviation 2.27761
  CHECK(gaussian[0] == doctest::Approx(2.25 - 2.2776084 * 1.1503494));
  CHECK(gaussian[1] == doctest::Approx(2.25 - 2.2776084 * 0.3186394));
  CHECK(gaussian[3] == doctest::Approx(2.25 + 2.2776084 * 1.1503494));
  CHECK(start(ClusterInit::d2sampling, 4) == std::vector<double>{0.0, 1.0, 2.0, 6.0});  // never the same value twice
}

TEST_CASE("one step moves every centroid to the mean of the values nearest to it") {
  // Starts at 0, 2, 4, 6; the value 1 is half way and belongs to 0, nothing is near 4.
  const LloydResult result = lloyd({0.0F, 1.0F, 2.0F, 6.0F}, {.clusters = 4, .max_iteration = 1});
  CHECK(result.centroids == std::vector<double>{0.5, 2.0, 4.0, 6.0});
  CHECK(result.iterations == 1);
}

TEST_CASE("the result is a fixed point and better than the start, from every start") {
  const std::vector<float> values = noise(5000);
  for (const ClusterInit init : kInits) {
    const LloydOptions options{.init = init, .seed = 5};
    const LloydResult result = lloyd(values, options);
    const LloydResult start = lloyd(values, {.max_iteration = 0, .init = init, .seed = 5});
    CAPTURE(static_cast<int>(init));
    REQUIRE(result.centroids.size() == 16);
    CHECK(std::is_sorted(result.centroids.begin(), result.centroids.end()));
    CHECK(result.iterations < 1000);
    const auto means = nearest_means(values, result.centroids);
    for (std::size_t i = 0; i < 16; ++i) CHECK(result.centroids[i] == doctest::Approx(means[i]).epsilon(1e-9));
    CHECK(squared_error(values, result.centroids) < squared_error(values, start.centroids));
  }
}

TEST_CASE("a larger distance and fewer iterations end earlier") {
  const std::vector<float> values = noise(3000);
  const std::size_t full = lloyd(values, {}).iterations;
  CHECK(lloyd(values, {.min_distance = 1e-2}).iterations < full);
  CHECK(lloyd(values, {.max_iteration = 3}).iterations == 3);
}

TEST_CASE("the order of values does not matter, the seed does so for d2sampling") {
  std::vector<float> values = noise(500);
  const auto run = [&](std::uint64_t seed) {
    return lloyd(values, {.max_iteration = 0, .init = ClusterInit::d2sampling, .seed = seed}).centroids;
  };
  const auto first = run(1);
  CHECK(run(2) != first);
  std::reverse(values.begin(), values.end());
  CHECK(run(1) == first);
}

TEST_CASE("constant data, one value and fewer values than clusters are met exactly") {
  for (const ClusterInit init : kInits) {
    CAPTURE(static_cast<int>(init));
    CHECK(lloyd({0.7F}, {.clusters = 4, .init = init}).centroids == std::vector<double>(4, static_cast<double>(0.7F)));
    for (const double centroid : lloyd({-3.0F, -3.0F, -3.0F}, {.init = init}).centroids) CHECK(centroid == -3.0);
    const auto two = lloyd({1.0F, 2.0F, 2.0F}, {.init = init}).centroids;
    CHECK(squared_error({1.0F, 2.0F}, two) < 1e-20);
    CHECK(lloyd({0.0F, 0.0F}, {.init = init}).centroids == std::vector<double>(16, 0.0));
  }
}

TEST_CASE("one huge value does not spoil the means of the others") {
  std::vector<float> values = noise(4000);
  values.push_back(-1e30F);
  const auto centroids = lloyd(values, {.init = ClusterInit::d2sampling}).centroids;
  const auto means = nearest_means(values, centroids);
  CHECK(centroids[0] == static_cast<double>(-1e30F));
  for (std::size_t i = 1; i < 16; ++i) CHECK(std::fabs(centroids[i]) < 1.6);
  for (std::size_t i = 1; i < 16; ++i) CHECK(centroids[i] == doctest::Approx(means[i]).epsilon(1e-9));
}

TEST_CASE("the largest floats do not overflow") {
  constexpr float kMax = std::numeric_limits<float>::max();
  const auto centroids = lloyd({-kMax, 0.0F, kMax, kMax}, {.clusters = 3}).centroids;
  CHECK(centroids == std::vector<double>{-static_cast<double>(kMax), 0.0, static_cast<double>(kMax)});
}
