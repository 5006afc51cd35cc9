// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/hfmg.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::Hfmg;
using amct::HfmgOptions;
using amct::HfmgRange;
using amct::HfmgResult;
using amct::StatusCode;
using amct::Symmetry;
using amct::ValueRange;
using Counts = std::vector<std::uint64_t>;

constexpr auto kAsymmetric = Symmetry::asymmetric;
constexpr auto kSymmetric = Symmetry::symmetric;

std::vector<float> normal(std::size_t count, float deviation = 1.0F, std::uint32_t seed = 7) {
  std::mt19937 random(seed);
  std::normal_distribution<float> values(0.0F, deviation);
  std::vector<float> x(count);
  for (float& value : x) value = values(random);
  return x;
}

/// `count` values from low to high, both included.
std::vector<float> evenly(float low, float high, int count) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i)
    x.push_back(low + (high - low) * static_cast<float>(i) / static_cast<float>(count - 1));
  return x;
}

HfmgResult search(const std::vector<float>& data, HfmgOptions options = {}, int bits = 8) {
  Hfmg observer(options);
  REQUIRE(observer.observe(data).ok());
  const HfmgResult result = observer.search(CodeRange{bits});
  CHECK(observer.compute(CodeRange{bits}) == result.affine);
  return result;
}

Counts rebinned(const Counts& old, ValueRange from, ValueRange to, Counts counts) {
  amct::hfmg::add_rebinned(old, from, to, counts);
  return counts;
}

