// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/percentile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::Percentile;
using amct::PercentileOptions;
using amct::StatusCode;
using amct::Symmetry;
using amct::ValueRange;
using Values = std::vector<float>;

constexpr auto kSymmetric = Symmetry::symmetric;

/// 1, 2 ... count, or their negatives.
Values numbers(int count, float sign = 1.0F) {
  Values x;
  for (int i = 1; i <= count; ++i) x.push_back(sign * static_cast<float>(i));
  return x;
}

Percentile observer_of(const Values& x, PercentileOptions options = {}) {
  Percentile observer(options);
  REQUIRE(observer.observe(x).ok());
  return observer;
}

ValueRange clip_of(const Values& x, PercentileOptions options = {}) { return observer_of(x, options).clip(); }

}  // namespace

TEST_CASE("the number of values that may be cut is exact for decimal percentages") {
  using amct::percentile::cut;
  CHECK(cut(99.99, 9999) == 0);
  CHECK(cut(99.99, 10000) == 1);
  CHECK(cut(99.9, 1000) == 1);
  CHECK(cut(99.0, 100) == 1);
  CHECK(cut(99.999, 1000000) == 10);
  CHECK(cut(100.0, 1000000) == 0);
  CHECK(cut(50.0, 1) == 0);
  CHECK(cut(99.99, 41945088) == 4194);
}

TEST_CASE("a symmetric range keeps the percentage of magnitudes") {
  Values x = numbers(10000);
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] = -x[i];
  const ValueRange all = clip_of(x, {.symmetry = kSymmetric, .percentile = 100.0});
  CHECK(all.min == -9999.0F);
  CHECK(all.max == 10000.0F);
  const ValueRange most = clip_of(x, {.symmetry = kSymmetric, .percentile = 99.9});
  CHECK(most.max == 9990.0F);  // ten are cut
  CHECK(most.min == -9990.0F);
  CHECK(observer_of(x, {.symmetry = kSymmetric, .percentile = 99.9}).compute({8}) == Affine{9990.0F / 127.0F, 0});
}

TEST_CASE("an asymmetric range cuts half of the rest at each end") {
  const Values x = numbers(20000);
  CHECK(clip_of(x).max == 19999.0F);
  CHECK(clip_of(x).min == 2.0F);
  CHECK(clip_of(x, {.percentile = 99.0}).max == 19900.0F);
  CHECK(clip_of(x, {.percentile = 99.0}).min == 101.0F);
  CHECK(clip_of(numbers(20000, -1.0F)).min == -19999.0F);
  CHECK(observer_of(x).compute({8}) == Affine{19999.0F / 255.0F, -128});
}

TEST_CASE("few data lose nothing") {
  CHECK(clip_of(numbers(9999), {.symmetry = kSymmetric}).max == 9999.0F);
  CHECK(clip_of(numbers(19999)).max == 19999.0F);
  CHECK(clip_of({-5.0F, 7.0F}, {.percentile = 50.0}).min == -5.0F);
}

TEST_CASE("at least the percentage of the data is kept, however coarse the bins") {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  Values x(100000);
  for (float& value : x) value = normal(random);
  for (const double percent : {90.0, 99.0, 99.9, 99.99}) {
    const ValueRange exact = clip_of(x, {.percentile = percent, .max_bins = std::size_t{1} << 18});
    const auto kept = std::ranges::count_if(x, [&](float v) { return v >= exact.min && v <= exact.max; });
    CHECK(static_cast<double>(kept) >= percent * 1000.0);
    CHECK(static_cast<double>(kept) <= percent * 1000.0 + 2.0);
    const ValueRange coarse = clip_of(x, {.percentile = percent, .max_bins = 2048});
    CHECK(coarse.max == doctest::Approx(exact.max).epsilon(0.02));
    CHECK(coarse.min == doctest::Approx(exact.min).epsilon(0.02));
  }
}

