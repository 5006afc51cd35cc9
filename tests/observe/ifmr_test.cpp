// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/ifmr.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <amct/kernel/quantize.hpp>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::Ifmr;
using amct::IfmrOptions;
using amct::IfmrResult;
using amct::StatusCode;
using amct::Symmetry;

constexpr auto kAsymmetric = Symmetry::asymmetric;
constexpr auto kSymmetric = Symmetry::symmetric;

/// first, first + step ... of `count` values, each computed as count * step in double.
std::vector<float> sequence(double first, double step, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(first + i * step));
  return values;
}

IfmrResult search(const std::vector<float>& data, IfmrOptions options, int bits = 8) {
  Ifmr observer(options);
  REQUIRE(observer.observe(data).ok());
  const IfmrResult result = observer.search(CodeRange{bits});
  CHECK(observer.compute(CodeRange{bits}) == result.affine);
  return result;
}
IfmrResult search(const std::vector<float>& data, Symmetry symmetry, int bits = 8) {
  return search(data, IfmrOptions{.symmetry = symmetry}, bits);
}

/// One line of the table of IFMR values: chosen ratio in hundredths, scale, offset and loss.
void check_result(const IfmrResult& result, int ratio, Affine affine, double loss) {
  CHECK(result.losses.size() == 61);
  CHECK(result.best == static_cast<std::size_t>(ratio - 70));
  CHECK(result.affine == affine);
  CHECK(result.losses[result.best] == doctest::Approx(loss).epsilon(1e-4));
}

std::size_t candidates(double start, double end, double step) {
  return amct::ifmr::ratios({.search_start = start, .search_end = end, .search_step = step}).size();
}

const std::vector<float> kStairs = sequence(-2.0, 0.25, 17);
const std::vector<float> kHundredths = sequence(0.0, 0.01, 100);
const std::vector<float> kNegative = sequence(-0.5, -0.5, 10);

std::vector<float> with_outlier() {
  auto values = sequence(0.1, 0.1, 20);
  values.push_back(50.0F);
  return values;
}

}  // namespace

TEST_CASE("the search finds the values of the table, asymmetric") {
  check_result(search(kStairs, kAsymmetric), 128, {0.0178823527F, -16}, 2.98966e-06);
  check_result(search(kHundredths, kAsymmetric), 129, {0.00500823511F, -128}, 8.9071e-07);
  check_result(search(with_outlier(), kAsymmetric), 100, {0.196078435F, -128}, 0.00327164);
  check_result(search(with_outlier(), kAsymmetric, 4), 99, {3.29999995F, -8}, 1.12714);
  check_result(search(kNegative, kAsymmetric), 70, {0.0196078438F, 127}, 4.80576e-05);
}

TEST_CASE("the search finds the values of the table, symmetric") {
  check_result(search(kStairs, kSymmetric), 122, {0.019212598F, 0}, 1.33928e-06);
  const IfmrResult negative = search(kNegative, kSymmetric);  // divided by 128
  CHECK(negative.best == 58);
  CHECK(negative.affine == Affine{0.049999997F, 0});
  CHECK(negative.losses[58] < 1e-12);
  CHECK(negative.losses[57] > 5e-5);
}

TEST_CASE("a percentile cuts off the largest values") {
  const IfmrResult result = search(kHundredths, IfmrOptions{.max_percentile = 0.95});
  CHECK(result.percentile_max == 0.95F);
  CHECK(result.percentile_min == 0.0F);
  check_result(result, 104, {0.0038745096F, -128}, 1.26075e-06);
}

TEST_CASE("percentiles never leave zero outside") {
  CHECK(search(kNegative, kAsymmetric).percentile_max == 0.0F);
  CHECK(search(kNegative, kAsymmetric).percentile_min == -5.0F);
  CHECK(search({1.0F, 2.0F}, kAsymmetric).percentile_min == 0.0F);
}

TEST_CASE("of equal losses the first wins") {
  const IfmrResult result = search(kNegative, kAsymmetric);  // the maximum is 0, so all candidates are the same
  for (const double loss : result.losses) CHECK(loss == result.losses[0]);
  CHECK(result.best == 0);
}

TEST_CASE("candidate counts are those of double arithmetic") {
  CHECK(candidates(0.7, 1.3, 0.01) == 61);  // the end is included
  CHECK(candidates(0.9, 1.1, 0.01) == 21);
  CHECK(candidates(0.6, 1.4, 0.01) == 80);  // the end is left out
  CHECK(candidates(0.5, 1.0, 0.05) == 10);
  CHECK(candidates(0.3, 1.7, 0.02) == 70);
  CHECK(candidates(0.7, 1.3, 0.6) == 2);  // 1.3 - 0.7 is a little more than 0.6
  CHECK(candidates(1.0, 2.0, 1.0) == 1);
}

