// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

namespace {

using Counts = std::vector<std::uint64_t>;

Counts histogram(const std::vector<float>& x, float low, float high, std::size_t bins) {
  Counts counts(bins);
  amct::add_histogram(x, low, high, counts);
  return counts;
}

/// Values over and beyond [-1, 1], some of them often.
std::vector<float> values(std::size_t size) {
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = i % 3 == 0 ? 0.0F : (static_cast<float>(i * 2654435761U >> 8U & 0xFFFFU) - 32767.5F) / 32767.5F;
  }
  return x;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("bins are half open but for the last") {
  CHECK(histogram({0.0F, 0.5F, 1.0F, 1.5F, 3.999F, 4.0F}, 0.0F, 4.0F, 4) == Counts{2, 2, 0, 2});
  CHECK(histogram({-1.0F, 1.0F}, -1.0F, 1.0F, 1) == Counts{2});
}

TEST_CASE("what lies outside, NaN and infinities are not counted") {
  CHECK(histogram({-0.1F, 4.1F, kNan, kInfinity, -kInfinity, 2.0F}, 0.0F, 4.0F, 2) == Counts{0, 1});
  CHECK(histogram({}, 0.0F, 1.0F, 3) == Counts{0, 0, 0});
}

TEST_CASE("counts go on growing") {
  Counts counts = {5, 7};
  amct::add_histogram(std::vector<float>{0.1F, 0.9F, 0.9F}, 0.0F, 1.0F, counts);
  CHECK(counts == Counts{6, 9});
}

TEST_CASE("a range that overflows float32 counts like any other") {
  constexpr float kMax = std::numeric_limits<float>::max();
  const std::vector<float> x(500, 0.25F * kMax);
  on_every_path([&] {
    CHECK(histogram(x, 0.0F, 0.5F * kMax, 8) == Counts{0, 0, 0, 0, 500, 0, 0, 0});
    CHECK(histogram(x, -kMax, kMax, 8) == Counts{0, 0, 0, 0, 0, 500, 0, 0});
  });
}

TEST_CASE("every path counts like the reference, whatever lies outside") {
  for (const std::size_t bins :
       {std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{2048}, std::size_t{8192}, std::size_t{8193}}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{63}, std::size_t{1000}, std::size_t{40000}}) {
      std::vector<float> x = values(size);
      if (size > 500) {
        x[70] = kNan;
        x[300] = kInfinity;
      }
      for (const float high : {1.0F, 0.3F}) {
        Counts want(bins);
        amct::kernel::reference::add_histogram(x, amct::kernel::histogram_bins(-1.0F, high, bins), want);
        on_every_path([&] { CHECK(histogram(x, -1.0F, high, bins) == want); });
      }
    }
  }
}

TEST_CASE("every value of large data is counted once") {
  const std::vector<float> x = values((std::size_t{1} << 22) + 12345);
  const Counts counts = histogram(x, -1.0F, 1.0F, 2048);
  CHECK(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) == x.size());
  amct::simd::use(amct::simd::Arch::scalar);
  CHECK(histogram(x, -1.0F, 1.0F, 2048) == counts);
  amct::simd::use(amct::simd::detail::choose_arch());
}
