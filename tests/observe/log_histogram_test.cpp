// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/log_histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::LogHistogram;
using amct::LogHistogramState;
using amct::StatusCode;
using Values = std::vector<float>;

/// Values of all sizes and both signs, with repetitions and zeros.
Values mixed(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Values x(count);
  for (float& value : x) value = std::exp(3.0F * normal(random)) * (random() % 3 == 0 ? -1.0F : 1.0F);
  for (std::size_t i = 0; i < count; i += 7) x[i] = random() % 2 == 0 ? 0.0F : -0.0F;
  for (std::size_t i = 3; i < count; i += 11) x[i] = x[0];
  return x;
}

LogHistogram histogram_of(std::span<const float> x, std::size_t max_bins) {
  LogHistogram histogram(max_bins);
  REQUIRE(histogram.add(x).ok());
  return histogram;
}

bool same_bytes(const LogHistogramState& a, const LogHistogramState& b) {
  return std::bit_cast<std::uint32_t>(a.range.min) == std::bit_cast<std::uint32_t>(b.range.min) &&
         std::bit_cast<std::uint32_t>(a.range.max) == std::bit_cast<std::uint32_t>(b.range.max) &&
         a.dropped_bits == b.dropped_bits && a.keys == b.keys && a.counts == b.counts && a.rests == b.rests;
}

}  // namespace

TEST_CASE("ordered bits keep the order of floats and come back") {
  const Values x = {-std::numeric_limits<float>::max(), -1.5F, -1.0F, -1e-40F, 0.0F, 1e-45F, 0.3F, 1.0F, 3e38F};
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(amct::log_histogram::from_ordered(amct::log_histogram::ordered(x[i])) == x[i]);
    if (i > 0) CHECK(amct::log_histogram::ordered(x[i - 1]) < amct::log_histogram::ordered(x[i]));
  }
  CHECK(amct::log_histogram::ordered(-0.0F) == amct::log_histogram::ordered(0.0F));
}

TEST_CASE("sorting ignores the lowest bits and nothing else") {
  std::mt19937 random(3);
  for (const std::uint32_t ignored : {0U, 5U, 11U, 23U}) {
    std::vector<std::uint32_t> values(5000);
    for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random());
    auto want = values;
    std::ranges::stable_sort(want, {}, [&](std::uint32_t value) { return value >> ignored; });
    std::vector<std::uint32_t> scratch;
    amct::log_histogram::sort_bits(values, scratch, ignored);
    CHECK(values == want);
  }
}

TEST_CASE("few different values are kept exactly") {
  const Values x = mixed(5000, 1);
  std::map<float, std::uint64_t> want;
  for (const float value : x) ++want[value];
  const LogHistogram histogram = histogram_of(x, 8192);
  CHECK(histogram.state().dropped_bits == 0);
  REQUIRE(histogram.bins() == want.size());
  std::size_t bin = 0;
  for (const auto& [value, count] : want) {
    CHECK(histogram.mean(bin) == value);
    CHECK(histogram.count(bin++) == count);
  }
}

TEST_CASE("the number of bins stays within its limit, no value is lost, and means are exact") {
  const Values x = mixed(200000, 2);
  const LogHistogram histogram = histogram_of(x, 1024);
  CHECK(histogram.bins() <= 1024);
  CHECK(histogram.bins() > 256);  // not coarser than needed: one bit more would be half of it
  CHECK(histogram.total() == x.size());
  Values sorted = x;
  std::ranges::sort(sorted);
  std::size_t first = 0;
  for (std::size_t bin = 0; bin < histogram.bins(); ++bin) {
    double sum = 0.0;
    for (std::uint64_t i = 0; i < histogram.count(bin); ++i) sum += static_cast<double>(sorted[first++]);
    const double mean = sum / static_cast<double>(histogram.count(bin));
    CHECK(static_cast<double>(histogram.mean(bin)) == doctest::Approx(mean).epsilon(1e-6));
  }
}

TEST_CASE("no more bits are dropped than the limit needs") {
  const LogHistogram histogram = histogram_of(mixed(50000, 4), 4096);
  const std::uint32_t dropped = histogram.state().dropped_bits;
  REQUIRE(dropped > 0);
  const LogHistogramState exact = histogram_of(mixed(50000, 4), std::size_t{1} << 20).state();
  CHECK(amct::log_histogram::coarser(exact, dropped).keys.size() <= 4096);
  CHECK(amct::log_histogram::coarser(exact, dropped - 1).keys.size() > 4096);
}

