// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/kl_divergence.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::KlDivergence;
using amct::KlDivergenceOptions;
using amct::KlDivergenceResult;
using amct::StatusCode;
using amct::Symmetry;
using Values = std::vector<float>;

constexpr auto kAsymmetric = Symmetry::asymmetric;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Values normal(std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> values;
  Values x(count);
  for (float& value : x) value = values(random);
  return x;
}

KlDivergenceResult search(const Values& x, KlDivergenceOptions options = {}, int bits = 8) {
  KlDivergence observer(options);
  REQUIRE(observer.observe(x).ok());
  const KlDivergenceResult result = observer.search({bits});
  CHECK(observer.compute({bits}) == result.affine);
  return result;
}

/// The divergence as its definition says, bin by bin.
double plain_divergence(const std::vector<double>& counts, std::size_t bins, std::size_t levels) {
  std::vector<double> p(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(bins));
  std::vector<double> q(bins);
  for (std::size_t level = 0; level < levels; ++level) {
    double sum = 0.0;
    double occupied = 0.0;
    for (std::size_t i = level * bins / levels; i < (level + 1) * bins / levels; ++i) {
      sum += p[i];
      occupied += p[i] > 0.0 ? 1.0 : 0.0;
    }
    for (std::size_t i = level * bins / levels; i < (level + 1) * bins / levels; ++i) {
      if (p[i] > 0.0) q[i] = sum / occupied;
    }
  }
  p.back() += std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(bins), counts.end(), 0.0);
  const double p_total = std::accumulate(p.begin(), p.end(), 0.0);
  const double q_total = std::accumulate(q.begin(), q.end(), 0.0);
  double divergence = 0.0;
  for (std::size_t i = 0; i < bins; ++i) {
    if (p[i] == 0.0) continue;
    if (q[i] == 0.0) return kInfinity;
    divergence += p[i] / p_total * std::log(p[i] / p_total / (q[i] / q_total));
  }
  return divergence;
}

}  // namespace

TEST_CASE("the divergence is the one of its definition") {
  std::mt19937 random(4);
  std::vector<double> counts(64);
  for (double& count : counts) count = random() % 4 == 0 ? 0.0 : static_cast<double>(random() % 1000);
  counts.back() = 1.0;
  const amct::kl_divergence::Divergence divergence(counts);
  std::size_t finite = 0;
  for (const std::size_t levels : {4U, 8U, 16U}) {
    for (std::size_t bins = levels; bins <= counts.size(); ++bins) {
      const double want = plain_divergence(counts, bins, levels);
      const double got = divergence(bins, levels);
      CAPTURE(bins);
      CAPTURE(levels);
      if (want == kInfinity) {
        CHECK(got == kInfinity);
      } else {
        CHECK(got == doctest::Approx(want).epsilon(1e-9));
        ++finite;
      }
    }
  }
  CHECK(finite > 50);
}

TEST_CASE("as many bins as levels and no outliers lose nothing") {
  const amct::kl_divergence::Divergence divergence({5.0, 0.0, 7.0, 1.0});
  CHECK(divergence(4, 4) == doctest::Approx(0.0));
  CHECK(divergence(2, 2) == kInfinity);  // outliers would go into an empty bin
}

TEST_CASE("each number of bins is tried from the levels on, and the first of the least divergences wins") {
  const KlDivergenceResult result = search(normal(50000));
  CHECK(result.divergences.size() == 2048 - 128 + 1);
  const auto least = std::ranges::min_element(result.divergences);
  CHECK(result.bins == 128 + static_cast<std::size_t>(least - result.divergences.begin()));
  CHECK(search(normal(50000), {}, 4).divergences.size() == 2048 - 8 + 1);
}

TEST_CASE("rare large values of a long tail are clipped, and fewer codes clip more") {
  Values x = normal(100000);
  for (float& value : x) value = value * value * value;
  const float largest = std::fabs(*std::ranges::max_element(x, {}, [](float v) { return std::fabs(v); }));
  const KlDivergenceResult eight = search(x);
  CHECK(eight.threshold < 0.9F * largest);
  CHECK(eight.threshold > 0.05F * largest);
  CHECK(search(x, {}, 4).threshold < eight.threshold);
  CHECK(eight.affine.offset == 0);
  CHECK(eight.affine.scale == doctest::Approx(eight.threshold / 127.0F));
}

TEST_CASE("evenly spread values are not clipped") {
  Values x;
  for (int i = 0; i <= 204800; ++i) x.push_back(static_cast<float>(i) / 204800.0F);
  const KlDivergenceResult result = search(x);
  CHECK(result.threshold > 0.93F);
}

