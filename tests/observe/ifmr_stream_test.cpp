// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/ifmr_stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <amct/observe/ifmr.hpp>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::Ifmr;
using amct::IfmrResult;
using amct::IfmrStream;
using amct::IfmrStreamOptions;
using amct::StatusCode;
using amct::Symmetry;
using Values = std::vector<float>;

constexpr auto kAsymmetric = Symmetry::asymmetric;
constexpr auto kSymmetric = Symmetry::symmetric;

enum class Kind { normal, relu, laplace, lognormal };

Values sample(Kind kind, std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::exponential_distribution<float> exponential;
  Values x(count);
  for (float& value : x) {
    switch (kind) {
      case Kind::normal: value = normal(random); break;
      case Kind::relu: value = std::max(normal(random), 0.0F); break;
      case Kind::laplace: value = exponential(random) * (random() % 2 == 0 ? 1.0F : -1.0F); break;
      case Kind::lognormal: value = std::exp(normal(random)); break;
    }
  }
  return x;
}

IfmrResult exact(const Values& x, const IfmrStreamOptions& options, int bits) {
  Ifmr observer(options.search());
  REQUIRE(observer.observe(x).ok());
  return observer.search(CodeRange{bits});
}

IfmrResult streamed(const Values& x, const IfmrStreamOptions& options, int bits) {
  IfmrStream observer(options);
  REQUIRE(observer.observe(x).ok());
  const IfmrResult result = observer.search(CodeRange{bits});
  CHECK(observer.compute(CodeRange{bits}) == result.affine);
  return result;
}

std::size_t steps_apart(const IfmrResult& a, const IfmrResult& b) {
  return a.best > b.best ? a.best - b.best : b.best - a.best;
}