TEST_CASE("candidate ratios are doubles stored as float32") {
  const auto ratios = amct::ifmr::ratios({});
  REQUIRE(ratios.size() == 61);
  CHECK(ratios[0] == 0.699999988F);
  CHECK(ratios[2] == 0.719999969F);
  CHECK(ratios[20] == 0.900000036F);
  CHECK(ratios[30] == 1.0F);
  CHECK(ratios[60] == 1.29999995F);
}

TEST_CASE("percentile ranks truncate in double arithmetic") {
  using amct::ifmr::rank;
  CHECK(rank(1.0, 100) == 1);
  CHECK(rank(0.99999999, 100000) == 1);  // 1 within 2^-23
  CHECK(rank(0.999999, 1) == 1);
  CHECK(rank(0.999999, 100000) == 1);
  CHECK(rank(0.999999, 2000000) == 2);
  CHECK(rank(0.9999, 100000) == 10);
  CHECK(rank(0.999, 4096) == 5);
  CHECK(rank(0.99, 100) == 1);
  CHECK(rank(0.99, 1000) == 10);
  CHECK(rank(0.95, 29) == 2);
  CHECK(rank(0.95, 100) == 5);
  CHECK(rank(0.9, 4096) == 410);
  CHECK(rank(0.7, 29) == 9);
  CHECK(rank(0.58, 100) == 43);  // 0.58 * 100 is below 58
  CHECK(rank(0.58, 1000) == 420);
  CHECK(rank(0.58, 100000) == 42001);
  CHECK(rank(0.55, 29) == 14);
  CHECK(rank(0.51, 10) == 5);
  CHECK(rank(0.51, 1) == 1);
}

TEST_CASE("only the maximum is searched, a symmetric range is scaled at both ends") {
  const auto asymmetric = amct::ifmr::candidates(-1.0F, 2.0F, {8}, {});
  REQUIRE(asymmetric.size() == 61);
  CHECK(asymmetric[0].low == -1.0F);
  CHECK(asymmetric[60].low == -1.0F);
  CHECK(asymmetric[30].high == 2.0F);
  CHECK(asymmetric[30].scale == 3.0F / 255.0F);
  const auto symmetric = amct::ifmr::candidates(-1.0F, 2.0F, {8}, {.symmetry = kSymmetric});
  CHECK(symmetric[30].low == -2.0F);
  CHECK(symmetric[30].scale == 2.0F / 127.0F);
  const auto negative = amct::ifmr::candidates(-2.0F, 1.0F, {8}, {.symmetry = kSymmetric});
  CHECK(negative[30].high == 2.0F);
  CHECK(negative[30].scale == 2.0F / 128.0F);
  CHECK(amct::ifmr::candidates(-2.0F, 2.0F, {8}, {.symmetry = kSymmetric})[30].scale == 2.0F / 127.0F);
}

TEST_CASE("candidate scales below 2^-23 become 1") {
  const auto small = amct::ifmr::candidates(0.0F, 127 * 0x1p-23F, {8}, {.symmetry = kSymmetric});
  CHECK(small[29].scale == 1.0F);
  CHECK(small[30].scale == 0x1p-23F);
}

TEST_CASE("16 bits of a small range collapse to scale 1") {
  CHECK(search({0.0F, 0.001F, 0.005F}, kAsymmetric, 16).affine == Affine{1.0F, -32768});
}

TEST_CASE("the offset rounds the minimum first and then moves to the smallest code") {
  CHECK(amct::ifmr::offset(-2.5F, 1.0F, {8}) == -126);  // -round(-2.5) - 128
  CHECK(amct::ifmr::offset(-3.5F, 1.0F, {8}) == -124);
  CHECK(amct::ifmr::offset(0.0F, 1.0F, {8}) == -128);
  CHECK(amct::ifmr::offset(-255.0F, 1.0F, {8}) == 127);
  CHECK(amct::ifmr::offset(-7.0F, 1.0F, {4}) == -1);
  CHECK(amct::ifmr::offset(-300.0F, 1.0F, {8}) == 172);  // not clamped
}

TEST_CASE("C01 a tensor of zeros gets scale 1 and every code is the offset") {
  for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
    for (const int bits : {8, 16}) {
      const std::vector<float> zeros(48, 0.0F);
      const IfmrResult result = search(zeros, symmetry, bits);
      CAPTURE(bits);
      CHECK(result.best == 0);
      CHECK(result.losses == std::vector<double>(61, 0.0));
      CHECK(result.affine == Affine{1.0F, symmetry == kSymmetric ? 0 : CodeRange{bits}.min()});
      std::vector<std::int16_t> codes(48, 99);
      amct::quantize(std::span<const float>(zeros), std::span<std::int16_t>(codes), result.affine, CodeRange{bits});
      CHECK(codes == std::vector<std::int16_t>(48, static_cast<std::int16_t>(result.affine.offset)));
    }
  }
}

