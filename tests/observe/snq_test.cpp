// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/snq.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>

using amct::Affine;
using amct::ClusterInit;
using amct::Codebook;
using amct::SnqObserver;
using amct::SnqObserverOptions;
using amct::StatusCode;

namespace {

std::vector<float> noise(std::size_t count) {
  amct::Random random(4);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(random.uniform() + random.uniform() - 1.0));
  }
  return values;
}

Codebook codebook(const std::vector<float>& values, SnqObserverOptions options = {}, int bits = 4) {
  SnqObserver observer(options);
  REQUIRE(observer.observe(values).ok());
  const Codebook book = observer.codebook({bits});
  CHECK(observer.compute({bits}) == Affine{book.scale, 0});
  return book;
}

}  // namespace

TEST_CASE("levels are INT8 multiples of the scale, close to the centroids") {
  const auto values = noise(2000);
  for (const auto init : {ClusterInit::uniform, ClusterInit::gaussian, ClusterInit::d2sampling}) {
    const Codebook book = codebook(values, {.init_algo = init, .seed = 9});
    const auto centroids = amct::lloyd(values, {.init = init, .seed = 9}).centroids;
    REQUIRE(book.params.size() == 16);
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(book.levels[i] == static_cast<float>(book.params[i]) * book.scale);
      CHECK(std::fabs(static_cast<double>(book.levels[i]) - centroids[i]) <= 0.501 * static_cast<double>(book.scale));
      CHECK((i == 0 || book.params[i - 1] <= book.params[i]));
    }
    CHECK((book.params.front() == -128 || book.params.back() == 127));
  }
}

TEST_CASE("the bits tell the number of levels, at most 256") {
  const auto values = noise(500);
  CHECK(codebook(values, {}, 2).params.size() == 4);
  CHECK(codebook(values, {}, 8).params.size() == 256);
  CHECK(codebook(values, {}, 16).params.size() == 256);
}

TEST_CASE("zeros give scale 1 and levels 0, so do tiny values") {
  for (const float value : {0.0F, 1e-9F}) {
    const Codebook book = codebook({value, -value, value});
    CHECK(book.scale == 1.0F);
    CHECK(book.params == std::vector<std::int32_t>(16, 0));
  }
}

TEST_CASE("one element and constants are their own level") {
  const Codebook positive = codebook({0.7F});
  CHECK(positive.scale == 0.7F / 127.0F);
  CHECK(positive.params == std::vector<std::int32_t>(16, 127));
  const Codebook negative = codebook({-3.0F, -3.0F});
  CHECK(negative.scale == 3.0F / 127.0F);
  CHECK(negative.levels == std::vector<float>(16, -3.0F));
}

TEST_CASE("values of one sign use levels of one sign") {
  std::vector<float> values = noise(300);
  for (float& value : values) value = std::fabs(value) + 1.0F;
  const Codebook book = codebook(values);
  CHECK(book.params.front() > 50);
  CHECK(book.params.back() == 127);
}

TEST_CASE("a huge outlier is a level and makes the others coarse") {
  auto values = noise(300);
  values.push_back(1000.0F);
  const Codebook book = codebook(values, {.init_algo = ClusterInit::d2sampling});
  CHECK(book.levels.back() == doctest::Approx(1000.0));
  for (std::size_t i = 0; i + 1 < 16; ++i) CHECK(book.params[i] == 0);
}

TEST_CASE("bad data are refused and change nothing") {
  SnqObserver observer;
  CHECK(observer.observe({}).code == StatusCode::empty);
  const amct::Status status = observer.observe(std::vector<float>{1.0F, 2.0F, std::numeric_limits<float>::infinity()});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 2);
  CHECK(observer.observe(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
}

TEST_CASE("options out of their range are refused by name") {
  const auto refused = [](SnqObserverOptions options) {
    const amct::Status status = SnqObserver(options).observe(std::vector<float>{1.0F});
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  CHECK(refused({.max_iteration = 499}) == "max_iteration");
  CHECK(refused({.max_iteration = 2001}) == "max_iteration");
  CHECK(refused({.cali_min_distance = 0.9e-10}) == "cali_min_distance");
  CHECK(refused({.cali_min_distance = 1.1e-3}) == "cali_min_distance");
  CHECK(refused({.cali_min_distance = std::nan("")}) == "cali_min_distance");
  CHECK(SnqObserverOptions{.max_iteration = 500, .cali_min_distance = 1e-3}.check().ok());
  CHECK(SnqObserverOptions{.max_iteration = 2000, .cali_min_distance = 1e-10}.check().ok());
}

TEST_CASE("batches, merging and a restored state give what all data at once give") {
  const auto values = noise(600);
  const Codebook whole = codebook(values);
  SnqObserver first;
  SnqObserver second;
  REQUIRE(first.observe(std::span(values).subspan(400)).ok());
  REQUIRE(second.observe(std::span(values).first(400)).ok());
  REQUIRE(first.merge(second).ok());
  CHECK(first.codebook({4}).params == whole.params);
  CHECK(first.compute({4}) == Affine{whole.scale, 0});
  SnqObserver restored;
  restored.restore(first.state());
  CHECK(restored.codebook({4}).levels == whole.levels);
  first.reset();
  CHECK_FALSE(first.ready());
}
