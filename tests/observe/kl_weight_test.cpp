// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/kl_weight.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>

using amct::Affine;
using amct::KlWeight;
using amct::KlWeightOptions;
using amct::KlWeightResult;
using amct::StatusCode;

namespace {

/// Values of a bell, most of them small.
std::vector<float> bell(std::size_t count, float factor = 1.0F) {
  amct::Random random(2);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = -3.0;
    for (int k = 0; k < 6; ++k) sum += random.uniform();
    values.push_back(static_cast<float>(sum) * factor);
  }
  return values;
}

KlWeightResult search(const std::vector<float>& values, int bits = 8, KlWeightOptions options = {}) {
  KlWeight observer(options);
  REQUIRE(observer.observe(values).ok());
  const KlWeightResult result = observer.search({bits});
  CHECK(observer.compute({bits}) == result.affine);
  return result;
}

}  // namespace

TEST_CASE("cutting adds the counts outside to the bins at the ends") {
  const std::vector<std::uint64_t> counts{1, 2, 3, 4, 5, 6};
  CHECK(amct::kl_weight::saturate(counts, 0) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(amct::kl_weight::saturate(counts, 2) == std::vector<double>{6, 15});
}

TEST_CASE("merging spreads each level over its bins that are not empty") {
  const std::vector<double> window{4, 0, 2, 6, 0};
  CHECK(amct::kl_weight::merge(window, 2) == std::vector<double>{3, 0, 3, 6, 0});  // bins 0..2 and 3..4
  CHECK(amct::kl_weight::merge(window, 5) == window);
  CHECK(amct::kl_weight::merge(window, 100) == window);
}

TEST_CASE("smoothing leaves no zero and a sum of 1") {
  std::vector<double> counts{0, 3, 1, 0};
  amct::kl_weight::smooth(counts);
  const double sum = 4.0 + 4e-4;
  CHECK(counts[0] == doctest::Approx(1e-4 / sum).epsilon(1e-12));
  CHECK(counts[1] == doctest::Approx(3.0001 / sum).epsilon(1e-12));
  CHECK(counts[2] == doctest::Approx(1.0001 / sum).epsilon(1e-12));
}

TEST_CASE("the first of the least divergences is chosen") {
  const auto values = bell(2000);
  const KlWeightResult result = search(values);
  REQUIRE(result.divergences.size() == 20);
  const auto least = std::min_element(result.divergences.begin(), result.divergences.end());
  CHECK(result.best == static_cast<std::size_t>(least - result.divergences.begin()));
  CHECK(*least > 0.0);
  float largest = 0.0F;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const float cut = 1.0F - static_cast<float>(result.best) / 256.0F;
  CHECK(result.affine.scale == doctest::Approx(static_cast<double>(largest * cut / 128.0F)).epsilon(1e-6));
  CHECK(result.affine.offset == 0);
}

TEST_CASE("the scale never exceeds the largest value and grows with the data") {
  const Affine one = search(bell(1000)).affine;
  const Affine two = search(bell(1000, 2.0F)).affine;
  const Affine negative = search(bell(1000, -1.0F)).affine;
  CHECK(two.scale == 2.0F * one.scale);
  CHECK(one.scale * 128.0F <= 3.0F);
  CHECK(negative.scale == doctest::Approx(static_cast<double>(one.scale)).epsilon(0.08));
}

TEST_CASE("fewer bits tell fewer bins apart, 9 and more tell all") {
  const auto values = bell(3000);
  CHECK(search(values, 4).divergences[0] > search(values, 8).divergences[0]);
  const KlWeightResult wide = search(values, 16);
  CHECK(wide.best == 0);
  CHECK(wide.divergences == std::vector<double>(20, 0.0));
}

TEST_CASE("zeros and tiny values give scale 1") {
  const KlWeightResult zeros = search(std::vector<float>(10, 0.0F));
  CHECK(zeros.affine == Affine{1.0F, 0});
  CHECK(zeros.divergences.empty());
  CHECK(search(bell(100, 1e-7F)).affine == Affine{1.0F, 0});
  CHECK(search({std::numeric_limits<float>::denorm_min()}).affine == Affine{1.0F, 0});
}

TEST_CASE("one element, constants and one sign are not cut where nothing is gained") {
  CHECK(search({0.7F}).affine == Affine{0.7F / 128.0F, 0});
  CHECK(search({-0.7F}).affine == Affine{0.7F / 128.0F, 0});
  CHECK(search(std::vector<float>(9, 3.0F)).affine == Affine{3.0F / 128.0F, 0});
  CHECK(search(std::vector<float>(9, 3.0F)).best == 0);
}

TEST_CASE("a huge outlier keeps at least 237 of 256 parts of the range") {
  auto values = bell(1000);
  values.push_back(1e6F);
  const Affine affine = search(values).affine;
  CHECK(affine.scale >= 1e6F / 128.0F * 237.0F / 256.0F);
  CHECK(affine.scale <= 1e6F / 128.0F);
}

TEST_CASE("the largest floats keep a usable scale") {
  constexpr float kMax = std::numeric_limits<float>::max();
  const Affine affine = search({kMax, -kMax, 0.0F}).affine;
  CHECK(amct::is_usable(affine));
  CHECK(affine.scale <= kMax / 128.0F);
}

TEST_CASE("bad data are refused and change nothing") {
  KlWeight observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  const amct::Status status = observer.observe(std::vector<float>{1.0F, std::numeric_limits<float>::quiet_NaN(), 5.0F});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 1);
  CHECK(observer.observe(std::vector<float>{-std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
}

TEST_CASE("options out of their range are refused by name") {
  const auto refused = [](KlWeightOptions options) {
    const amct::Status status = KlWeight(options).observe(std::vector<float>{1.0F});
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(refused({.bins = 1, .searches = 1}) == "bins");
  CHECK(refused({.bins = 65537}) == "bins");
  CHECK(refused({.searches = 0}) == "searches");
  CHECK(refused({.bins = 16, .searches = 9}) == "searches");
  CHECK(KlWeightOptions{.bins = 16, .searches = 8}.check().ok());
  CHECK(search(bell(100), 8, {.bins = 16, .searches = 8}).divergences.size() == 8);
}

TEST_CASE("batches, merging and a restored state give what all data at once give") {
  const auto values = bell(600);
  const Affine whole = search(values).affine;
  KlWeight first;
  KlWeight second;
  REQUIRE(first.observe(std::span(values).first(200)).ok());
  REQUIRE(second.observe(std::span(values).subspan(200, 300)).ok());
  REQUIRE(second.observe(std::span(values).subspan(500)).ok());
  REQUIRE(first.merge(second).ok());
  CHECK(first.compute({8}) == whole);
  KlWeight restored;
  restored.restore(first.state());
  CHECK(restored.compute({8}) == whole);
  first.reset();
  CHECK_FALSE(first.ready());
  REQUIRE(first.observe(std::vector<float>{0.7F}).ok());
  CHECK(first.compute({8}) == Affine{0.7F / 128.0F, 0});
}
