// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/elementwise_f32.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

using namespace amct;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr MapF32 kMaps[] = {MapF32::exp,     MapF32::log,          MapF32::erf,       MapF32::tanh,
                            MapF32::sigmoid, MapF32::sqrt,         MapF32::abs,       MapF32::leaky_relu,
                            MapF32::clip,    MapF32::hard_sigmoid, MapF32::hard_swish};
constexpr CombineF32 kCombines[] = {CombineF32::add, CombineF32::sub, CombineF32::mul,  CombineF32::div,
                                    CombineF32::max, CombineF32::min, CombineF32::prelu};

std::vector<float> mapped(MapF32 function, const std::vector<float>& x, float a = 0.0F, float b = 0.0F) {
  std::vector<float> y(x.size());
  map_f32(function, x, y, a, b);
  return y;
}
std::vector<float> combined(CombineF32 op, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> y(std::max(a.size(), b.size()));
  combine_f32(op, {a.data(), a.size() < y.size()}, {b.data(), b.size() < y.size()}, y);
  return y;
}

/// The same bits, or NaN in both.
bool agree(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (!both_nan && std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

/// The distance of two values in units in the last place of the float next to `exact`; 0 for equal infinities.
double ulps(float value, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (value == nearest) return 0.0;
  int exponent = 0;
  std::frexp(std::max(std::fabs(nearest), std::numeric_limits<float>::min()), &exponent);
  return std::fabs(static_cast<double>(value) - exact) / std::ldexp(1.0, exponent - 24);
}

/// Every 65537th float, of both signs.
std::vector<float> sample() {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 65537) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return x;
}

}  // namespace

TEST_CASE("approximated functions keep to their error bounds over the whole range") {
  struct Row {
    MapF32 function;
    double (*exact)(double);
    double most;
  };
  const Row rows[] = {{MapF32::exp, [](double x) { return std::exp(x); }, 1.0},
                      {MapF32::log, [](double x) { return std::log(x); }, 1.0},
                      {MapF32::erf, [](double x) { return std::erf(x); }, 2.0},
                      {MapF32::tanh, [](double x) { return std::tanh(x); }, 2.0},
                      {MapF32::sigmoid, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, 3.0},
                      {MapF32::sqrt, [](double x) { return std::sqrt(x); }, 0.5}};
  const auto x = sample();
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.function));
    const auto y = mapped(row.function, x);
    double worst = 0.0;
    bool nans_agree = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = row.exact(static_cast<double>(x[i]));
      nans_agree = nans_agree && std::isnan(y[i]) == std::isnan(exact);
      if (!std::isnan(exact)) worst = std::max(worst, ulps(y[i], exact));
    }
    CHECK(nans_agree);
    CHECK(worst <= row.most);
  }
}

TEST_CASE("functions have the right limits") {
  CHECK(mapped(MapF32::exp, {0, -0.0F, kInf, -kInf, 88.72283F, 88.72284F, -200}) ==
        std::vector<float>{1, 1, kInf, 0, std::exp(88.72283F), kInf, 0});
  CHECK(mapped(MapF32::exp, {-103.0F})[0] == std::numeric_limits<float>::denorm_min());
  CHECK(mapped(MapF32::log, {1, 0, -0.0F, kInf}) == std::vector<float>{0, -kInf, -kInf, kInf});
  CHECK(std::isnan(mapped(MapF32::log, {-1})[0]));
  CHECK(mapped(MapF32::tanh, {kInf, -kInf, 0, 20}) == std::vector<float>{1, -1, 0, 1});
  CHECK(mapped(MapF32::erf, {kInf, -kInf, 0, 4}) == std::vector<float>{1, -1, 0, 1});
  CHECK(mapped(MapF32::sigmoid, {kInf, -kInf, 0}) == std::vector<float>{1, 0, 0.5F});
  CHECK(mapped(MapF32::sigmoid, {-100})[0] > 0.0F);  // denormal, not cut off
  for (const MapF32 odd : {MapF32::tanh, MapF32::erf}) CHECK(std::signbit(mapped(odd, {-0.0F})[0]));
}

