// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/kv_cache.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::KvCache;
using amct::KvCacheOptions;
using amct::KvGranularity;
using amct::MinMax;
using amct::StatusCode;

constexpr auto kPerChannel = KvGranularity::per_channel;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

using Affines = std::vector<Affine>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("per tensor all values share a scale") {
  KvCache<MinMax> cache;
  CHECK_FALSE(cache.ready());
  REQUIRE(cache.calibrate(Floats{0.0F, 1.0F, 0.5F, 4.0F}).ok());
  CHECK(cache.ready());
  CHECK(cache.params().channels == Affines{{4.0F / 255.0F, -128}});
  CHECK(cache.params().range == amct::CodeRange{8});
  CHECK(cache.extras().centroids.empty());
}

TEST_CASE("per channel the last axis has a scale for each element") {
  KvCache<MinMax> cache({.granularity = kPerChannel, .channels = 2});
  REQUIRE(cache.calibrate(Floats{0.0F, 1.0F, 0.5F, 4.0F}).ok());
  CHECK(cache.params().channels == Affines{{0.5F / 255.0F, -128}, {4.0F / 255.0F, -128}});
}

TEST_CASE("the observer's batch number is counted and the values are joined") {
  KvCache<> cache({.observer = {.batch_num = 2}});
  REQUIRE(cache.calibrate(Floats{1.0F, -2.0F, 0.5F}).ok());
  CHECK_FALSE(cache.ready());
  CHECK(cache.params().channels.empty());
  REQUIRE(cache.calibrate(Floats{4.0F}).ok());
  REQUIRE(cache.ready());
  amct::Ifmr whole;
  REQUIRE(whole.observe(Floats{1.0F, -2.0F, 0.5F, 4.0F}).ok());
  CHECK(cache.params().channels[0] == whole.compute({8}));
  CHECK(cache.calibrate(Floats{1.0F}).code == StatusCode::already_ready);
}

TEST_CASE("values pass unchanged until the scales are made and are fake-quantized then") {
  KvCache<MinMax> cache({.granularity = kPerChannel, .channels = 2, .observer = {amct::Symmetry::symmetric}});
  const Floats x{0.3F, -1.0F, 1.27F, 12.7F};
  Floats y(4);
  REQUIRE(cache.forward(x, y).ok());
  CHECK(y == x);
  REQUIRE(cache.calibrate(x).ok());
  REQUIRE(cache.forward(x, y).ok());
  CHECK(y[0] == doctest::Approx(0.3));
  CHECK(y[1] == doctest::Approx(-1.0));
  CHECK(y[2] == doctest::Approx(1.27));
  CHECK(y[3] == doctest::Approx(12.7));
  Floats in_place{0.304F, 100.0F, kNan, -0.04F};
  REQUIRE(cache.forward(in_place, in_place).ok());
  CHECK(in_place[0] == doctest::Approx(0.3));
  CHECK(in_place[1] == doctest::Approx(12.7));
  CHECK(std::isnan(in_place[2]));
  CHECK(in_place[3] == 0.0F);
}

TEST_CASE("per tensor forward takes tensors of any size") {
  KvCache<MinMax> cache;
  REQUIRE(cache.calibrate(Floats{0.0F, 2.55F}).ok());
  Floats y(3);
  REQUIRE(cache.forward(Floats{0.014F, 1.0F, 9.0F}, y).ok());
  CHECK(y[0] == doctest::Approx(0.01));
  CHECK(y[2] == doctest::Approx(2.55));
  Floats nothing;
  CHECK(cache.forward(nothing, nothing).ok());
}

TEST_CASE("what is not whole rows of finite values is refused and changes nothing") {
  KvCache<MinMax> cache({.granularity = kPerChannel, .channels = 2});
  CHECK(cache.calibrate(Floats{}).code == StatusCode::empty);
  const amct::Status rows = cache.calibrate(Floats{1.0F, 2.0F, 3.0F});
  CHECK(rows.code == StatusCode::size_mismatch);
  CHECK(rows.index == 3);
  const amct::Status bad = cache.calibrate(Floats{1.0F, 2.0F, kNan, 4.0F});
  CHECK(bad.code == StatusCode::not_finite);
  CHECK(bad.index == 2);
  CHECK_FALSE(cache.ready());
  REQUIRE(cache.calibrate(Floats{1.0F, 2.0F}).ok());
  Floats y(3, 7.0F);
  CHECK(cache.forward(Floats{1.0F, 2.0F, 3.0F}, y).code == StatusCode::size_mismatch);
  CHECK(cache.forward(Floats{1.0F, 2.0F}, y).code == StatusCode::size_mismatch);
  CHECK(y == Floats{7.0F, 7.0F, 7.0F});
}

TEST_CASE("options out of range are refused by name") {
  KvCache<MinMax> cache({.granularity = kPerChannel});
  const amct::Status status = cache.calibrate(Floats{1.0F});
  CHECK(status.code == StatusCode::bad_option);
  CHECK(status.name == std::string_view("channels"));
  KvCache<> inner({.observer = {.search_step = 0.0}});
  CHECK(inner.calibrate(Floats{1.0F}).name == std::string_view("search_step"));
}

TEST_CASE("C01 C05 C06 zeros, constants and single elements keep a scale of their own") {
  KvCache<> cache({.granularity = kPerChannel, .channels = 3});
  REQUIRE(cache.calibrate(Floats{0.0F, 3.0F, -3.0F}).ok());
  CHECK(cache.params().channels == Affines{{1.0F, -128}, {3.0F / 255.0F, -128}, {3.0F / 255.0F, 127}});
  Floats y(3);
  REQUIRE(cache.forward(Floats{0.0F, 3.0F, -3.0F}, y).ok());
  CHECK(y == Floats{0.0F, 3.0F, -3.0F});
}

TEST_CASE("a channel whose range exceeds float32 is named and no scales are made") {
  KvCache<MinMax> cache({.granularity = kPerChannel, .channels = 2});
  const amct::Status status = cache.calibrate(Floats{1.0F, kMax, 0.0F, -kMax});
  CHECK(status.code == StatusCode::unusable_scale);
  CHECK(status.index == 1);
  CHECK_FALSE(cache.ready());
  cache.reset();
  REQUIRE(cache.calibrate(Floats{1.0F, 2.0F}).ok());
  CHECK(cache.ready());
}

TEST_CASE("one huge outlier takes the range with IFMR, as AMCT's default percentile keeps it") {
  Floats x(63, 0.5F);
  x.push_back(1000.0F);
  KvCache<> cache;
  REQUIRE(cache.calibrate(x).ok());
  CHECK(cache.params().channels[0].scale > 2.0F);
}