Values joined(std::initializer_list<Values> parts) {
  Values all;
  for (const Values& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Affine fed(std::initializer_list<Values> batches, IfmrStreamOptions options = {}) {
  IfmrStream observer(options);
  for (const Values& batch : batches) REQUIRE(observer.observe(batch).ok());
  return observer.compute({8});
}

}  // namespace

TEST_CASE("up to max_bins different values the search is that of Ifmr") {
  for (const Kind kind : {Kind::normal, Kind::relu, Kind::laplace, Kind::lognormal}) {
    const Values x = sample(kind, 5000);
    for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
      for (const int bits : {4, 8, 16}) {
        const IfmrStreamOptions options{.symmetry = symmetry, .max_percentile = 0.999, .min_percentile = 0.99};
        const IfmrResult want = exact(x, options, bits);
        const IfmrResult got = streamed(x, options, bits);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(bits);
        CHECK(got.best == want.best);
        CHECK(got.affine == want.affine);
        CHECK(got.percentile_max == want.percentile_max);
        CHECK(got.percentile_min == want.percentile_min);
        REQUIRE(got.losses.size() == want.losses.size());
        CHECK(got.losses[7] == doctest::Approx(want.losses[7]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("beyond max_bins different values the winner is the one of Ifmr or its neighbour") {
  for (const Kind kind : {Kind::normal, Kind::relu, Kind::laplace, Kind::lognormal}) {
    const Values x = sample(kind, 300000);
    for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
      for (const int bits : {4, 8}) {
        IfmrStream observer({.symmetry = symmetry});
        REQUIRE(observer.observe(x).ok());
        CHECK(observer.state().dropped_bits > 0);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(bits);
        CHECK(steps_apart(observer.search(CodeRange{bits}), exact(x, {.symmetry = symmetry}, bits)) <= 1);
      }
    }
  }
}

TEST_CASE("C08 order, split and merging do not change the result") {
  Values a;
  Values b;
  Values c;
  for (int i = 0; i < 2048; ++i) {
    a.push_back(-1.0F + 2.0F * static_cast<float>(i) / 2047.0F);
    b.push_back(a.back() * 0.1F);
    c.push_back(a.back() * 37.3F);
  }
  const IfmrStreamOptions options{.max_bins = 1024};
  const Affine want = fed({joined({a, b, c})}, options);
  CHECK(fed({a, b, c}, options) == want);
  CHECK(fed({c, b, a}, options) == want);
  CHECK(fed({b, c, a}, options) == want);
  IfmrStream first(options);
  IfmrStream second(options);
  REQUIRE(first.observe(c).ok());
  REQUIRE(second.observe(joined({b, a})).ok());
  REQUIRE(first.merge(second).ok());
  CHECK(first.compute({8}) == want);
}

TEST_CASE("memory does not grow with the data") {
  IfmrStream observer({.max_bins = 4096});
  for (std::uint32_t seed = 0; seed < 20; ++seed) REQUIRE(observer.observe(sample(Kind::laplace, 20000, seed)).ok());
  CHECK(observer.state().keys.size() <= 4096);
  std::uint64_t total = 0;
  for (const std::uint64_t count : observer.state().counts) total += count;
  CHECK(total == 400000);
}

TEST_CASE("C01 zeros, C05 and C06 constants and single values as with Ifmr") {
  for (const Symmetry symmetry : {kAsymmetric, kSymmetric}) {
    for (const Values& x : {Values(48, 0.0F), Values(3, 3.0F), Values(2, -3.0F), Values(1, 0.7F), Values(1, -0.7F)}) {
      for (const int bits : {8, 16}) {
        const IfmrResult want = exact(x, {.symmetry = symmetry}, bits);
        const IfmrResult got = streamed(x, {.symmetry = symmetry}, bits);
        CHECK(got.best == want.best);
        CHECK(got.affine == want.affine);
      }
    }
  }
  CHECK(fed({Values{0.7F}, Values{0.7F}}) == Affine{0.7F / 255.0F, -128});
}

TEST_CASE("C07 a first batch of zeros costs no resolution, in whatever order") {
  for (const float unit : {1.0F, 1e-6F, 1e6F}) {
    const Values zeros(1000, 0.0F);
    Values values;
    for (int k = 1; k <= 1000; ++k) values.push_back(0.01F * static_cast<float>(k) * unit);
    const Affine want = fed({joined({zeros, values})});
    CHECK(fed({zeros, values}) == want);
    CHECK(fed({values, zeros}) == want);
  }
}

TEST_CASE("a huge outlier is kept by the default percentile and cut by a lower one") {
  Values x = sample(Kind::normal, 20000);
  x.push_back(1000.0F);
  CHECK(streamed(x, {}, 8).percentile_max == 1000.0F);
  CHECK(streamed(x, {.max_percentile = 0.999}, 8).percentile_max < 4.0F);
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  IfmrStream observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  const amct::Status status = observer.observe(Values{500.0F, std::numeric_limits<float>::quiet_NaN()});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 1);
  CHECK(observer.observe(Values{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(Values{0.7F}).ok());
  CHECK(observer.ready());
  CHECK(observer.compute({8}) == Affine{0.7F / 255.0F, -128});
}

TEST_CASE("a range beyond float32 gives a scale that is not usable") {
  IfmrStream observer;
  REQUIRE(observer.observe(Values{-3e38F, 3e38F}).ok());
  CHECK_FALSE(amct::is_usable(observer.compute({8})));
}

TEST_CASE("options out of their range are refused by name") {
  const auto name_of = [](IfmrStreamOptions options) {
    IfmrStream observer(options);
    const amct::Status status = observer.observe(Values{1.0F});
    CHECK(status.code == StatusCode::bad_option);
    CHECK(observer.merge(IfmrStream()).code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(name_of({.max_percentile = 0.4}) == "max_percentile");
  CHECK(name_of({.min_percentile = 1.1}) == "min_percentile");
  CHECK(name_of({.search_start = 0.0}) == "search_start");
  CHECK(name_of({.search_end = 0.5}) == "search_end");
  CHECK(name_of({.search_step = -1.0}) == "search_step");
  CHECK(name_of({.max_bins = 100}) == "max_bins");
}

TEST_CASE("a state restores an observer, reset forgets") {
  IfmrStream observer;
  REQUIRE(observer.observe(sample(Kind::relu, 1000)).ok());
  IfmrStream restored;
  restored.restore(observer.state());
  REQUIRE(observer.observe(sample(Kind::normal, 1000)).ok());
  REQUIRE(restored.observe(sample(Kind::normal, 1000)).ok());
  CHECK(restored.compute({8}) == observer.compute({8}));
  restored.reset();
  CHECK_FALSE(restored.ready());
}
