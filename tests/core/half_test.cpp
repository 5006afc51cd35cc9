// SPDX-License-Identifier: Apache-2.0
#include <amct/core/half.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Half;
using amct::to_float;
using amct::to_fp16_precision;
using amct::to_half;
using amct::truncate_s19;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

static_assert(to_half(1.0F) == Half{0x3C00} && to_half(-2.0F) == Half{0xC000});
static_assert(to_half(65504.0F) == Half{0x7BFF} && to_half(65519.996F) == Half{0x7BFF});
static_assert(to_half(65520.0F) == Half{0x7C00}, "a tie goes to even, which is infinity");
static_assert(to_half(0x1p-14F) == Half{0x0400} && to_half(0x1p-24F) == Half{0x0001});
static_assert(to_half(0x1p-25F) == Half{0x0000} && to_half(0x1.000002p-25F) == Half{0x0001});
static_assert(to_half(0x1.8p-24F) == Half{0x0002} && to_half(0x1.4p-23F) == Half{0x0002}, "ties of subnormals");
static_assert(to_half(0x1.ffcp-15F) == Half{0x0400}, "the largest subnormal rounds up to a normal");
static_assert(to_half(1.00048828F) == Half{0x3C00} && to_half(1.00146484F) == Half{0x3C02}, "ties of normals");
static_assert(to_half(-0.0F) == Half{0x8000} && to_half(-1e-30F) == Half{0x8000});
static_assert(to_half(kInf) == Half{0x7C00} && to_half(-std::numeric_limits<float>::max()) == Half{0xFC00});
static_assert(to_float(Half{0x0001}) == 0x1p-24F && to_float(Half{0x03FF}) == 0x1.ff8p-15F);
static_assert(to_float(Half{0xFC00}) == -kInf && to_float(Half{0x7BFF}) == 65504.0F);

/// The value of a finite half by its definition.
double value_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The values of all halfs from 0 up; behind the largest one comes 2^16, which stands for infinity.
std::vector<double> all_magnitudes() {
  std::vector<double> values;
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) values.push_back(value_of(static_cast<std::uint16_t>(bits)));
  values.push_back(65536.0);
  return values;
}

/// The half next to a positive float by search; a tie goes to the even one.
std::uint16_t nearest(const std::vector<double>& magnitudes, float x) {
  const auto above = std::lower_bound(magnitudes.begin(), magnitudes.end(), static_cast<double>(x));
  if (above == magnitudes.end()) return 0x7C00;
  const auto index = static_cast<std::uint16_t>(above - magnitudes.begin());
  if (index == 0) return 0;
  const double to_upper = *above - static_cast<double>(x);
  const double to_lower = static_cast<double>(x) - *std::prev(above);
  const bool lower = to_lower < to_upper || (to_lower == to_upper && (index - 1) % 2 == 0);
  return static_cast<std::uint16_t>(lower ? index - 1 : index);
}

}  // namespace

