// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/ifmr_auto.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::Ifmr;
using amct::IfmrAuto;
using amct::IfmrAutoOptions;
using amct::IfmrStream;
using amct::StatusCode;
using amct::Symmetry;
using Floats = std::vector<float>;

constexpr CodeRange kInt8{8};

Floats normal(std::size_t count, std::uint32_t seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<float> values(0.5F, 2.0F);
  Floats x(count);
  for (float& value : x) value = values(random);
  return x;
}

IfmrAuto observer_of(std::span<const float> data, std::size_t batch, IfmrAutoOptions options) {
  IfmrAuto observer(options);
  for (std::size_t i = 0; i < data.size(); i += batch) {
    REQUIRE(observer.observe(data.subspan(i, std::min(batch, data.size() - i))).ok());
  }
  return observer;
}

bool equal(const amct::IfmrAutoState& a, const amct::IfmrAutoState& b) {
  return a.values == b.values && a.histogram.keys == b.histogram.keys && a.histogram.counts == b.histogram.counts &&
         a.histogram.rests == b.histogram.rests && a.histogram.dropped_bits == b.histogram.dropped_bits &&
         a.histogram.range.min == b.histogram.range.min && a.histogram.range.max == b.histogram.range.max;
}

}  // namespace

TEST_CASE("up to the limit the result is that of Ifmr, to the bit") {
  const Floats data = normal(3000);
  for (const auto symmetry : {Symmetry::asymmetric, Symmetry::symmetric}) {
    Ifmr exact({.symmetry = symmetry, .search_step = 0.03});
    REQUIRE(exact.observe(data).ok());
    const IfmrAuto seen =
        observer_of(data, 1000, {.stream = {.symmetry = symmetry, .search_step = 0.03}, .exact_values = 3000});
    CHECK_FALSE(seen.is_streaming());
    for (const int bits : {4, 8, 12, 16}) CHECK(seen.compute(CodeRange{bits}) == exact.compute(CodeRange{bits}));
    CHECK(seen.search(kInt8).losses == exact.search(kInt8).losses);
  }
}

TEST_CASE("beyond the limit the result is that of IfmrStream, and memory stays flat") {
  const Floats data = normal(5000);
  const IfmrAutoOptions options{.stream = {.max_bins = 1024}, .exact_values = 2999};
  IfmrStream stream(options.stream);
  REQUIRE(stream.observe(data).ok());
  const IfmrAuto seen = observer_of(data, 1000, options);
  CHECK(seen.is_streaming());
  CHECK(seen.compute(kInt8) == stream.compute(kInt8));
  CHECK(seen.state().values.empty());
  CHECK(seen.state().histogram.keys.size() <= 1024);
  CHECK(seen.state().histogram.keys == stream.state().keys);
}

TEST_CASE("a single batch beyond the limit is never kept") {
  const IfmrAuto seen = observer_of(normal(100), 100, {.exact_values = 99});
  CHECK(seen.is_streaming());
  CHECK(observer_of(normal(100), 100, {.exact_values = 100}).state().values.size() == 100);
  CHECK(observer_of(normal(1), 1, {.exact_values = 0}).is_streaming());
}

TEST_CASE("merged consecutive parts are one observer that saw all, whether kept or counted") {
  const Floats data = normal(1200);
  const auto all = std::span<const float>(data);
  for (const std::size_t limit : {std::size_t{5000}, std::size_t{1200}, std::size_t{700}, std::size_t{100}}) {
    const IfmrAutoOptions options{.stream = {.max_bins = 1024}, .exact_values = limit};
    const IfmrAuto whole = observer_of(all, 100, options);
    for (const std::size_t cut : {std::size_t{100}, std::size_t{600}, std::size_t{1100}}) {
      IfmrAuto first = observer_of(all.first(cut), 100, options);
      REQUIRE(first.merge(observer_of(all.subspan(cut), 100, options)).ok());
      CHECK(equal(first.state(), whole.state()));
      CHECK(first.compute(kInt8) == whole.compute(kInt8));
    }
  }
}

TEST_CASE("once counted, the order of merging does not matter; merging with itself doubles") {
  const Floats data = normal(900);
  const auto all = std::span<const float>(data);
  const IfmrAutoOptions options{.exact_values = 500};
  IfmrAuto backward = observer_of(all.subspan(300), 300, options);
  REQUIRE(backward.merge(observer_of(all.first(300), 300, options)).ok());
  CHECK(equal(backward.state(), observer_of(all, 300, options).state()));

  IfmrAuto twice = observer_of(all.first(300), 300, options);
  REQUIRE(twice.merge(twice).ok());
  Floats doubled(data.begin(), data.begin() + 300);
  doubled.insert(doubled.end(), data.begin(), data.begin() + 300);
  CHECK(equal(twice.state(), observer_of(doubled, 300, options).state()));
}

TEST_CASE("bad batches are refused and change nothing; states go on") {
  for (const std::size_t limit : {std::size_t{10}, std::size_t{2}}) {
    IfmrAuto seen({.exact_values = limit});
    CHECK_FALSE(seen.ready());
    CHECK(seen.observe({}).code == StatusCode::empty);
    CHECK(seen.observe(Floats{1.0F, std::numeric_limits<float>::infinity(), 2.0F}).code == StatusCode::not_finite);
    CHECK_FALSE(seen.ready());
    REQUIRE(seen.observe(Floats{1.0F, -2.0F, 0.5F}).ok());
    CHECK(seen.ready());
    const Affine before = seen.compute(kInt8);
    IfmrAuto other({.exact_values = limit});
    other.restore(seen.state());
    CHECK(other.compute(kInt8) == before);
    seen.reset();
    CHECK_FALSE(seen.ready());
  }
  IfmrAuto bad({.stream = {.search_step = -1.0}});
  CHECK(bad.observe(Floats{1.0F}).code == StatusCode::bad_option);
}
