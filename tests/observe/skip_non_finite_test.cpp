// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/skip_non_finite.hpp>

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

namespace {

using amct::StatusCode;
using Skipping = amct::SkipNonFinite<amct::MinMax>;

static_assert(amct::Observer<Skipping> && amct::Observer<amct::SkipNonFinite<amct::Ifmr>>);

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

amct::Affine plain(const std::vector<float>& batch) {
  amct::MinMax observer;
  REQUIRE(observer.observe(batch).ok());
  return observer.compute({8});
}

}  // namespace

TEST_CASE("what is not finite is left out and counted") {
  Skipping observer;
  REQUIRE(observer.observe(std::vector<float>{-1.0F, kNan, 2.0F, kInfinity, -kInfinity}).ok());
  CHECK(observer.ready());
  CHECK(observer.skipped() == 3);
  CHECK(observer.compute({8}) == plain({-1.0F, 2.0F}));
}

TEST_CASE("finite data are seen as they are") {
  Skipping observer;
  REQUIRE(observer.observe(std::vector<float>{-1.0F, 2.0F}).ok());
  CHECK(observer.skipped() == 0);
  CHECK(observer.compute({8}) == plain({-1.0F, 2.0F}));
}

TEST_CASE("a batch with nothing finite is refused and not counted") {
  Skipping observer;
  CHECK(observer.observe(std::vector<float>{kNan, kNan}).code == StatusCode::empty);
  CHECK(observer.observe({}).code == StatusCode::empty);
  CHECK(observer.skipped() == 0);
  CHECK_FALSE(observer.ready());
}

TEST_CASE("counts merge, are saved and restored, and forgotten") {
  Skipping first;
  Skipping second;
  REQUIRE(first.observe(std::vector<float>{1.0F, kNan}).ok());
  REQUIRE(second.observe(std::vector<float>{-4.0F, kNan, kNan}).ok());
  REQUIRE(first.merge(second).ok());
  CHECK(first.skipped() == 3);
  CHECK(first.compute({8}) == plain({1.0F, -4.0F}));
  Skipping third;
  third.restore(first.state());
  CHECK(third.skipped() == 3);
  CHECK(third.compute({8}) == first.compute({8}));
  third.reset();
  CHECK(third.skipped() == 0);
  CHECK_FALSE(third.ready());
}

TEST_CASE("what the inner observer refuses is not counted") {
  amct::SkipNonFinite<amct::Ifmr> observer;
  REQUIRE(observer.observe(std::vector<float>{1.0F}).ok());
  CHECK(observer.observe(std::vector<float>{kNan, 1.0F}).code == StatusCode::already_ready);
  CHECK(observer.skipped() == 0);
}
