// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/nuq.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>

using amct::ChannelLayout;
using amct::Nuq;
using amct::NuqOptions;
using amct::StatusCode;
using amct::nuq::best_levels;
using amct::nuq::Counts;

namespace {

std::vector<float> weights(std::size_t count) {
  amct::Random random(8);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(random.uniform() + random.uniform() + random.uniform() - 1.5));
  }
  return values;
}

std::int64_t cost(const Counts& counts, const std::vector<std::int32_t>& levels) {
  std::int64_t sum = 0;
  for (std::int32_t code = -128; code <= 127; ++code) {
    std::int32_t nearest = 1000;
    for (const std::int32_t level : levels) nearest = std::min(nearest, std::abs(level - code));
    sum += static_cast<std::int64_t>(counts[static_cast<std::size_t>(code + 128)]) * nearest * nearest;
  }
  return sum;
}

/// Counts of a few codes, from -128 on.
Counts random_counts(std::uint64_t seed, std::size_t used) {
  amct::Random random(seed);
  Counts counts{};
  for (std::size_t i = 0; i < used; ++i) counts[random.below(12)] += random.below(20);
  return counts;
}

}  // namespace

TEST_CASE("the chosen levels cost no more than any other choice") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Counts counts = random_counts(seed, 10);
    const auto found = best_levels(counts, 3);
    REQUIRE(found.size() == 3);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int32_t a = -128; a < -114; ++a)
      for (std::int32_t b = a + 1; b < -114; ++b)
        for (std::int32_t c = b + 1; c < -114; ++c) least = std::min(least, cost(counts, {a, b, c}));
    CHECK(cost(counts, found) == least);
  }
}

TEST_CASE("one level is the rounded mean, and 256 levels are all codes") {
  Counts counts{};
  counts[0] = 3;   // -128
  counts[10] = 1;  // -118; mean of indices 2.5: 2 and 3 cost the same
  CHECK(best_levels(counts, 1) == std::vector<std::int32_t>{-126});
  counts[10] = 2;
  CHECK(best_levels(counts, 1) == std::vector<std::int32_t>{-124});
  const auto all = best_levels(counts, 256);
  CHECK(all.front() == -128);
  CHECK(all.back() == 127);
}

TEST_CASE("codes in use are kept if they are few, and the rest are the lowest ones") {
  Counts counts{};
  counts[128] = 5;  // 0
  counts[255] = 1;  // 127
  const auto levels = best_levels(counts, 16);
  CHECK(levels[0] == -128);
  CHECK(levels[13] == -115);
  CHECK(levels[14] == 0);
  CHECK(levels[15] == 127);
}

TEST_CASE("every weight gets the level nearest to its INT8 code, of two the lower one") {
  const auto w = weights(3000);
  const ChannelLayout layout{1, 1, 3, 1000};
  for (const std::size_t steps : {std::size_t{16}, std::size_t{32}}) {
    Nuq nuq({.num_steps = steps});
    REQUIRE(nuq.calibrate(w, layout).ok());
    const auto cluster = nuq.extras().cluster;
    REQUIRE(cluster.size() == steps);
    CHECK(std::adjacent_find(cluster.begin(), cluster.end(), std::greater_equal<>()) == cluster.end());
    amct::Arq<> arq;
    REQUIRE(arq.calibrate(w, layout).ok());
    CHECK(nuq.params().channels == arq.channels());
    std::vector<std::int8_t> plain(w.size());
    std::vector<std::int8_t> codes(w.size());
    std::vector<float> y(w.size());
    arq.quantize(w, plain);
    REQUIRE(nuq.quantize(w, codes).ok());
    REQUIRE(nuq.forward(w, y).ok());
    for (std::size_t i = 0; i < w.size(); ++i) {
      std::int32_t nearest = cluster[0];
      for (const std::int32_t level : cluster) {
        if (std::abs(level - plain[i]) < std::abs(nearest - plain[i])) nearest = level;
      }
      CHECK(codes[i] == nearest);
      CHECK(y[i] == static_cast<float>(nearest) * arq.channels()[i / 1000].scale);
    }
  }
}