TEST_CASE("piecewise linear functions are exact") {
  CHECK(mapped(MapF32::abs, {-1.5F, 2, -kInf}) == std::vector<float>{1.5F, 2, kInf});
  CHECK(mapped(MapF32::leaky_relu, {-2, 3}, 0.5F) == std::vector<float>{-1, 3});
  CHECK(mapped(MapF32::clip, {-2, 0.5F, 3}, -1.0F, 1.0F) == std::vector<float>{-1, 0.5F, 1});
  CHECK(mapped(MapF32::clip, {-2, 3}, 2.0F, 1.0F) == std::vector<float>{1, 1});
  CHECK(mapped(MapF32::hard_sigmoid, {-9, 1, 9}, 0.25F, 0.5F) == std::vector<float>{0, 0.75F, 1});
  CHECK(mapped(MapF32::hard_swish, {-9, 1, 9}, 0.25F, 0.5F) == std::vector<float>{0, 0.75F, 9});
}

TEST_CASE("NaN goes through all functions and operations") {
  on_every_path([] {
    for (const MapF32 function : kMaps) {
      CAPTURE(static_cast<int>(function));
      const auto y = mapped(function, std::vector<float>(21, kNan), 0.1F, 0.2F);
      for (const float value : y) CHECK(std::isnan(value));
    }
    for (const CombineF32 op : kCombines) {
      CAPTURE(static_cast<int>(op));
      CHECK(std::isnan(combined(op, {kNan}, {1})[0]));
      if (op != CombineF32::prelu) CHECK(std::isnan(combined(op, {1}, {kNan})[0]));
    }
  });
}

TEST_CASE("operations of two values, each repeated or not") {
  CHECK(combined(CombineF32::add, {1, 2}, {10, 20}) == std::vector<float>{11, 22});
  CHECK(combined(CombineF32::sub, {1}, {10, 20}) == std::vector<float>{-9, -19});
  CHECK(combined(CombineF32::mul, {1, 2}, {-3}) == std::vector<float>{-3, -6});
  CHECK(combined(CombineF32::div, {1, 0}, {0}).front() == kInf);
  CHECK(combined(CombineF32::max, {1, -2}, {0}) == std::vector<float>{1, 0});
  CHECK(combined(CombineF32::min, {1, -2}, {0}) == std::vector<float>{0, -2});
  CHECK(combined(CombineF32::prelu, {4, -2}, {3}) == std::vector<float>{4, -6});
}

TEST_CASE("every path gives the bits of the reference, for all lengths and starts, in place too") {
  for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
    const auto all = support::awkward_floats(length + offset, 0.25F);
    const auto other = support::awkward_floats(2 * length + 1, 0.75F);
    const std::span<const float> x(all.data() + offset, length);
    std::vector<float> want(length);
    std::vector<float> got(length);
    const auto compare = [&](const auto& compute) {
      simd::use(simd::Arch::scalar);
      compute(want);
      simd::for_each_available([&](simd::Arch arch) {
        CAPTURE(name_of(arch));
        std::fill(got.begin(), got.end(), 1.0F);
        compute(got);
        CHECK(agree(got, want));
      });
    };
    const simd::Arch before = simd::active();
    for (const MapF32 function : kMaps) {
      compare([&](std::vector<float>& y) { map_f32(function, x, y, 0.3F, 0.6F); });
      compare([&](std::vector<float>& y) {
        y.assign(x.begin(), x.end());
        map_f32(function, y, y, 0.3F, 0.6F);
      });
    }
    compare([&](std::vector<float>& y) { normalize_f32(x, 0.1F, 1.7F, 0.3F, y); });
    for (const CombineF32 op : kCombines) {
      for (const int form : {0, 1, 2}) {
        if (length == 0) continue;
        compare([&](std::vector<float>& y) { combine_f32(op, {x.data(), form == 1}, {other.data(), form == 2}, y); });
      }
    }
    for (std::size_t step = 1; step <= 3; ++step) {
      const auto far = support::awkward_floats(3 * length + 1, 0.5F);
      for (const CombineF32 op : {CombineF32::max, CombineF32::add}) {
        compare([&](std::vector<float>& y) {
          y.assign(x.begin(), x.end());
          fold_f32(op, far.data(), step, y);
        });
      }
    }
    simd::use(before);
  });
}

TEST_CASE("normalize_f32 and fold_f32 by their definition") {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> y(6);
  normalize_f32(x, 2.0F, 0.5F, 10.0F, y);
  CHECK(y == std::vector<float>{9.5F, 10, 10.5F, 11, 11.5F, 12});
  std::vector<float> folded = {0, 4, 0};
  fold_f32(CombineF32::max, x.data(), 2, folded);
  CHECK(folded == std::vector<float>{1, 4, 5});
  fold_f32(CombineF32::add, x.data() + 1, 1, folded);
  CHECK(folded == std::vector<float>{3, 7, 9});
}
