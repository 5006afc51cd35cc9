// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/moving_average_min_max.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::MovingAverageMinMax;
using amct::MovingAverageMinMaxOptions;
using amct::StatusCode;
using amct::Symmetry;
using Values = std::vector<float>;

MovingAverageMinMax fed(const std::vector<Values>& batches, MovingAverageMinMaxOptions options = {}) {
  MovingAverageMinMax observer(options);
  for (const Values& batch : batches) REQUIRE(observer.observe(batch).ok());
  return observer;
}

std::vector<Values> random_batches(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Values> batches(count, Values(50));
  for (Values& batch : batches) {
    for (float& value : batch) value = normal(random);
  }
  return batches;
}

}  // namespace

TEST_CASE("the first batch sets the extremes, each later one moves them by the constant") {
  MovingAverageMinMax observer = fed({{-1.0F, 0.5F, 3.0F}});
  CHECK(observer.state().average.min == -1.0F);
  CHECK(observer.state().average.max == 3.0F);
  REQUIRE(observer.observe(Values{-2.0F, 8.0F}).ok());
  CHECK(observer.state().average.min == -1.0F + 0.01F * -1.0F);
  CHECK(observer.state().average.max == 3.0F + 0.01F * 5.0F);
  CHECK(observer.compute({8}) ==
        amct::affine_from_range(-1.0F + 0.01F * -1.0F, 3.0F + 0.01F * 5.0F, {8}, Symmetry::asymmetric));
}

TEST_CASE("a constant of 1 keeps the last batch only") {
  const auto observer = fed({{-9.0F, 9.0F}, {-1.0F, 2.0F}}, {.averaging_constant = 1.0F});
  CHECK(observer.state().average.min == -1.0F);
  CHECK(observer.state().average.max == 2.0F);
}

TEST_CASE("an average over many equal batches stays where it is, and approaches new ones") {
  MovingAverageMinMax observer = fed(std::vector<Values>(100, Values{-0.3F, 0.7F}));
  CHECK(observer.state().average.max == 0.7F);
  for (int i = 0; i < 1000; ++i) REQUIRE(observer.observe(Values{-0.6F, 1.4F}).ok());
  CHECK(observer.state().average.max == doctest::Approx(1.4).epsilon(1e-4));
  CHECK(observer.state().average.min == doctest::Approx(-0.6).epsilon(1e-4));
}

TEST_CASE("symmetric scales follow the larger end") {
  CHECK(fed({{-1.0F, 3.0F}}, {.symmetry = Symmetry::symmetric}).compute({8}) == Affine{3.0F / 127.0F, 0});
  CHECK(fed({{-4.0F, 3.0F}}, {.symmetry = Symmetry::symmetric}).compute({8}) == Affine{4.0F / 128.0F, 0});
}

TEST_CASE("merging is the same as observing the other's batches behind the own ones") {
  for (const float constant : {0.01F, 0.3F, 1.0F}) {
    for (const std::size_t second : {1U, 2U, 30U}) {
      const auto batches = random_batches(7 + second, 5);
      const MovingAverageMinMaxOptions options{.averaging_constant = constant};
      auto merged = fed({batches.begin(), batches.begin() + 7}, options);
      REQUIRE(merged.merge(fed({batches.begin() + 7, batches.end()}, options)).ok());
      const auto whole = fed(batches, options);
      CAPTURE(constant);
      CHECK(merged.state().average.min == doctest::Approx(whole.state().average.min).epsilon(1e-6));
      CHECK(merged.state().average.max == doctest::Approx(whole.state().average.max).epsilon(1e-6));
      CHECK(merged.state().batches == batches.size());
    }
  }
}

TEST_CASE("merging three observers in either grouping gives the same") {
  const auto a = fed(random_batches(3, 1));
  const auto b = fed(random_batches(4, 2));
  const auto c = fed(random_batches(5, 3));
  auto left = a;
  REQUIRE(left.merge(b).ok());
  REQUIRE(left.merge(c).ok());
  auto tail = b;
  REQUIRE(tail.merge(c).ok());
  auto right = a;
  REQUIRE(right.merge(tail).ok());
  CHECK(left.state().average.max == doctest::Approx(right.state().average.max).epsilon(1e-6));
  CHECK(left.state().average.min == doctest::Approx(right.state().average.min).epsilon(1e-6));
}

TEST_CASE("merging with nothing changes nothing, and nothing becomes the other") {
  const auto seen = fed({{-1.0F, 2.0F}, {-3.0F, 1.0F}});
  MovingAverageMinMax fresh;
  REQUIRE(fresh.merge(seen).ok());
  CHECK(fresh.compute({8}) == seen.compute({8}));
  REQUIRE(fresh.merge(MovingAverageMinMax()).ok());
  CHECK(fresh.compute({8}) == seen.compute({8}));
  CHECK(fresh.state().batches == 2);
}

TEST_CASE("C01 zeros, constants, one element and data of one sign") {
  CHECK(fed({Values(9, 0.0F)}).compute({8}) == Affine{1.0F, -128});
  CHECK(fed({Values(9, 0.0F)}, {.symmetry = Symmetry::symmetric}).compute({8}) == Affine{1.0F, 0});
  CHECK(fed({Values(9, 3.0F)}).compute({8}) == Affine{3.0F / 255.0F, -128});
  CHECK(fed({{-3.0F}}).compute({8}) == Affine{3.0F / 255.0F, 127});
  CHECK(fed({{1.0F, 2.0F}}).compute({8}) == Affine{2.0F / 255.0F, -128});
}

TEST_CASE("a huge outlier counts in full in the first batch only") {
  CHECK(fed({{0.0F, 1.0F}, {0.0F, 1001.0F}}).state().average.max == doctest::Approx(11.0));
  CHECK(fed({{0.0F, 1001.0F}, {0.0F, 1.0F}}).state().average.max == doctest::Approx(991.0));
}

TEST_CASE("differences beyond float32 do not spoil the average") {
  const auto observer = fed({{-3e38F, 0.0F}, {3e38F, 3e38F}}, {.averaging_constant = 0.5F});
  CHECK(std::fabs(observer.state().average.min) < 1e32F);
  CHECK(observer.state().average.max == doctest::Approx(1.5e38));
  CHECK(amct::is_usable(observer.compute({8})));
}

TEST_CASE("NaN, infinities and empty batches are refused and change nothing") {
  MovingAverageMinMax observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  CHECK(observer.observe(Values{1.0F, std::numeric_limits<float>::quiet_NaN()}).index == 1);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(Values{1.0F, 2.0F}).ok());
  CHECK(observer.observe(Values{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK(observer.state().average.max == 2.0F);
  CHECK(observer.state().batches == 1);
}

TEST_CASE("a constant out of its range is refused by name") {
  for (const float constant : {0.0F, -0.1F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    MovingAverageMinMax observer({.averaging_constant = constant});
    const amct::Status status = observer.observe(Values{1.0F});
    CHECK(status.code == StatusCode::bad_option);
    CHECK(std::string(status.name) == "averaging_constant");
  }
}

TEST_CASE("a state restores an observer, reset forgets") {
  auto observer = fed({{-1.0F, 2.0F}, {-3.0F, 1.0F}});
  MovingAverageMinMax restored;
  restored.restore(observer.state());
  REQUIRE(observer.observe(Values{7.0F}).ok());
  REQUIRE(restored.observe(Values{7.0F}).ok());
  CHECK(restored.compute({8}) == observer.compute({8}));
  restored.reset();
  CHECK_FALSE(restored.ready());
}
