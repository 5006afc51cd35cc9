// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/scale_search.hpp>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

namespace {

using amct::ScaleCandidate;

/// 61 candidates around a maximum, as IFMR makes them.
std::vector<ScaleCandidate> candidates(float low, float high, float steps) {
  std::vector<ScaleCandidate> all;
  for (int i = 0; i < 61; ++i) {
    const float top = high * (0.7F + 0.01F * static_cast<float>(i));
    all.push_back({low, top, (top - low) / steps});
  }
  return all;
}

/// The choice of computing every candidate.
amct::ScaleChoice full_search(const std::vector<float>& x, const std::vector<ScaleCandidate>& all) {
  std::vector<double> sums(all.size());
  amct::add_squared_residuals(x, all, sums);
  const auto best = std::min_element(sums.begin(), sums.end());
  return {static_cast<std::size_t>(best - sums.begin()), *best};
}

template <class Distribution>
std::vector<float> sample(std::size_t size, Distribution distribution, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(size);
  for (float& value : x) value = static_cast<float>(distribution(random));
  return x;
}

void check_winner(const std::vector<float>& x, const std::vector<ScaleCandidate>& all) {
  const amct::ScaleChoice want = full_search(x, all);
  on_every_path([&] { CHECK(amct::find_best_scale(x, all) == want); });
}

constexpr std::size_t kLarge = 300001;

}  // namespace

TEST_CASE("one candidate is the best") {
  CHECK(amct::find_best_scale(std::vector<float>{0.5F}, std::vector<ScaleCandidate>{{0.0F, 1.0F, 1.0F}}) ==
        amct::ScaleChoice{0, 0.25});
}

TEST_CASE("of equal candidates the first is the best") {
  const std::vector<ScaleCandidate> same(20, {-1.0F, 1.0F, 0.125F});
  const std::vector<float> x = sample(kLarge, std::uniform_real_distribution(-1.0, 1.0), 1);
  on_every_path([&] { CHECK(amct::find_best_scale(x, same).index == 0); });
}

TEST_CASE("the winner of large data is that of computing every candidate, with the same sum") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    auto normal = sample(kLarge, std::normal_distribution(), seed);
    check_winner(normal, candidates(-4.4F, 4.5F, 255.0F));
    check_winner(normal, candidates(-4.4F, 4.5F, 15.0F));
    for (float& value : normal) value = std::max(value, 0.0F);
    check_winner(normal, candidates(0.0F, 4.5F, 255.0F));
    auto laplace = sample(kLarge, std::exponential_distribution(), seed);
    for (std::size_t i = 0; i < laplace.size(); i += 2) laplace[i] = -laplace[i];
    check_winner(laplace, candidates(-11.0F, 12.0F, 255.0F));
    check_winner(sample(kLarge, std::uniform_real_distribution(-0.3, 1.0), seed), candidates(-0.3F, 1.0F, 255.0F));
    check_winner(sample(kLarge, std::lognormal_distribution(0.0, 2.0), seed), candidates(0.0F, 900.0F, 255.0F));
  }
}

TEST_CASE("candidates on both sides of zero for data on one side of it") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    auto half = sample(kLarge, std::normal_distribution(), seed);
    for (float& value : half) value = std::max(value, 0.0F);
    std::vector<ScaleCandidate> both = candidates(0.0F, 4.5F, 127.0F);
    for (ScaleCandidate& candidate : both) candidate.low = -candidate.high;
    check_winner(half, both);
    for (float& value : half) value = -value;
    check_winner(half, both);
    for (float& value : half) value = 6.0F - 0.5F * value;
    for (ScaleCandidate& candidate : both)
      candidate = {-2.0F * candidate.high, 2.0F * candidate.high, 2.0F * candidate.scale};
    check_winner(half, both);
  }
}

TEST_CASE("data on a grid, constants and wide codes are searched as well") {
  auto grid = sample(kLarge, std::uniform_int_distribution(-128, 127), 5);
  check_winner(grid, candidates(-128.0F, 127.0F, 255.0F));
  for (float& value : grid) value *= 0.0625F;
  check_winner(grid, candidates(-8.0F, 7.9375F, 255.0F));
  check_winner(std::vector<float>(kLarge, 3.0F), candidates(0.0F, 3.0F, 255.0F));
  check_winner(std::vector<float>(kLarge, 0.0F), candidates(0.0F, 1.0F, 255.0F));
  check_winner(sample(kLarge, std::normal_distribution(), 6), candidates(-4.4F, 4.5F, 65535.0F));
  std::vector<float> outlier = sample(kLarge, std::normal_distribution(), 7);
  outlier[1000] = 1e6F;
  check_winner(outlier, candidates(-4.4F, 5.0F, 255.0F));
}

TEST_CASE("the host's rounding mode changes no winner") {
  const std::vector<float> x = sample(kLarge, std::normal_distribution(), 9);
  const std::vector<ScaleCandidate> all = candidates(-4.4F, 4.5F, 255.0F);
  const amct::ScaleChoice want = full_search(x, all);
  const int before = std::fegetround();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    on_every_path([&] {
      const amct::ScaleChoice found = amct::find_best_scale(x, all);
      std::fesetround(before);
      CHECK(found == want);
      std::fesetround(mode);
    });
    std::fesetround(before);
  }
}

TEST_CASE("bounds enclose the sums of all candidates, and leave few of them") {
  const std::vector<float> x = sample(kLarge, std::normal_distribution(), 8);
  const std::vector<ScaleCandidate> all = candidates(-4.4F, 4.5F, 255.0F);
  std::vector<double> sums(all.size());
  amct::add_squared_residuals(x, all, sums);
  const amct::kernel::Extremes ends = amct::kernel::extremes(x);
  amct::kernel::BinMoments moments(ends.min, ends.max);
  for (const float value : x) {
    const auto position = std::min((value - ends.min) * moments.steps_per_unit(), 8192.0F * 256.0F - 1.0F);
    ++moments.counts[static_cast<std::size_t>(position) / 256];
    moments.positions[static_cast<std::size_t>(position) / 256] += static_cast<std::size_t>(position) % 256;
  }
  double squares = 0.0;
  for (const float value : x) squares += static_cast<double>(value) * static_cast<double>(value);
  const amct::kernel::MomentSums cumulative(moments);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    const amct::kernel::LossBounds bounds = cumulative.bounds(all[i]);
    CHECK(bounds.least + squares <= sums[i]);
    CHECK(bounds.most + squares >= sums[i]);
    CHECK(bounds.most - bounds.least < 0.1 * sums[i]);
  }
  if (amct::simd::active() != amct::simd::Arch::scalar) CHECK(amct::kernel::find_finalists(x, all).size() < 30);
}
