// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/luq_mse.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include <amct/kernel/fake_quantize.hpp>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::CodeRange;
using amct::LuqMse;
using amct::LuqMseOptions;
using amct::LuqScheme;
using amct::Status;
using amct::StatusCode;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

LuqMse observed(const std::vector<std::vector<float>>& batches, LuqMseOptions options = {}) {
  options.batch_num = batches.size();
  LuqMse observer(options);
  for (const auto& batch : batches) REQUIRE(observer.observe(batch).ok());
  CHECK(observer.ready());
  return observer;
}

Affine affine(const std::vector<float>& data, LuqScheme scheme = LuqScheme::symmetric, int bits = 8) {
  return observed({data}, {.scheme = scheme}).compute(CodeRange{bits});
}

/// Mean squared error of quantizing and dequantizing, by the kernel that networks run.
double error_of(const std::vector<float>& data, const Affine& affine, CodeRange range) {
  std::vector<float> result(data.size());
  amct::fake_quantize<amct::DivideRoundAdd>(data, result, affine, range);
  double sum = 0.0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double error = static_cast<double>(result[i]) - static_cast<double>(data[i]);
    sum += error * error;
  }
  return sum / static_cast<double>(data.size());
}

/// Bell-shaped values, always the same.
std::vector<float> bell(std::size_t count, float shift) {
  std::vector<float> values;
  unsigned seed = 1;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) {
      seed = seed * 1664525U + 1013904223U;
      sum += static_cast<double>(seed >> 8) / 16777216.0 - 0.5;
    }
    values.push_back(static_cast<float>(sum) + shift);
  }
  return values;
}

/// The least error over the default factors, computed candidate by candidate.
double least_error(const std::vector<float>& data, bool symmetric, CodeRange range) {
  const auto [min, max] = std::minmax_element(data.begin(), data.end());
  const float top = symmetric ? std::max(*max, -*min) : std::max(*max, 0.0F);
  const float bottom = symmetric ? 0.0F : std::min(*min, 0.0F);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 100; ++i) {
    const auto ratio = static_cast<float>(0.5 + i / 99.0);
    const Affine candidate = symmetric ? Affine{ratio * top / static_cast<float>(range.max()), 0}
                                       : amct::affine_from_range<amct::Asymmetric>(ratio * bottom, ratio * top, range);
    least = std::min(least, error_of(data, candidate, range));
  }
  return least;
}

}  // namespace

TEST_CASE("the factors go from start to end in equal steps, both included") {
  const auto ratios = amct::luq_mse::ratios({});
  REQUIRE(ratios.size() == 100);
  CHECK(ratios.front() == 0.5F);
  CHECK(ratios.back() == 1.5F);
  CHECK(ratios[33] == static_cast<float>(0.5 + 33.0 / 99.0));
  CHECK(amct::luq_mse::ratios({.search_start = 0.75, .search_end = 1.25, .steps = 3}) ==
        std::vector<float>{0.75F, 1.0F, 1.25F});
  CHECK(amct::luq_mse::ratios({.search_start = 1.0, .steps = 1}) == std::vector<float>{1.0F});
}

TEST_CASE("the chosen factor has the least error of all, at every width and scheme") {
  for (const float shift : {0.0F, 0.7F, 4.0F, -4.0F}) {
    const auto data = bell(2000, shift);
    for (const int bits : {4, 8, 12}) {
      const CodeRange range{bits};
      for (const bool symmetric : {true, false}) {
        const Affine found = affine(data, symmetric ? LuqScheme::symmetric : LuqScheme::affine, bits);
        CHECK(error_of(data, found, range) <= least_error(data, symmetric, range) * 1.001);
        CHECK((found.offset == 0 || !symmetric));
      }
    }
  }
}

TEST_CASE("few codes clip the tails and a batch of large data takes the same search") {
  const auto data = bell(400000, 0.0F);
  const float top = std::max(*std::max_element(data.begin(), data.end()), -*std::min_element(data.begin(), data.end()));
  const Affine found = affine(data, LuqScheme::symmetric, 4);
  CHECK(found.scale * 7.0F < top);
  CHECK(error_of(data, found, CodeRange{4}) <= least_error(data, true, CodeRange{4}) * 1.001);
}

TEST_CASE("the scale is the mean of what each batch chose") {
  const auto first = bell(500, 0.0F);
  auto second = bell(900, 0.0F);
  for (float& value : second) value *= 3.0F;
  const double mean = (static_cast<double>(affine(first).scale) + static_cast<double>(affine(second).scale)) / 2.0;
  CHECK(static_cast<double>(observed({first, second}).compute(CodeRange{8}).scale) ==
        doctest::Approx(mean).epsilon(1e-6));
  CHECK(observed({first, second}).compute(CodeRange{8}) == observed({second, first}).compute(CodeRange{8}));
}

TEST_CASE("dynamic is affine unless some batch has a negative value") {
  const std::vector<float> positive = {0.0F, 1.0F, 2.0F};
  const std::vector<float> mixed = {-1.0F, 1.0F, 2.0F};
  CHECK(affine(positive, LuqScheme::dynamic) == affine(positive, LuqScheme::affine));
  CHECK(affine(positive, LuqScheme::dynamic).offset == -128);
  CHECK(affine(mixed, LuqScheme::dynamic) == affine(mixed, LuqScheme::symmetric));
  const auto both = observed({positive, mixed}, {.scheme = LuqScheme::dynamic});
  CHECK(both.compute(CodeRange{8}) == observed({positive, mixed}).compute(CodeRange{8}));
}

