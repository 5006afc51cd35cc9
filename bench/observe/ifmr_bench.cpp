// SPDX-License-Identifier: Apache-2.0
// The IFMR search (61 candidates) beside one plain pass over the same data, in one run.

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include <amct/observe/ifmr.hpp>

namespace {

std::vector<float> relu_data(std::size_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  std::vector<float> data(size);
  for (float& value : data) value = std::max(0.0F, normal(random));
  return data;
}

void sum(benchmark::State& state) {
  const auto data = relu_data(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(std::accumulate(data.begin(), data.end(), 0.0F));
  state.SetItemsProcessed(state.range(0) * static_cast<std::int64_t>(state.iterations()));
}

void ifmr(benchmark::State& state) {
  const auto data = relu_data(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    amct::Ifmr observer;
    if (!observer.observe(data)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(observer.compute(amct::Int8::range));
  }
  state.SetItemsProcessed(state.range(0) * static_cast<std::int64_t>(state.iterations()));
}

}  // namespace

BENCHMARK(sum)->Arg(256 << 10)->Unit(benchmark::kMillisecond);
BENCHMARK(ifmr)->Arg(256 << 10)->Unit(benchmark::kMillisecond);
