// SPDX-License-Identifier: Apache-2.0
#include <amct/analysis/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>

namespace {

using amct::Shape;
using amct::Tensor;
using amct::analysis::Difference;
using amct::analysis::DifferenceMeter;
using amct::analysis::max_code_difference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
Tensor tensor(const std::vector<T>& values) {
  return Tensor(Shape{static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

template <class T>
Difference difference(const std::vector<T>& reference, const std::vector<T>& other) {
  DifferenceMeter meter;
  CHECK(meter.add(std::span<const T>(reference), std::span<const T>(other)).ok());
  return meter.result();
}

/// Numbers without a pattern, and the same with small errors.
std::vector<float> signal(std::size_t size, float error) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = std::sin(static_cast<float>(i) * 0.7F) + error * std::cos(static_cast<float>(i) * 1.3F);
  }
  return values;
}

}  // namespace

TEST_CASE("the metrics are those of their definitions") {
  const Difference found = difference<float>({3.0F, 4.0F}, {4.0F, 3.0F});
  CHECK(found.count == 2);
  CHECK(found.cosine == doctest::Approx(24.0 / 25.0).epsilon(1e-15));
  CHECK(found.sqnr == doctest::Approx(10.0 * std::log10(25.0 / 2.0)).epsilon(1e-15));
  CHECK(found.max_abs == 1.0);
  CHECK(found.mean_abs == 1.0);
  CHECK(found.max_index == 0);
  CHECK(!found.none());
}

TEST_CASE("opposite and orthogonal vectors") {
  CHECK(difference<float>({1.0F, -2.0F}, {-1.0F, 2.0F}).cosine == -1.0);
  CHECK(difference<float>({1.0F, 0.0F}, {0.0F, 5.0F}).cosine == 0.0);
}

TEST_CASE("equal arrays differ in nothing, whatever they hold") {
  for (const auto& values : {signal(10000, 0.0F), std::vector<float>{0.0F, 0.0F}, std::vector<float>{1e-45F, 3e38F},
                             std::vector<float>{kNan, kInf, -kInf, 1.0F}}) {
    const Difference found = difference(values, values);
    CHECK(found.none());
    CHECK(found.cosine == 1.0);
    CHECK(found.sqnr == kInfinity);
    CHECK(found.mean_abs == 0.0);
    CHECK(found.not_finite == 0);
  }
  CHECK(difference<float>({0.0F}, {-0.0F}).none());
}

TEST_CASE("empty arrays differ in nothing") {
  const Difference found = difference<float>({}, {});
  CHECK(found.count == 0);
  CHECK(found.none());
  CHECK(found.cosine == 1.0);
  CHECK(found.sqnr == kInfinity);
  CHECK(DifferenceMeter().result().cosine == 1.0);
}

TEST_CASE("one array all zero") {
  const Difference no_reference = difference<float>({0.0F, 0.0F}, {1.0F, 0.0F});
  CHECK(no_reference.cosine == 0.0);
  CHECK(no_reference.sqnr == -kInfinity);
  const Difference no_other = difference<float>({1.0F, 0.0F}, {0.0F, 0.0F});
  CHECK(no_other.cosine == 0.0);
  CHECK(no_other.sqnr == 0.0);
}

TEST_CASE("a number that is not finite passes no threshold") {
  for (const float odd : {kNan, kInf, -kInf}) {
    CAPTURE(odd);
    for (const bool in_reference : {false, true}) {
      std::vector<float> a{1.0F, 9.0F, 2.0F};
      std::vector<float> b{1.0F, 2.0F, 2.0F};
      (in_reference ? a : b)[2] = odd;
      const Difference found = difference(a, b);
      CHECK(found.not_finite == 1);
      CHECK(std::isnan(found.cosine));
      CHECK(std::isnan(found.sqnr));
      CHECK(found.max_abs == kInfinity);
      CHECK(found.mean_abs == kInfinity);
      CHECK(found.max_index == 2);
    }
  }
  CHECK(difference<float>({kInf}, {-kInf}).not_finite == 1);
  CHECK(difference<float>({kNan}, {kInf}).not_finite == 1);
}

TEST_CASE("doubles beyond every float") {
  CHECK(difference<double>({1e300}, {1.0}).not_finite == 1);
  CHECK(difference<double>({1e300}, {1e300}).none());
  const Difference tiny = difference<double>({1e-200, 0.0}, {0.0, 2e-200});
  CHECK(tiny.cosine == 1.0);
  CHECK(tiny.sqnr == kInfinity);
  CHECK(tiny.max_abs == 2e-200);
  CHECK(!tiny.none());
  const Difference large = difference<double>({1e69, 1e69}, {1e69, -1e69});
  CHECK(large.cosine == 0.0);
  CHECK(std::isfinite(large.sqnr));
}

TEST_CASE("sizes that differ are refused and add nothing") {
  DifferenceMeter meter;
  const std::vector<float> two{1.0F, 2.0F};
  const std::vector<float> three{1.0F, 2.0F, 3.0F};
  CHECK(meter.add(std::span<const float>(two), std::span<const float>(three)).code == amct::StatusCode::size_mismatch);
  CHECK(meter.add(tensor(three), tensor(two)).code == amct::StatusCode::size_mismatch);
  CHECK(meter.result().count == 0);
}

TEST_CASE("pieces give the bits of the whole") {
  const auto a = signal(20000, 0.0F);
  const auto b = signal(20000, 1e-3F);
  const Difference whole = difference(a, b);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{777}, std::size_t{4096}}) {
    DifferenceMeter meter;
    for (std::size_t at = 0; at < a.size(); at += piece) {
      const std::size_t count = std::min(piece, a.size() - at);
      CHECK(meter.add(std::span(a).subspan(at, count), std::span(b).subspan(at, count)).ok());
    }
    const Difference found = meter.result();
    CHECK(found.cosine == whole.cosine);
    CHECK(found.sqnr == whole.sqnr);
    CHECK(found.mean_abs == whole.mean_abs);
    CHECK(found.max_index == whole.max_index);
  }
  CHECK(whole.sqnr == doctest::Approx(60.0).epsilon(1e-3));
}