/// The integral that hfmg::Loss has in closed form, from midpoints of slices of each bin.
double integrated_loss(const Counts& counts, double width, HfmgRange tried, int bits) {
  constexpr int kSlices = 400;
  const double steps = std::exp2(bits);
  const double step = width * static_cast<double>(tried.right - tried.left + 1) / steps;
  double sum = 0.0;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    for (int slice = 0; slice < kSlices; ++slice) {
      const double x = (static_cast<double>(bin) - static_cast<double>(tried.left) + (slice + 0.5) / kSlices) * width;
      const double code = std::min(std::max(std::floor(x / step), 0.0), steps - 1.0);
      const double error = x - (code + 0.5) * step;
      sum += static_cast<double>(counts[bin]) / kSlices * error * error;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("counts follow torch.histc, a range of no width has all values in the middle bin") {
  const auto counted = [](const std::vector<float>& x, float low, float high) {
    Counts counts(4);
    amct::hfmg::add_counts(x, low, high, counts);
    return counts;
  };
  CHECK(counted({0.0F, 1.0F, 2.0F, 3.0F, 4.0F}, 0.0F, 4.0F) == Counts{1, 1, 1, 2});
  CHECK(counted({2.5F, 2.5F}, 2.5F, 2.5F) == Counts{0, 0, 2, 0});
}

TEST_CASE("an old histogram moves into wider bins, and a count on a border is split by truncation") {
  CHECK(rebinned({1, 2, 3, 4}, {0.0F, 4.0F}, {0.0F, 8.0F}, {1, 1, 1, 1}) == Counts{4, 8, 1, 1});
  CHECK(rebinned({5, 0, 0, 7}, {0.0F, 1.0F}, {-1.0F, 3.0F}, {0, 1, 0, 1}) == Counts{0, 13, 0, 1});
  CHECK(rebinned({3, 3, 3, 3}, {0.0F, 3.0F}, {-0.5F, 4.5F}, {0, 0, 0, 0}) == Counts{3, 5, 4, 0});
  CHECK(rebinned({10, 11, 12, 13}, {-1.0F, 1.0F}, {-1.0F, 1.0F}, {1, 2, 3, 4}) == Counts{11, 13, 15, 17});
}

TEST_CASE("re-binning keeps the number of values, at every width and place") {
  const Counts old(64, 1000003);
  for (const float low : {-3.0F, -0.1F, 0.0F}) {
    for (const float high : {1.0F, 1.3F, 77.0F, 3e38F}) {
      const Counts moved = rebinned(old, {0.0F, 1.0F}, {low, high}, Counts(64));
      CAPTURE(low);
      CAPTURE(high);
      CHECK(std::accumulate(moved.begin(), moved.end(), std::uint64_t{0}) == 64 * 1000003);
    }
  }
}

TEST_CASE("ranges drop the end where more bins hold the next values, the right one of equals") {
  // 16 bins of one value each: the right end first, and then the right end again, since both free one bin.
  const auto equal = amct::hfmg::search_ranges(Counts(16, 1));
  REQUIRE(equal.size() == 11);
  CHECK(equal.front() == HfmgRange{0, 14});
  CHECK(equal.back() == HfmgRange{0, 4});
  // An empty stretch on the left is dropped before the bins on the right.
  Counts sparse(16, 1);
  sparse[0] = sparse[1] = sparse[2] = 0;
  const auto left = amct::hfmg::search_ranges(sparse);
  CHECK(left.front() == HfmgRange{4, 15});
  CHECK(left[1] == HfmgRange{4, 14});
}

TEST_CASE("more than 100,000 values make the turns longer") {
  const auto ranges = amct::hfmg::search_ranges(Counts(16, 100000 / 16 * 3));
  CHECK(ranges.front() == HfmgRange{0, 14});
  Counts counts(1024, 1);
  counts[512] = 200000 - 1023;  // two values a turn
  CHECK(amct::hfmg::search_ranges(counts).front() == HfmgRange{0, 1021});
  counts[512] += 1;  // 200,001 values: rounded up, three a turn
  CHECK(amct::hfmg::search_ranges(counts).front() == HfmgRange{0, 1020});
}

TEST_CASE("the loss is the integral of the squared error") {
  Counts counts(64);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 5 * (64 - i);
  for (const float width : {0.1F, 1.0F, 37.5F}) {
    for (const int bits : {2, 4, 5}) {
      const amct::hfmg::Loss loss(counts, width, CodeRange{bits});
      for (const HfmgRange tried : {HfmgRange{0, 62}, HfmgRange{10, 62}, HfmgRange{20, 40}, HfmgRange{63, 63}}) {
        CAPTURE(width);
        CAPTURE(bits);
        CAPTURE(tried.left);
        CHECK(loss(tried) ==
              doctest::Approx(integrated_loss(counts, static_cast<double>(width), tried, bits)).epsilon(0.002));
      }
    }
  }
}

TEST_CASE("a loss that cannot be the least is not computed to its end") {
  Counts counts(64, 100);
  const amct::hfmg::Loss loss(counts, 1.0F, CodeRange{4});
  const double whole = loss({10, 40});
  CHECK(loss({10, 40}, whole * 2.0) == whole);
  CHECK(loss({10, 40}, whole / 2.0) >= whole / 2.0);
  CHECK(loss({10, 40}, whole / 2.0) < whole);
}

TEST_CASE("losses scale with the square of the data, however large or small") {
  Counts counts(64, 7);
  const double one = amct::hfmg::Loss(counts, 1.0F, CodeRange{4})({3, 50});
  CHECK(amct::hfmg::Loss(counts, 0x1p100F, CodeRange{4})({3, 50}) == std::ldexp(one, 200));
  CHECK(amct::hfmg::Loss(counts, 0x1p-20F, CodeRange{4})({3, 50}) == std::ldexp(one, -40));
  CHECK(amct::hfmg::Loss(counts, 0x1p-30F, CodeRange{4})({3, 50}) == 0.0);  // steps below 2^-23
}

TEST_CASE("the scale belongs to the chosen bins") {
  const HfmgResult result = search(normal(20000), {.num_of_bins = 1024}, 4);
  const auto [left, right] = result.ranges[result.best];
  CHECK(result.best > 0);  // four bits pay for clipping
  CHECK(right - left < 1022);
  CHECK(result.affine == amct::affine_from_range(result.clip.min, result.clip.max, {4}, kAsymmetric));
  for (const double loss : result.losses) CHECK(loss >= result.losses[result.best]);
}

TEST_CASE("the full range is never chosen, so a bin at one end is lost") {
  const HfmgResult result = search(evenly(-1.0F, 1.0F, 4096), {.num_of_bins = 1024}, 8);
  CHECK(result.ranges[0] == HfmgRange{0, 1022});
  CHECK(result.best == 0);
  CHECK(result.clip.max == doctest::Approx(1.0 - 2.0 / 1024));
}

TEST_CASE("a huge outlier is cut off where few codes are left for the rest, and kept where they are many") {
  auto data = normal(50000, 0.01F);
  data.push_back(0.5F);
  CHECK(search(data, {}, 4).clip.max < 0.1F);
  CHECK(search(data, {}, 16).clip.max > 0.49F);
}

TEST_CASE("data of one sign give a range from zero") {
  CHECK(search(evenly(1.0F, 3.0F, 2000)).affine.offset == -128);
  CHECK(search(evenly(-3.0F, -1.0F, 2000)).affine.offset == 127);
  const Affine negative = search(evenly(-3.0F, -1.0F, 2000), {.symmetry = kSymmetric}).affine;
  CHECK(negative.offset == 0);
  CHECK(negative.scale == doctest::Approx(3.0 / 128));
}

TEST_CASE("C01 a tensor of zeros gets scale 1") {
  for (const int bits : {4, 8, 16}) {
    const std::vector<float> zeros(100, 0.0F);
    CHECK(search(zeros, {}, bits).affine == Affine{1.0F, CodeRange{bits}.min()});
    CHECK(search(zeros, {.symmetry = kSymmetric}, bits).affine == Affine{1.0F, 0});
  }
}

TEST_CASE("C05, C06 constants and single values are represented without error") {
  for (const std::size_t count : {1U, 64U}) {
    CHECK(search(std::vector<float>(count, 0.7F)).affine == Affine{0.7F / 255.0F, -128});
    CHECK(search(std::vector<float>(count, -3.0F)).affine == Affine{3.0F / 255.0F, 127});
    CHECK(search(std::vector<float>(count, 0.7F), {.symmetry = kSymmetric}).affine == Affine{0.7F / 127.0F, 0});
  }
  Hfmg observer({.batch_num = 2});
  REQUIRE(observer.observe(std::vector<float>{0.7F}).ok());
  REQUIRE(observer.observe(std::vector<float>{0.7F}).ok());
  CHECK(std::accumulate(observer.state().counts.begin(), observer.state().counts.end(), std::uint64_t{0}) == 2);
  CHECK(observer.compute({8}) == Affine{0.7F / 255.0F, -128});
}

TEST_CASE("C07 a first batch of zeros costs no resolution, in whatever order") {
  for (const float unit : {1.0F, 1e-6F, 1e6F}) {
    const std::vector<float> zeros(1000, 0.0F);
    std::vector<float> values;
    for (int k = 1; k <= 1000; ++k) values.push_back(0.01F * static_cast<float>(k) * unit);
    std::vector<float> all = zeros;
    all.insert(all.end(), values.begin(), values.end());
    Hfmg zeros_first({.batch_num = 2});
    REQUIRE(zeros_first.observe(zeros).ok());
    REQUIRE(zeros_first.observe(values).ok());
    Hfmg zeros_last({.batch_num = 2});
    REQUIRE(zeros_last.observe(values).ok());
    REQUIRE(zeros_last.observe(zeros).ok());
    CAPTURE(unit);
    CHECK(zeros_first.state().counts[0] >= 1000);
    CHECK(zeros_first.compute({8}) == search(all).affine);
    const double whole = static_cast<double>(zeros_first.compute({8}).scale);
    CHECK(static_cast<double>(zeros_last.compute({8}).scale) == doctest::Approx(whole).epsilon(2.0 / 4096));
  }
}

TEST_CASE("a later batch within the range leaves earlier counts where they are") {
  const auto wide = evenly(-1.0F, 1.0F, 2048);
  const auto narrow = evenly(-0.1F, 0.1F, 2048);
  Hfmg observer({.batch_num = 2});
  REQUIRE(observer.observe(wide).ok());
  REQUIRE(observer.observe(narrow).ok());
  std::vector<float> all = wide;
  all.insert(all.end(), narrow.begin(), narrow.end());
  CHECK(observer.compute({8}) == search(all).affine);
}

TEST_CASE("a range of 16 bits with steps below 2^-23 ends at scale 1") {
  CHECK(search(normal(1000, 0.001F), {.symmetry = kSymmetric}, 16).affine.scale == 1.0F);
  CHECK(search(normal(1000, 0.001F), {.symmetry = kSymmetric}, 8).affine.scale < 1e-4F);
}

TEST_CASE("outliers rarer than 1 in 100,000 are always cut off") {
  auto data = normal(100000, 0.01F);
  data.push_back(0.5F);
  CHECK(search(data, {}, 16).ranges[0].right < 4000);
}

TEST_CASE("a range beyond float32 gives a scale that is not usable") {
  for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
    Hfmg observer({.symmetry = symmetry});
    REQUIRE(observer.observe(std::vector<float>{-3e38F, 0.0F, 3e38F}).ok());
    CHECK_FALSE(amct::is_usable(observer.compute({8})));
    CHECK_FALSE(amct::is_usable(observer.search({8}).affine));
  }
}

TEST_CASE("batches are collected up to batch_num and no further") {
  Hfmg observer({.batch_num = 2});
  REQUIRE(observer.observe(evenly(0.0F, 1.0F, 100)).ok());
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(evenly(0.0F, 1.0F, 100)).ok());
  CHECK(observer.ready());
  CHECK(observer.observe(evenly(0.0F, 9.0F, 100)).code == StatusCode::already_ready);
  CHECK(observer.state().range.max == 1.0F);
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  Hfmg observer({.batch_num = 3});
  REQUIRE(observer.observe(evenly(0.0F, 1.0F, 100)).ok());
  const Counts before = observer.state().counts;
  CHECK(observer.observe({}).code == StatusCode::empty);
  const amct::Status status = observer.observe(std::vector<float>{5.0F, std::numeric_limits<float>::quiet_NaN(), 7.0F});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 1);
  CHECK(observer.observe(std::vector<float>{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK(observer.state().counts == before);
  CHECK(observer.state().range.max == 1.0F);
  CHECK(observer.state().batches == 1);
}

TEST_CASE("options out of their range are refused by name") {
  const auto name_of = [](HfmgOptions options) {
    const amct::Status status = Hfmg(options).observe(std::vector<float>{1.0F});
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(name_of({.batch_num = 0}) == "batch_num");
  for (const std::size_t bins : {0U, 512U, 1000U, 16384U}) CHECK(name_of({.num_of_bins = bins}) == "num_of_bins");
  for (const std::size_t bins : {1024U, 2048U, 4096U, 8192U}) CHECK(HfmgOptions{.num_of_bins = bins}.check().ok());
}

TEST_CASE("merging equal ranges adds the counts, others keep all values") {
  Hfmg first({.batch_num = 1});
  Hfmg second({.batch_num = 1});
  REQUIRE(first.observe(evenly(-1.0F, 1.0F, 2048)).ok());
  REQUIRE(second.observe(evenly(-1.0F, 1.0F, 1000)).ok());
  Hfmg together({.batch_num = 2});
  REQUIRE(together.observe(evenly(-1.0F, 1.0F, 2048)).ok());
  REQUIRE(together.observe(evenly(-1.0F, 1.0F, 1000)).ok());
  REQUIRE(first.merge(second).ok());
  CHECK(first.state().counts == together.state().counts);
  CHECK(first.state().batches == 2);
  Hfmg wide;
  REQUIRE(wide.observe(evenly(-7.0F, 2.0F, 500)).ok());
  REQUIRE(first.merge(wide).ok());
  CHECK(std::accumulate(first.state().counts.begin(), first.state().counts.end(), std::uint64_t{0}) == 3548);
  CHECK(first.state().range.min == -7.0F);
  CHECK(first.state().range.max == 2.0F);
}

TEST_CASE("merging with nothing seen keeps what the other has, other bins are refused") {
  Hfmg seen;
  REQUIRE(seen.observe(evenly(-1.0F, 1.0F, 2048)).ok());
  Hfmg fresh;
  REQUIRE(fresh.merge(seen).ok());
  CHECK(fresh.compute({8}) == seen.compute({8}));
  REQUIRE(fresh.merge(Hfmg()).ok());
  CHECK(fresh.state().counts == seen.state().counts);
  Hfmg coarse({.num_of_bins = 1024});
  CHECK(coarse.merge(seen).code == StatusCode::size_mismatch);
  REQUIRE(coarse.observe(evenly(-1.0F, 1.0F, 10)).ok());
  CHECK(coarse.merge(seen).code == StatusCode::size_mismatch);
}

TEST_CASE("a state restores an observer, reset forgets") {
  Hfmg observer({.batch_num = 2});
  REQUIRE(observer.observe(evenly(-1.0F, 1.0F, 2048)).ok());
  Hfmg restored({.batch_num = 2});
  restored.restore(observer.state());
  REQUIRE(observer.observe(evenly(-2.0F, 1.0F, 77)).ok());
  REQUIRE(restored.observe(evenly(-2.0F, 1.0F, 77)).ok());
  CHECK(restored.compute({8}) == observer.compute({8}));
  CHECK(restored.state().counts == observer.state().counts);
  restored.reset();
  CHECK_FALSE(restored.ready());
  CHECK(restored.state().counts.empty());
}
