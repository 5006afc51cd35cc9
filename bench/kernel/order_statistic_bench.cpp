// SPDX-License-Identifier: Apache-2.0
// Both percentiles of 16 Mi values (the 17th from each end) beside std::nth_element and one plain read, in one run.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include <amct/kernel/order_statistic.hpp>
#include <amct/kernel/range.hpp>

namespace {

constexpr std::size_t kSize = std::size_t{1} << 24;
constexpr std::size_t kRank = 17;

const std::vector<float>& normal_data() {
  static const std::vector<float> data = [] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> values(kSize);
    for (float& value : values) value = normal(random);
    return values;
  }();
  return data;
}

void one_read_min_max(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(amct::kernel::extremes(normal_data()));
}

void both_percentiles(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(amct::kth_largest(normal_data(), kRank));
    benchmark::DoNotOptimize(amct::kth_smallest(normal_data(), kRank));
  }
}

void both_by_nth_element(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<float> copy = normal_data();
    std::nth_element(copy.begin(), copy.begin() + kRank - 1, copy.end(), std::greater<>{});
    std::nth_element(copy.begin() + kRank, copy.end() - kRank, copy.end());
    benchmark::DoNotOptimize(copy.data());
  }
}

}  // namespace

BENCHMARK(one_read_min_max)->Unit(benchmark::kMillisecond);
BENCHMARK(both_percentiles)->Unit(benchmark::kMillisecond);
BENCHMARK(both_by_nth_element)->Unit(benchmark::kMillisecond);