TEST_CASE("C01 zeros, C05 and C06 constants and single values") {
  CHECK(observer_of(Values(100, 0.0F)).compute({8}) == Affine{1.0F, -128});
  CHECK(observer_of(Values(100, 0.0F), {.symmetry = kSymmetric}).compute({8}) == Affine{1.0F, 0});
  CHECK(observer_of(Values(100, -3.0F)).compute({8}) == Affine{3.0F / 255.0F, 127});
  Percentile twice = observer_of({0.7F});
  REQUIRE(twice.observe(Values{0.7F}).ok());
  CHECK(twice.compute({8}) == Affine{0.7F / 255.0F, -128});
  CHECK(observer_of({0.7F}, {.symmetry = kSymmetric}).compute({8}) == Affine{0.7F / 127.0F, 0});
  CHECK(observer_of({-0.7F, -0.1F}, {.symmetry = kSymmetric}).compute({8}) == Affine{0.7F / 128.0F, 0});
}

TEST_CASE("one huge outlier among enough data is cut off") {
  Values x = numbers(20000);
  x.push_back(1e30F);
  CHECK(clip_of(x).max == 20000.0F);
  CHECK(clip_of(x, {.symmetry = kSymmetric}).max <= 20000.0F);
}

TEST_CASE("C08 order and split do not matter") {
  std::mt19937 random(3);
  Values x = numbers(30000);
  const auto want = observer_of(x, {.max_bins = 1024}).compute({8});
  for (int round = 0; round < 10; ++round) {
    std::ranges::shuffle(x, random);
    Percentile first({.max_bins = 1024});
    Percentile second({.max_bins = 1024});
    const std::size_t middle = 1 + random() % (x.size() - 1);
    REQUIRE(first.observe(std::span(x).first(middle)).ok());
    REQUIRE(second.observe(std::span(x).subspan(middle)).ok());
    REQUIRE(first.merge(second).ok());
    CHECK(first.compute({8}) == want);
  }
}

TEST_CASE("C09 counters go beyond 2^24, so an early outlier loses its weight") {
  Values small(1048576);
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = static_cast<float>(i) / 1048576.0F;
  Values outliers = numbers(2047);
  outliers.push_back(0.0F);
  for (const Symmetry symmetry : {kSymmetric, Symmetry::asymmetric}) {
    Percentile observer({.symmetry = symmetry});
    REQUIRE(observer.observe(outliers).ok());
    // 40 equal batches, merged by doubling: 1, 2, 4, 8, 8 + 32.
    Percentile part({.symmetry = symmetry});
    REQUIRE(part.observe(small).ok());
    for (int doublings = 0; doublings < 3; ++doublings) REQUIRE(part.merge(part).ok());
    REQUIRE(observer.merge(part).ok());
    for (int doublings = 0; doublings < 2; ++doublings) REQUIRE(part.merge(part).ok());
    REQUIRE(observer.merge(part).ok());
    std::uint64_t total = 0;
    for (const std::uint64_t count : observer.state().counts) total += count;
    CHECK(total == 41945088);
    CHECK(observer.clip().max <= 1.0F);
    CHECK(observer.clip().max > 0.999F);
  }
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  Percentile observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  CHECK(observer.observe(Values{1.0F, std::numeric_limits<float>::quiet_NaN()}).index == 1);
  CHECK(observer.observe(Values{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
}

TEST_CASE("options out of their range are refused by name") {
  const auto name_of = [](PercentileOptions options) {
    Percentile observer(options);
    CHECK(observer.merge(Percentile()).code == StatusCode::bad_option);
    return std::string(observer.observe(Values{1.0F}).name);
  };
  for (const double percent : {49.0, 100.5, 0.9999, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(name_of({.percentile = percent}) == "percentile");
  }
  CHECK(name_of({.max_bins = 1}) == "max_bins");
}

TEST_CASE("a state restores an observer, reset forgets") {
  Percentile observer = observer_of(numbers(100));
  Percentile restored;
  restored.restore(observer.state());
  CHECK(restored.compute({8}) == observer.compute({8}));
  restored.reset();
  CHECK_FALSE(restored.ready());
}