namespace {

/// A whole calibration at compile time.
constexpr Affine calibrated(std::span<const float> data, Symmetry symmetry) {
  Ifmr observer(IfmrOptions{.symmetry = symmetry});
  if (!observer.observe(data).ok()) return {};
  return observer.compute(CodeRange{8});
}
constexpr float kConstantData[] = {-1.0F, -0.25F, 0.0F, 0.5F, 1.25F, 3.0F};
constexpr Affine kAtCompileTime = calibrated(kConstantData, Symmetry::asymmetric);
static_assert(kAtCompileTime.scale > 0.01F && kAtCompileTime.scale < 0.02F && kAtCompileTime.offset < 0);

}  // namespace

TEST_CASE("a constant array is calibrated at compile time as at run time") {
  CHECK(calibrated(kConstantData, Symmetry::asymmetric) == kAtCompileTime);
  constexpr Affine kSymmetricOne = calibrated(kConstantData, Symmetry::symmetric);
  CHECK(calibrated(kConstantData, Symmetry::symmetric) == kSymmetricOne);
}

TEST_CASE("C05 constants of one sign are represented without error") {
  CHECK(search({3.0F, 3.0F, 3.0F}, kAsymmetric).affine == Affine{3.0F / 255.0F, -128});
  CHECK(search({3.0F, 3.0F, 3.0F}, kAsymmetric).best == 30);
  CHECK(search({-3.0F, -3.0F}, kAsymmetric).affine == Affine{3.0F / 255.0F, 127});
  CHECK(search({-3.0F, -3.0F}, kSymmetric).affine == Affine{3.0F / 128.0F, 0});
}

TEST_CASE("C06 one element or one distinct value gives a range from zero to it") {
  for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
    Ifmr observer({.symmetry = symmetry, .batch_num = 2, .max_percentile = 0.9999, .min_percentile = 0.9999});
    REQUIRE(observer.observe(std::vector<float>{0.7F}).ok());
    REQUIRE(observer.observe(std::vector<float>{0.7F}).ok());
    const IfmrResult result = observer.search({8});
    CHECK(result.percentile_max == 0.7F);
    CHECK(result.percentile_min == 0.0F);
    CHECK(result.affine == (symmetry == kSymmetric ? Affine{0.7F / 127.0F, 0} : Affine{0.7F / 255.0F, -128}));
    const std::vector<float> x = {0.7F};
    std::vector<std::int8_t> codes(1);
    amct::quantize(std::span<const float>(x), std::span<std::int8_t>(codes), result.affine, {8});
    CHECK(codes[0] == 127);
  }
  CHECK(search({-0.7F}, kSymmetric).affine == Affine{0.7F / 128.0F, 0});
}

TEST_CASE("batches are collected up to batch_num and no further") {
  Ifmr observer({.batch_num = 2});
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::span(kStairs).first(9)).ok());
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::span(kStairs).subspan(9)).ok());
  CHECK(observer.ready());
  CHECK(observer.observe(std::vector<float>{1000.0F}).code == StatusCode::already_ready);
  CHECK(observer.compute({8}) == search(kStairs, kAsymmetric).affine);
}

TEST_CASE("the split into batches and the order of values do not matter") {
  const Affine whole = search(kStairs, kAsymmetric).affine;
  Ifmr observer({.batch_num = 3});
  REQUIRE(observer.observe(std::span(kStairs).subspan(10)).ok());
  REQUIRE(observer.observe(std::span(kStairs).first(1)).ok());
  REQUIRE(observer.observe(std::span(kStairs).subspan(1, 9)).ok());
  CHECK(observer.compute({8}) == whole);
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Ifmr observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  const amct::Status status = observer.observe(std::vector<float>{500.0F, kNan});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 1);
  CHECK(observer.observe(std::vector<float>{kInf, 1.0F}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(kStairs).ok());
  CHECK(observer.compute({8}) == search(kStairs, kAsymmetric).affine);
}

TEST_CASE("reset forgets all batches") {
  Ifmr observer;
  REQUIRE(observer.observe(std::vector<float>{1000.0F}).ok());
  observer.reset();
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(kStairs).ok());
  CHECK(observer.compute({8}) == search(kStairs, kAsymmetric).affine);
}

TEST_CASE("one run of statistics serves several code ranges and computing changes nothing") {
  Ifmr observer;
  REQUIRE(observer.observe(with_outlier()).ok());
  const Affine eight = observer.compute({8});
  CHECK(observer.compute({4}) == Affine{3.29999995F, -8});
  CHECK(observer.compute({8}) == eight);
}

TEST_CASE("a range beyond float32 gives a scale that is not usable") {
  constexpr float kMax = std::numeric_limits<float>::max();
  const Affine affine = search({-kMax, kMax}, kAsymmetric).affine;
  CHECK_FALSE(amct::is_usable(affine));
  CHECK(amct::is_usable(search({-1e30F, 1e30F}, kAsymmetric).affine));
}