TEST_CASE("more levels lose less") {
  const auto w = weights(2000);
  const auto error = [&](std::size_t steps) {
    Nuq nuq({.num_steps = steps});
    REQUIRE(nuq.calibrate(w, ChannelLayout::per_tensor(w.size())).ok());
    std::vector<float> y(w.size());
    REQUIRE(nuq.forward(w, y).ok());
    double sum = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += static_cast<double>((y[i] - w[i]) * (y[i] - w[i]));
    return sum;
  };
  CHECK(error(32) < 0.5 * error(16));
}

TEST_CASE("the number of iterations changes nothing") {
  const auto w = weights(300);
  Nuq none({.num_of_iteration = 0});
  Nuq most({.num_of_iteration = 5});
  REQUIRE(none.calibrate(w, ChannelLayout::per_tensor(300)).ok());
  REQUIRE(most.calibrate(w, ChannelLayout::per_tensor(300)).ok());
  CHECK(none.extras().cluster == most.extras().cluster);
}

TEST_CASE("zeros, constants, one weight and one sign keep their INT8 codes") {
  for (const std::vector<float>& w : {std::vector<float>(5, 0.0F), std::vector<float>(5, -3.0F),
                                      std::vector<float>{0.7F}, std::vector<float>{1.0F, 0.5F, 0.25F}}) {
    Nuq nuq({.num_steps = 16});
    const auto layout = ChannelLayout::per_tensor(w.size());
    REQUIRE(nuq.calibrate(w, layout).ok());
    amct::Arq<> arq;
    REQUIRE(arq.calibrate(w, layout).ok());
    std::vector<std::int8_t> plain(w.size());
    std::vector<std::int8_t> codes(w.size(), 99);
    arq.quantize(w, plain);
    REQUIRE(nuq.quantize(w, codes).ok());
    CHECK(codes == plain);
  }
}

TEST_CASE("a huge outlier keeps its code, all others become 0") {
  auto w = weights(100);
  w[50] = 1e4F;
  Nuq nuq;
  REQUIRE(nuq.calibrate(w, ChannelLayout::per_tensor(100)).ok());
  std::vector<std::int8_t> codes(100);
  REQUIRE(nuq.quantize(w, codes).ok());
  for (std::size_t i = 0; i < 100; ++i) CHECK(codes[i] == (i == 50 ? 127 : 0));
}

TEST_CASE("bad input is refused and changes nothing") {
  const auto w = weights(20);
  const auto layout = ChannelLayout::per_tensor(20);
  Nuq nuq;
  std::vector<float> y(20, 7.0F);
  CHECK(nuq.forward(w, y).code == StatusCode::size_mismatch);  // before calibration
  CHECK(nuq.calibrate({}, layout).code == StatusCode::empty);
  CHECK(nuq.calibrate(w, ChannelLayout::per_tensor(19)).code == StatusCode::size_mismatch);
  auto bad = w;
  bad[7] = std::numeric_limits<float>::infinity();
  REQUIRE(nuq.calibrate(w, layout).ok());
  const auto cluster = nuq.extras().cluster;
  CHECK(nuq.calibrate(bad, layout).index == 7);
  CHECK(nuq.extras().cluster == cluster);
  CHECK(nuq.forward(bad, y).code == StatusCode::not_finite);
  CHECK(nuq.forward({}, {}).code == StatusCode::empty);
  CHECK(nuq.forward(w, std::span(y).first(3)).code == StatusCode::size_mismatch);
  CHECK(y == std::vector<float>(20, 7.0F));
}

TEST_CASE("options out of their range are refused by name") {
  const auto refused = [](NuqOptions options) {
    const amct::Status status = Nuq(options).calibrate(std::vector<float>{1.0F}, ChannelLayout::per_tensor(1));
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(refused({.num_steps = 8}) == "num_steps");
  CHECK(refused({.num_steps = 31}) == "num_steps");
  CHECK(refused({.num_of_iteration = 6}) == "num_of_iteration");
}