TEST_CASE("long sums stay exact to many digits") {
  const std::size_t size = 3000000;
  const Difference found = difference(std::vector<float>(size, 0.1F), std::vector<float>(size, 0.2F));
  CHECK(found.mean_abs == doctest::Approx(static_cast<double>(0.2F) - static_cast<double>(0.1F)).epsilon(1e-14));
  CHECK(found.cosine == doctest::Approx(1.0).epsilon(1e-14));
}

TEST_CASE("tensors of any types are compared as numbers") {
  const auto compare = [](const Tensor& a, const Tensor& b) {
    DifferenceMeter meter;
    CHECK(meter.add(a, b).ok());
    return meter.result();
  };
  CHECK(compare(tensor<std::int8_t>({-128, 5}), tensor<float>({-128.0F, 5.0F})).none());
  CHECK(compare(tensor<std::int64_t>({1}), tensor<std::uint8_t>({3})).max_abs == 2.0);
  const auto a = signal(5000, 0.0F);
  const auto b = signal(5000, 0.1F);
  CHECK(compare(tensor(a), tensor(b)).sqnr == difference(a, b).sqnr);
  CHECK(compare(tensor(a), amct::cast(tensor(b), amct::ElementType::float64)).sqnr == difference(a, b).sqnr);
}

TEST_CASE("differences of codes are exact") {
  CHECK(max_code_difference(tensor<std::int8_t>({-128, 3}), tensor<std::int8_t>({127, 3})) == 255);
  CHECK(max_code_difference(tensor<std::int16_t>({5}), tensor<std::int32_t>({7})) == 2);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(max_code_difference(tensor<std::int64_t>({kLeast}), tensor<std::int64_t>({kMost})) == ~std::uint64_t{0});
  CHECK(max_code_difference(tensor<std::int64_t>({kMost}), tensor<std::int64_t>({kMost - 1})) == 1);
  CHECK(max_code_difference(tensor<std::int8_t>({}), tensor<std::int8_t>({})) == 0);
  std::vector<std::int8_t> many(5000, 1);
  auto other = many;
  other[4999] = 4;
  CHECK(max_code_difference(tensor(many), tensor(other)) == 3);
}

TEST_CASE("floats, truth values and other sizes have no difference of codes") {
  CHECK(!max_code_difference(tensor<float>({1.0F}), tensor<std::int8_t>({1})));
  CHECK(!max_code_difference(tensor<std::int8_t>({1}), tensor<double>({1.0})));
  CHECK(!max_code_difference(tensor<std::int8_t>({1}), tensor<std::int8_t>({1, 2})));
  CHECK(!max_code_difference(Tensor::scalar(true), Tensor::scalar(true)));
}
