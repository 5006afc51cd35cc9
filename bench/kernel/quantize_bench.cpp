// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels beside memcpy of the same bytes, in one run: the ratio is what counts.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/requantize.hpp>

namespace {

constexpr amct::Affine kAffine{0.03F, -7};

std::vector<float> normal_data(std::size_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  std::vector<float> data(size);
  for (float& value : data) value = normal(random);
  return data;
}

/// Bytes read and written an iteration.
void set_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(state.iterations()));
}

void copy(benchmark::State& state) {
  const auto x = normal_data(static_cast<std::size_t>(state.range(0)));
  std::vector<float> y(x.size());
  for (auto _ : state) {
    std::memcpy(y.data(), x.data(), x.size() * sizeof(float));
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state, 8 * x.size());
}

void quantize(benchmark::State& state) {
  const auto x = normal_data(static_cast<std::size_t>(state.range(0)));
  std::vector<std::int8_t> codes(x.size());
  for (auto _ : state) {
    amct::quantize<>(std::span(x), std::span(codes), kAffine, amct::Int8::range);
    benchmark::ClobberMemory();
  }
  set_bytes(state, 5 * x.size());
}

void dequantize(benchmark::State& state) {
  const std::vector<std::int8_t> codes(static_cast<std::size_t>(state.range(0)), 42);
  std::vector<float> x(codes.size());
  for (auto _ : state) {
    amct::dequantize(std::span(codes), std::span(x), kAffine);
    benchmark::ClobberMemory();
  }
  set_bytes(state, 5 * x.size());
}

void fake_quantize(benchmark::State& state) {
  const auto x = normal_data(static_cast<std::size_t>(state.range(0)));
  std::vector<float> y(x.size());
  for (auto _ : state) {
    amct::fake_quantize<>(std::span(x), std::span(y), kAffine, amct::Int8::range);
    benchmark::ClobberMemory();
  }
  set_bytes(state, 8 * x.size());
}

std::vector<std::int32_t> accumulators(std::size_t size) {
  std::mt19937 random(1);
  std::vector<std::int32_t> values(size);
  for (auto& value : values) value = static_cast<std::int32_t>(random()) >> 12;
  return values;
}

void requantize(benchmark::State& state) {
  const auto acc = accumulators(static_cast<std::size_t>(state.range(0)));
  std::vector<std::int8_t> codes(acc.size());
  for (auto _ : state) {
    amct::requantize<>(std::span(acc), std::span(codes), {3e-5F, 0.04F}, -7, amct::Int8::range);
    benchmark::ClobberMemory();
  }
  set_bytes(state, 5 * acc.size());
}

/// What a compiler makes of the obvious loop.
void requantize_plain_loop(benchmark::State& state) {
  const auto acc = accumulators(static_cast<std::size_t>(state.range(0)));
  std::vector<std::int8_t> codes(acc.size());
  const float first = 3e-5F;
  const float second = 1.0F / 0.04F;
  for (auto _ : state) {
    for (std::size_t i = 0; i < acc.size(); ++i) {
      const float rounded = std::nearbyint(static_cast<float>(acc[i]) * first * second) - 7.0F;
      codes[i] = static_cast<std::int8_t>(std::clamp(rounded, -128.0F, 127.0F));
    }
    benchmark::ClobberMemory();
  }
  set_bytes(state, 5 * acc.size());
}

}  // namespace

BENCHMARK(copy)->Arg(4 << 10)->Arg(256 << 10);
BENCHMARK(quantize)->Arg(4 << 10)->Arg(256 << 10);
BENCHMARK(dequantize)->Arg(4 << 10)->Arg(256 << 10);
BENCHMARK(fake_quantize)->Arg(4 << 10)->Arg(256 << 10);
BENCHMARK(requantize)->Arg(4 << 10)->Arg(256 << 10);
BENCHMARK(requantize_plain_loop)->Arg(4 << 10)->Arg(256 << 10);