TEST_CASE("all 65536 halfs have the value of their definition and come back") {
  std::int64_t wrong = 0;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const Half half{static_cast<std::uint16_t>(i)};
    const float x = to_float(half);
    if ((half.bits & 0x7FFF) > 0x7C00) {
      wrong += std::isnan(x) && std::signbit(x) == (half.bits >> 15 != 0) ? 0 : 1;
      wrong += to_half(x).bits == (half.bits | 0x0200) ? 0 : 1;  // quiet, with sign and payload
    } else if ((half.bits & 0x7FFF) == 0x7C00) {
      wrong += x == (half.bits >> 15 != 0 ? -kInf : kInf) && to_half(x) == half ? 0 : 1;
    } else {
      wrong += static_cast<double>(x) == value_of(half.bits) && to_half(x) == half ? 0 : 1;
      wrong += std::signbit(x) == (half.bits >> 15 != 0) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats around every half and every tie between two become the nearest half") {
  const std::vector<double> magnitudes = all_magnitudes();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i + 1 < magnitudes.size(); ++i) {
    const auto half = static_cast<float>(magnitudes[i]);
    const auto tie = static_cast<float>((magnitudes[i] + magnitudes[i + 1]) / 2.0);  // exact
    for (const float centre : {half, tie}) {
      for (const float x : {std::nextafter(centre, -kInf), centre, std::nextafter(centre, kInf)}) {
        if (x < 0.0F) continue;
        wrong += to_half(x).bits == nearest(magnitudes, x) ? 0 : 1;
        wrong += to_half(-x).bits == (nearest(magnitudes, x) | 0x8000) ? 0 : 1;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a strided subset of all floats becomes the nearest half") {
  const std::vector<double> magnitudes = all_magnitudes();
  std::int64_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x7F800000U; bits += 1021) {
    wrong += to_half(std::bit_cast<float>(bits)).bits == nearest(magnitudes, std::bit_cast<float>(bits)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("NaN stays NaN even if its payload is in the bits that are cut off") {
  CHECK((to_half(kNan).bits & 0x7FFF) > 0x7C00);
  CHECK(to_half(std::bit_cast<float>(0xFF800001U)) == Half{0xFE00});
  CHECK(to_half(std::bit_cast<float>(0x7FFFFFFFU)) == Half{0x7FFF});
  CHECK(std::isnan(truncate_s19(std::bit_cast<float>(0x7F800001U))));
  CHECK(std::isnan(truncate_s19(kNan)));
}

TEST_CASE("s19 cuts off the low 13 bits") {
  static_assert(truncate_s19(0.0798481479F * 0.00297622895F) == 0.000237584114F);
  static_assert(truncate_s19(0.0122999996F) == 0.012298584F && truncate_s19(7.70000042e-06F) == 7.69644976e-06F);
  static_assert(truncate_s19(0.333333313F) == 0.333251953F && truncate_s19(70000.0F) == 69952.0F);
  static_assert(truncate_s19(-1.10000002F) == -1.09960938F && truncate_s19(1.00048828F) == 1.0F);
  CHECK(truncate_s19(0.000234559993F) == 0.000234484673F);
  CHECK(truncate_s19(kInf) == kInf);
  CHECK(std::bit_cast<std::uint32_t>(truncate_s19(-0.0F)) == 0x80000000U);
}

TEST_CASE("FORCE_FP16_QUANT rounds a scale to a half, or to the square of one") {
  static_assert(to_fp16_precision(0.0798481479F) == 0.0798339844F);
  static_assert(to_fp16_precision(0.00392156886F) == 0.00392150879F);
  static_assert(to_fp16_precision(1e-5F) == 1.00006728e-05F);
  // Values that AMCT itself gives.
  static_assert(to_fp16_precision(1.10000002F) == 1.09960938F && to_fp16_precision(123.456001F) == 123.4375F);
  static_assert(to_fp16_precision(1.00024414F) == 1.0F && to_fp16_precision(1.00073242F) == 1.00097656F);
  static_assert(to_fp16_precision(1.23456784e-05F) == 1.23435311e-05F);
  static_assert(to_fp16_precision(6.09999988e-05F) == 6.09755662e-05F);
  static_assert(to_fp16_precision(3.05175781e-05F) == 3.05110589e-05F);
  static_assert(to_fp16_precision(9.99999994e-09F) == 1.00033191e-08F);
  static_assert(to_fp16_precision(70000.0F) == 69960.25F && to_fp16_precision(65504.0F) == 65504.0F);
  static_assert(to_fp16_precision(0.0F) == 0.0F && to_fp16_precision(0x1p-14F) == 0x1p-14F);
  CHECK(to_fp16_precision(0x1.fffffep-15F) == 0x1p-14F);  // below the limit, but its root rounds to 2^-7
  CHECK(to_fp16_precision(0x1p-50F) == 0.0F);
  CHECK(to_fp16_precision(0x1.000004p-50F) == 0x1p-48F);
  CHECK(to_fp16_precision(65519.0F * 65519.0F) == 65504.0F * 65504.0F);
  CHECK(to_fp16_precision(65520.0F * 65520.0F) == kInf);
  CHECK(to_fp16_precision(kInf) == kInf);
  CHECK(std::isnan(to_fp16_precision(kNan)));
  CHECK(std::isnan(to_fp16_precision(-1.0F)));
}

TEST_CASE("the square root in constant expressions is the correctly rounded one") {
  std::int64_t wrong = 0;
  for (std::uint32_t bits = 0; bits <= 0x7F800000U; bits += 997) {
    const auto x = std::bit_cast<float>(bits);
    wrong += amct::detail::square_root(x) == std::sqrt(x) ? 0 : 1;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 300000; ++i) {  // squares and their neighbours
    const float root = std::ldexp(static_cast<float>(random() % 16777216 + 1), static_cast<int>(random() % 60) - 40);
    const float square = root * root;
    for (const float x : {std::nextafter(square, 0.0F), square, std::nextafter(square, kInf)}) {
      wrong += amct::detail::square_root(x) == std::sqrt(x) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}