TEST_CASE("many zeros do not move the threshold") {
  Values x = normal(50000);
  for (float& value : x) value = std::fabs(value);
  const float want = search(x).threshold;
  x.insert(x.end(), 500000, 0.0F);
  CHECK(search(x).threshold == want);
}

TEST_CASE("asymmetric ranges end where the data do") {
  Values x = normal(50000);
  for (float& value : x) value = std::max(value, -0.25F);
  const float lowest = *std::ranges::min_element(x);
  const KlDivergenceResult result = search(x, {.symmetry = kAsymmetric});
  CHECK(result.affine == amct::affine_from_range(lowest, result.threshold, {8}, kAsymmetric));
}

TEST_CASE("no fewer levels than bins: nothing to search, all values are covered") {
  const Values x = normal(1000);
  const KlDivergenceResult result = search(x, {}, 16);
  CHECK(result.divergences.empty());
  CHECK(result.bins == 0);
  CHECK(result.affine ==
        amct::affine_from_range(*std::ranges::min_element(x), *std::ranges::max_element(x), {16}, Symmetry::symmetric));
  CHECK(search(x, {.num_of_bins = 256}, 9).divergences.empty());
  CHECK_FALSE(search(x, {.num_of_bins = 257}, 9).divergences.empty());
}

TEST_CASE("C01 zeros, C05 and C06 constants and single values") {
  CHECK(search(Values(100, 0.0F)).affine == Affine{1.0F, 0});
  CHECK(search(Values(100, 0.0F), {.symmetry = kAsymmetric}).affine == Affine{1.0F, -128});
  CHECK(search(Values(100, 3.0F)).affine == Affine{3.0F / 127.0F, 0});
  CHECK(search(Values(100, -3.0F)).affine == Affine{3.0F / 127.0F, 0});  // both ends of the data are equally far
  KlDivergence twice({.symmetry = kAsymmetric});
  REQUIRE(twice.observe(Values{0.7F}).ok());
  REQUIRE(twice.observe(Values{0.7F}).ok());
  CHECK(twice.compute({8}) == Affine{0.7F / 255.0F, -128});
}

TEST_CASE("data of one sign and a huge outlier give usable scales") {
  CHECK(search({1.0F, 2.0F, 3.0F}, {.symmetry = kAsymmetric}).affine.offset == -128);
  CHECK(search({-1.0F, -2.0F, -3.0F}, {.symmetry = kAsymmetric}).affine.offset == 127);
  Values x = normal(10000);
  x.push_back(1e30F);
  CHECK(amct::is_usable(search(x).affine));
}

TEST_CASE("C08 order, split and merging do not matter") {
  std::mt19937 random(3);
  Values x = normal(30000);
  const auto want = search(x, {.max_bins = 1024}).affine;
  for (int round = 0; round < 5; ++round) {
    std::ranges::shuffle(x, random);
    KlDivergence first({.max_bins = 1024});
    KlDivergence second({.max_bins = 1024});
    const std::size_t middle = 1 + random() % (x.size() - 1);
    REQUIRE(first.observe(std::span(x).first(middle)).ok());
    REQUIRE(second.observe(std::span(x).subspan(middle)).ok());
    REQUIRE(first.merge(second).ok());
    CHECK(first.compute({8}) == want);
  }
}

TEST_CASE("a range beyond float32 gives a scale that is not usable") {
  CHECK_FALSE(amct::is_usable(search({-3e38F, 3e38F}, {.symmetry = kAsymmetric}).affine));
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  KlDivergence observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  CHECK(observer.observe(Values{1.0F, std::numeric_limits<float>::quiet_NaN()}).index == 1);
  CHECK(observer.observe(Values{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
}

TEST_CASE("options out of their range are refused by name") {
  const auto name_of = [](KlDivergenceOptions options) {
    KlDivergence observer(options);
    CHECK(observer.merge(KlDivergence()).code == StatusCode::bad_option);
    return std::string(observer.observe(Values{1.0F}).name);
  };
  CHECK(name_of({.num_of_bins = 255}) == "num_of_bins");
  CHECK(name_of({.num_of_bins = 16385}) == "num_of_bins");
  CHECK(name_of({.max_bins = 0}) == "max_bins");
}

TEST_CASE("a state restores an observer, reset forgets") {
  KlDivergence observer;
  REQUIRE(observer.observe(normal(1000)).ok());
  KlDivergence restored;
  restored.restore(observer.state());
  CHECK(restored.compute({8}) == observer.compute({8}));
  restored.reset();
  CHECK_FALSE(restored.ready());
}