TEST_CASE("an affine range contains zero") {
  CHECK(affine({3.0F, 5.0F}, LuqScheme::affine).offset == -128);
  CHECK(affine({-3.0F, -5.0F}, LuqScheme::affine).offset == 127);
  CHECK(affine({-5.0F, 3.0F}, LuqScheme::affine).offset == 31);
}

TEST_CASE("constants and one element are represented closely") {
  for (const auto& data : {std::vector<float>(10, 3.0F), {3.0F}, {-3.0F}, std::vector<float>(4, -3.0F)}) {
    for (const LuqScheme scheme : {LuqScheme::symmetric, LuqScheme::affine, LuqScheme::dynamic}) {
      CHECK(error_of(data, affine(data, scheme), CodeRange{8}) < 1e-7);
    }
  }
}

TEST_CASE("zeros and values too small for a scale give scale 1") {
  for (const float value : {0.0F, -0.0F, 1e-7F, 1e-40F}) {
    CHECK(affine({value, value}) == Affine{1.0F, 0});
    CHECK(affine({value, value}, LuqScheme::affine) == Affine{1.0F, -128});
  }
}

TEST_CASE("a batch of zeros counts as a range of zero") {
  const std::vector<float> data = {1.0F, -0.5F};
  CHECK(observed({{0.0F, 0.0F}, data}).compute(CodeRange{8}).scale == doctest::Approx(affine(data).scale / 2.0F));
}

TEST_CASE("one huge outlier keeps at least half of its range") {
  std::vector<float> data(1000, 0.01F);
  data.push_back(1000.0F);
  const float scale = affine(data).scale;
  CHECK(scale >= 0.5F * 1000.0F / 127.0F);
  CHECK(scale <= 1.5F * 1000.0F / 127.0F);
}

TEST_CASE("the largest floats have a scale, and ranges beyond float32 only if a factor brings them within") {
  CHECK(amct::is_usable(affine({kMax, 1.0F})));
  CHECK(amct::is_usable(affine({-kMax})));
  const LuqMseOptions wide{.scheme = LuqScheme::affine, .search_start = 1.0};
  CHECK_FALSE(amct::is_usable(observed({{-kMax, kMax}}, wide).compute(CodeRange{8})));
  CHECK(amct::is_usable(affine({-kMax, kMax}, LuqScheme::affine)));  // half of that range is within
}

TEST_CASE("batches are merged, stored and forgotten") {
  const std::vector<float> first = {1.0F, -0.5F, 0.3F};
  const std::vector<float> second = {2.0F, 0.7F};
  const auto both = observed({first, second});
  LuqMse left({.batch_num = 2});
  LuqMse right({.batch_num = 2});
  REQUIRE(left.observe(first).ok());
  CHECK_FALSE(left.ready());
  REQUIRE(right.observe(second).ok());
  REQUIRE(left.merge(right).ok());
  CHECK(left.ready());
  CHECK(left.state().values == both.state().values);
  CHECK(left.state().ends == both.state().ends);
  CHECK(left.compute(CodeRange{8}) == both.compute(CodeRange{8}));
  REQUIRE(right.merge(right).ok());
  CHECK(right.state().ends == std::vector<std::size_t>{2, 4});

  LuqMse copy;
  copy.restore(left.state());
  CHECK(copy.compute(CodeRange{4}) == both.compute(CodeRange{4}));
  copy.reset();
  CHECK_FALSE(copy.ready());
  CHECK(copy.observe(first).ok());
}

TEST_CASE("LuqMse refuses bad batches and is unchanged") {
  LuqMse observer({.batch_num = 2});
  CHECK(observer.observe({}).code == StatusCode::empty);
  const Status nan = observer.observe(std::vector<float>{1.0F, kNan});
  CHECK(nan.code == StatusCode::not_finite);
  CHECK(nan.index == 1);
  CHECK(observer.observe(std::vector<float>{-kInfinity}).code == StatusCode::not_finite);
  CHECK(observer.state().ends.empty());
  REQUIRE(observer.observe(std::vector<float>{1.0F}).ok());
  REQUIRE(observer.observe(std::vector<float>{1.0F}).ok());
  CHECK(observer.observe(std::vector<float>{1.0F}).code == StatusCode::already_ready);
}

TEST_CASE("options of LuqMse have ranges") {
  const auto refused = [](const LuqMseOptions& options, const char* name) {
    const Status status = LuqMse(options).observe(std::vector<float>{1.0F});
    return status.code == StatusCode::bad_option && std::string_view(status.name) == name;
  };
  CHECK(refused({.search_start = 0.49}, "search_start"));
  CHECK(refused({.search_start = 1.51}, "search_start"));
  CHECK(refused({.search_start = std::nan("")}, "search_start"));
  CHECK(refused({.search_start = 1.0, .search_end = 0.9}, "search_end"));
  CHECK(refused({.search_end = 1.51}, "search_end"));
  CHECK(refused({.steps = 0}, "steps"));
  CHECK(refused({.steps = 10001}, "steps"));
  CHECK(refused({.batch_num = 0}, "batch_num"));
  CHECK(LuqMseOptions{.search_start = 0.5, .search_end = 0.5, .steps = 10000}.check().ok());
}