TEST_CASE("the state is a function of the set of values: 100 shuffles, splits and merges give the same bytes") {
  Values x = mixed(20000, 5);
  const LogHistogramState want = histogram_of(x, 2048).state();
  REQUIRE(want.dropped_bits > 0);
  std::mt19937 random(6);
  for (int round = 0; round < 100; ++round) {
    std::ranges::shuffle(x, random);
    std::vector<LogHistogram> parts(1 + random() % 5, LogHistogram(2048));
    for (std::size_t first = 0; first < x.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 9000, x.size() - first);
      REQUIRE(parts[random() % parts.size()].add(std::span(x).subspan(first, count)).ok());
      first += count;
    }
    while (parts.size() > 1) {  // merged in any order and nesting
      const std::size_t into = random() % (parts.size() - 1);
      parts[into].merge(parts.back());
      parts.pop_back();
    }
    REQUIRE(same_bytes(parts[0].state(), want));
  }
}

TEST_CASE("data beyond one chunk give the same bytes as their parts") {
  const Values x = mixed((std::size_t{1} << 18) + 1000, 7);
  LogHistogram parts(4096);
  REQUIRE(parts.add(std::span(x).subspan(100000)).ok());
  REQUIRE(parts.add(std::span(x).first(100000)).ok());
  CHECK(same_bytes(parts.state(), histogram_of(x, 4096).state()));
}

TEST_CASE("order statistics are exact for few values, and the extremes always") {
  const Values x = mixed(3000, 8);
  Values sorted = x;
  std::ranges::sort(sorted);
  Values magnitudes = x;
  for (float& value : magnitudes) value = std::fabs(value);
  std::ranges::sort(magnitudes, std::greater<>{});
  const LogHistogram exact = histogram_of(x, 4096);
  const LogHistogram coarse = histogram_of(x, 1024);
  REQUIRE(coarse.state().dropped_bits > 0);
  const double relative = std::exp2(static_cast<double>(coarse.state().dropped_bits) - 23.0);
  for (const std::size_t rank : {1U, 2U, 10U, 777U, 1500U, 2999U, 3000U}) {
    CAPTURE(rank);
    CHECK(exact.nth_smallest(rank) == sorted[rank - 1]);
    CHECK(exact.nth_largest(rank) == sorted[3000 - rank]);
    CHECK(exact.nth_largest_magnitude(rank) == magnitudes[rank - 1]);
    CHECK(std::fabs(coarse.nth_smallest(rank) - sorted[rank - 1]) <=
          static_cast<float>(relative) * std::fabs(sorted[rank - 1]));
  }
  CHECK(coarse.nth_smallest(1) == sorted.front());
  CHECK(coarse.nth_largest(1) == sorted.back());
}

TEST_CASE("the whole range of floats fits, denormals and largest ones too") {
  Values x = {-std::numeric_limits<float>::max(), std::numeric_limits<float>::max(), 1e-45F, -1e-45F, 0.0F};
  const Values more = mixed(20000, 9);
  x.insert(x.end(), more.begin(), more.end());
  for (int exponent = -149; exponent < 128; ++exponent) x.push_back(std::ldexp(1.0F, exponent));
  const LogHistogram histogram = histogram_of(x, 1024);
  CHECK(histogram.bins() <= 1024);
  CHECK(histogram.total() == x.size());
  for (std::size_t bin = 1; bin < histogram.bins(); ++bin) CHECK(histogram.mean(bin - 1) < histogram.mean(bin));
  CHECK(std::isfinite(histogram.mean(histogram.bins() - 1)));
}

TEST_CASE("NaN, infinities and empty data are refused and change nothing") {
  LogHistogram histogram = histogram_of(Values{1.0F, 2.0F}, 1024);
  const LogHistogramState before = histogram.state();
  CHECK(histogram.add({}).code == StatusCode::empty);
  const amct::Status status = histogram.add(Values{5.0F, std::numeric_limits<float>::quiet_NaN()});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 1);
  CHECK(histogram.add(Values{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK(same_bytes(histogram.state(), before));
}

TEST_CASE("merging with itself doubles the counts, with nothing changes nothing, reset forgets") {
  LogHistogram histogram = histogram_of(Values{1.0F, 2.0F, 2.0F}, 1024);
  histogram.merge(LogHistogram(1024));
  CHECK(histogram.total() == 3);
  histogram.merge(histogram);
  CHECK(histogram.total() == 6);
  CHECK(histogram.count(1) == 4);
  LogHistogram restored(1024);
  restored.restore(histogram.state());
  CHECK(same_bytes(restored.state(), histogram.state()));
  histogram.reset();
  CHECK(histogram.empty());
}

TEST_CASE("limits of bins out of range are refused by name") {
  CHECK(amct::check_log_bins(1024).ok());
  CHECK(amct::check_log_bins(std::size_t{1} << 24).ok());
  for (const std::size_t bins : {std::size_t{0}, std::size_t{1023}, (std::size_t{1} << 24) + 1}) {
    CHECK(amct::check_log_bins(bins).code == StatusCode::bad_option);
    CHECK(std::string(amct::check_log_bins(bins).name) == "max_bins");
  }
}
