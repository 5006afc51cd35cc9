// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/order_statistic.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

namespace {

float kth_largest(const std::vector<float>& values, std::size_t k) { return amct::tails(values, 1, k).high; }
float kth_smallest(const std::vector<float>& values, std::size_t k) { return amct::tails(values, k, 1).low; }

}  // namespace

TEST_CASE("rank 1 is the extreme and rank n the opposite one") {
  std::vector<float> values = {3.0F, -1.0F, 7.5F, 0.0F};
  CHECK(kth_largest(values, 1) == 7.5F);
  CHECK(kth_largest(values, 4) == -1.0F);
  CHECK(kth_smallest(values, 1) == -1.0F);
  CHECK(kth_smallest(values, 4) == 7.5F);
}

TEST_CASE("one element has one rank") {
  std::vector<float> one = {0.7F};
  CHECK(kth_largest(one, 1) == 0.7F);
  CHECK(kth_smallest(one, 1) == 0.7F);
}

TEST_CASE("equal values take a rank each") {
  std::vector<float> values = {2.0F, 5.0F, 5.0F, 5.0F, 1.0F};
  CHECK(kth_largest(values, 1) == 5.0F);
  CHECK(kth_largest(values, 3) == 5.0F);
  CHECK(kth_largest(values, 4) == 2.0F);
  CHECK(kth_smallest(values, 3) == 5.0F);
}

TEST_CASE("huge and tiny values are ordered by value") {
  constexpr float kMax = std::numeric_limits<float>::max();
  std::vector<float> values = {1e-45F, -kMax, kMax, 0.0F, -1e-45F};
  CHECK(kth_largest(values, 2) == 1e-45F);
  CHECK(kth_smallest(values, 2) == -1e-45F);
}

TEST_CASE("every rank of pseudo-random data agrees with sorting") {
  std::vector<float> values;
  unsigned state = 1;
  for (int i = 0; i < 301; ++i) {
    state = state * 1664525U + 1013904223U;
    values.push_back(static_cast<float>(state >> 24U) - 128.0F);
  }
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 1; k <= values.size(); ++k) {
    CAPTURE(k);
    CHECK(kth_smallest(values, k) == sorted[k - 1]);
    CHECK(kth_largest(values, k) == sorted[sorted.size() - k]);
  }
}

TEST_CASE("every path finds every rank of large data, whatever their order") {
  std::vector<float> mixed(5000);
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<float>(i * 7919U % 4999U) - 2500.0F;
  std::vector<float> rising = mixed;
  std::sort(rising.begin(), rising.end());
  std::vector<float> falling(rising.rbegin(), rising.rend());
  for (const auto& values : {mixed, rising, falling}) {
    for (const std::size_t k : {1U, 2U, 3U, 16U, 17U, 64U, 150U, 156U, 157U, 2500U, 5000U}) {
      CAPTURE(k);
      on_every_path([&] {
        CHECK(kth_smallest(values, k) == rising[k - 1]);
        CHECK(kth_largest(values, k) == rising[rising.size() - k]);
      });
    }
  }
}

TEST_CASE("both tails have ranks of their own in one pass over data of any size") {
  std::vector<float> values((std::size_t{1} << 22) + 77);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761U % 16777213U);
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  on_every_path([&] {
    for (const auto& [smallest, largest] : {std::pair<std::size_t, std::size_t>{1, 5}, {300, 1}, {7, 4000}, {2, 2}}) {
      CHECK(amct::tails(values, smallest, largest) ==
            amct::Tails{sorted[smallest - 1], sorted[sorted.size() - largest]});
    }
  });
}

TEST_CASE("a zero of any sign is +0") {
  const std::vector<float> zeros(200, -0.0F);
  on_every_path([&] {
    for (const std::size_t k : {1U, 2U, 150U}) {
      CHECK_FALSE(std::signbit(kth_largest(zeros, k)));
      CHECK_FALSE(std::signbit(kth_smallest(zeros, k)));
    }
  });
}
