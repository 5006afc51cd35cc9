// SPDX-License-Identifier: Apache-2.0
#include <amct/core/affine.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::affine_from_range;
using amct::AmctSymmetric;
using amct::Asymmetric;
using amct::ClampToEpsilon;
using amct::CodeRange;
using amct::is_usable;
using amct::NpuSymmetric;
using amct::replace_degenerate;
using amct::Symmetry;

constexpr auto kAsymmetric = Symmetry::asymmetric;
constexpr auto kSymmetric = Symmetry::symmetric;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

constexpr Affine asymmetric(float min, float max, int bits = 8) {
  return affine_from_range(min, max, CodeRange{bits}, kAsymmetric);
}
constexpr Affine symmetric(float min, float max, int bits = 8) {
  return affine_from_range(min, max, CodeRange{bits}, kSymmetric);
}

// The table of min-max values, computed at compile time.
static_assert(asymmetric(-1.0F, 1.0F) == Affine{0.00784313772F, -1});
static_assert(asymmetric(-1.0F, 0.0F) == Affine{0.00392156886F, 127});
static_assert(asymmetric(0.0F, 1.0F) == Affine{0.00392156886F, -128});
static_assert(asymmetric(0.0F, 0.0F) == Affine{1.0F, -128});
static_assert(asymmetric(-2.25F, 3.5F) == Affine{0.0225490201F, -28});
static_assert(asymmetric(-3.0F, -1.0F) == Affine{0.0117647061F, 127});
static_assert(asymmetric(0.0F, 6.0F, 16) == Affine{9.15541314e-05F, -32768});
static_assert(asymmetric(0.0F, 1e-6F) == Affine{1.0F, -128});
static_assert(asymmetric(0.0F, 1e-4F) == Affine{3.92156863e-07F, -128});
static_assert(symmetric(-1.0F, 1.0F) == Affine{0.00787401572F, 0});
static_assert(symmetric(-1.0F, 0.5F) == Affine{0.0078125F, 0});
static_assert(symmetric(-127.5F, 127.0F) == Affine{0.99609375F, 0});
static_assert(symmetric(-1.0F, 1.0F, 4) == Affine{0.142857149F, 0});

constexpr Affine npu(float min, float max, int bits = 8) {
  return affine_from_range<NpuSymmetric>(min, max, CodeRange{bits});
}

static_assert(amct::RangePolicy<AmctSymmetric> && amct::RangePolicy<NpuSymmetric> && amct::RangePolicy<Asymmetric>);
static_assert(amct::DegeneratePolicy<amct::ReplaceByOne> && amct::DegeneratePolicy<ClampToEpsilon>);
static_assert(!amct::RangePolicy<Affine>);

/// Same bits of the scale, so that NaN equals itself, and the same offset.
bool same(Affine a, Affine b) {
  return std::bit_cast<std::uint32_t>(a.scale) == std::bit_cast<std::uint32_t>(b.scale) && a.offset == b.offset;
}

/// AMCT's rule for the offset of a tiny asymmetric range: replaced together with the scale.
Affine replaced_reference(float min, float max, CodeRange range) {
  const float scale = (max - min) / static_cast<float>(range.steps());
  const float offset = std::nearbyint(static_cast<float>(range.min()) - min / scale);
  return replace_degenerate({scale, scale < 0x1p-23F ? 0 : static_cast<std::int32_t>(offset)}, range, kAsymmetric);
}

}  // namespace

TEST_CASE("the offset of a range around zero comes from float32 arithmetic") {
  // In exact arithmetic -128 + 127.5 is a tie and would round to 0; float32 gives -0.5000076 and so -1.
  CHECK(asymmetric(-1.0F, 1.0F).offset == -1);
  // Here float32 division gives the tie itself; a multiplication by the reciprocal would give -1.
  CHECK(asymmetric(-0.3F, 0.3F) == Affine{0.00235294132F, 0});
  CHECK(asymmetric(-1.0F, 1.0F, 4) == Affine{0.13333334F, -1});
  CHECK(asymmetric(-0.5F, 1.0F, 4) == Affine{0.1F, -3});
  CHECK(asymmetric(-1.0F, 0.5F, 4) == Affine{0.1F, 2});
}

TEST_CASE("a symmetric range divides by 127, and by 128 if the negative end is the larger one") {
  static_assert(symmetric(-127.0F, 127.0F).scale == 1.0F, "a tie uses 127");
  static_assert(symmetric(-128.0F, 127.0F).scale == 1.0F);
  static_assert(symmetric(-126.0F, 127.0F).scale == 1.0F);
  static_assert(symmetric(-8.0F, 7.0F, 4).scale == 1.0F);
  static_assert(symmetric(-32768.0F, 3.0F, 16).scale == 1.0F);
  static_assert(symmetric(3.0F, 32767.0F, 16).scale == 1.0F);
  CHECK(symmetric(-3.0F, -1.0F).scale == 3.0F / 128.0F);
  CHECK(symmetric(1.0F, 3.0F).scale == 3.0F / 127.0F);
  CHECK(symmetric(0.0F, 0.0F) == Affine{1.0F, 0});
}

TEST_CASE("a range on one side of zero is widened to contain zero") {
  CHECK(asymmetric(1.0F, 3.0F) == asymmetric(0.0F, 3.0F));
  CHECK(asymmetric(-3.0F, -1.0F) == asymmetric(-3.0F, 0.0F));
  CHECK(asymmetric(3.0F, 3.0F) == Affine{3.0F / 255.0F, -128});
  CHECK(asymmetric(-3.0F, -3.0F) == Affine{3.0F / 255.0F, 127});
}

TEST_CASE("a scale below 2^-23 becomes 1, 2^-23 itself stays") {
  static_assert(amct::kScaleEpsilon == 0x1p-23F);
  constexpr float kBelow = 0x1.fffffep-24F;
  static_assert(replace_degenerate({0x1p-23F, 5}, CodeRange{8}, kAsymmetric) == Affine{0x1p-23F, 5});
  static_assert(replace_degenerate({kBelow, 5}, CodeRange{8}, kAsymmetric) == Affine{1.0F, -128});
  static_assert(replace_degenerate({kBelow, 0}, CodeRange{8}, kSymmetric) == Affine{1.0F, 0});
  static_assert(replace_degenerate({0.0F, 5}, CodeRange{4}, kAsymmetric) == Affine{1.0F, -8});
  static_assert(replace_degenerate({0.0F, 5}, CodeRange{16}, kAsymmetric) == Affine{1.0F, -32768});
  static_assert(replace_degenerate({-2.0F, 5}, CodeRange{8}, kAsymmetric) == Affine{1.0F, -128}, "negative scales too");

  CHECK(symmetric(0.0F, 127 * 0x1p-23F) == Affine{0x1p-23F, 0});
  CHECK(symmetric(0.0F, 126 * 0x1p-23F) == Affine{1.0F, 0});
  CHECK(symmetric(-128 * 0x1p-23F, 0.0F) == Affine{0x1p-23F, 0});
  CHECK(symmetric(-127 * 0x1p-23F, 0.0F) == Affine{1.0F, 0});
  CHECK(asymmetric(0.0F, 255 * 0x1p-23F) == Affine{0x1p-23F, -128});
  CHECK(asymmetric(0.0F, 254 * 0x1p-23F) == Affine{1.0F, -128});
  CHECK(asymmetric(-254 * 0x1p-23F, 0.0F) == Affine{1.0F, -128});
}

TEST_CASE("16 bits of a range below 0.0078 collapse to scale 1") {
  CHECK(asymmetric(0.0F, 0.0078F, 16) == Affine{1.0F, -32768});
  CHECK(asymmetric(0.0F, 0.0079F, 16).scale == 0.0079F / 65535.0F);
}

TEST_CASE("negative zeros and denormals are a zero range") {
  CHECK(asymmetric(-0.0F, -0.0F) == Affine{1.0F, -128});
  CHECK(symmetric(-0.0F, -0.0F) == Affine{1.0F, 0});
  CHECK(asymmetric(-1e-45F, 1e-45F) == Affine{1.0F, -128});
  CHECK(symmetric(-1e-45F, 1e-45F) == Affine{1.0F, 0});
}

TEST_CASE("the widest finite ranges are usable unless their width overflows") {
  CHECK(symmetric(-kMax, kMax) == Affine{kMax / 127.0F, 0});
  CHECK(asymmetric(0.0F, kMax) == Affine{kMax / 255.0F, -128});
  CHECK(asymmetric(-kMax, 0.0F) == Affine{kMax / 255.0F, 127});
  CHECK(is_usable(symmetric(-kMax, kMax)));
  CHECK_FALSE(is_usable(asymmetric(-kMax, kMax)));
}

TEST_CASE("NaN and infinite ends give a scale that is not usable") {
  for (const float bad : {kNan, kInf}) {
    CAPTURE(bad);
    CHECK_FALSE(is_usable(asymmetric(-1.0F, bad)));
    CHECK_FALSE(is_usable(asymmetric(-bad, 1.0F)));
    CHECK_FALSE(is_usable(symmetric(-1.0F, bad)));
    CHECK_FALSE(is_usable(symmetric(-bad, 1.0F)));
    CHECK_FALSE(is_usable(symmetric(-bad, bad)));
  }
}

TEST_CASE("a usable scale is finite and positive with a finite reciprocal") {
  CHECK(is_usable({1.0F, 0}));
  CHECK(is_usable({0x1p-23F, 0}));
  CHECK(is_usable({std::numeric_limits<float>::min(), 0}));
  CHECK(is_usable({kMax, 0}));
  CHECK_FALSE(is_usable({0.0F, 0}));
  CHECK_FALSE(is_usable({-0.0F, 0}));
  CHECK_FALSE(is_usable({-1.0F, 0}));
  CHECK_FALSE(is_usable({1e-45F, 0}));  // 1/scale overflows
  CHECK_FALSE(is_usable({kInf, 0}));
  CHECK_FALSE(is_usable({kNan, 0}));
}

TEST_CASE("the offset of a range with finite ends lies among the codes") {
  for (const int bits : {2, 4, 8, 12, 16}) {
    for (int low = 0; low <= 40; ++low) {
      for (int high = 0; high <= 40; ++high) {
        const Affine affine = asymmetric(static_cast<float>(-low) * 0.37F, static_cast<float>(high) * 0.91F, bits);
        CAPTURE(bits);
        CAPTURE(low);
        CAPTURE(high);
        REQUIRE(affine.offset >= CodeRange{bits}.min());
        REQUIRE(affine.offset <= CodeRange{bits}.max());
      }
    }
  }
}

TEST_CASE("the policies by name are those of the run-time symmetry") {
  constexpr float kEnds[] = {0.0F, 1e-9F, 1e-6F, 0.3F, 1.0F, 127.5F, kMax, kInf, kNan};
  for (const int bits : {2, 4, 8, 12, 16}) {
    for (const float low : kEnds) {
      for (const float high : kEnds) {
        CAPTURE(bits);
        CAPTURE(low);
        CAPTURE(high);
        const CodeRange range{bits};
        CHECK(same(affine_from_range<AmctSymmetric>(-low, high, range), symmetric(-low, high, bits)));
        CHECK(same(affine_from_range<Asymmetric>(-low, high, range), asymmetric(-low, high, bits)));
      }
    }
  }
}

TEST_CASE("a replaced scale gets the smallest code as offset, at every width") {
  for (int bits = 2; bits <= 16; ++bits) {
    const CodeRange range{bits};
    for (int step = 0; step <= 40; ++step) {
      const float width = static_cast<float>(range.steps()) * 0x1p-23F * static_cast<float>(step) / 32.0F;
      for (const float share : {0.0F, 0.25F, 0.5F, 1.0F}) {
        const float low = -width * share;
        CAPTURE(bits);
        CAPTURE(width);
        CHECK(asymmetric(low, width + low, bits) == replaced_reference(low, width + low, range));
      }
    }
  }
}

TEST_CASE("the NPU gives each end the codes of its own side") {
  static_assert(npu(-127.5F, 127.0F) == Affine{1.0F, 0}, "AMCT's rule gives 0.99609375");
  static_assert(npu(-128.0F, 127.0F) == Affine{1.0F, 0});
  static_assert(npu(-1.0F, 1.0F) == Affine{0.00787401572F, 0});
  static_assert(npu(-1.0F, 0.5F) == Affine{0.0078125F, 0});
  static_assert(npu(-8.0F, 7.0F, 4).scale == 1.0F && npu(-32768.0F, 3.0F, 16).scale == 1.0F);
  CHECK(npu(-3.0F, -1.0F).scale == 3.0F / 128.0F);
  CHECK(npu(1.0F, 3.0F).scale == 3.0F / 127.0F);
  CHECK(npu(0.0F, 0.0F) == Affine{1.0F, 0});
  CHECK(npu(-0.0F, -0.0F) == Affine{1.0F, 0});
  for (const float bad : {kNan, kInf}) {
    CHECK_FALSE(is_usable(npu(-1.0F, bad)));
    CHECK_FALSE(is_usable(npu(-bad, 1.0F)));
    CHECK_FALSE(is_usable(npu(-bad, bad)));
  }
}

TEST_CASE("the scale of the NPU is never the smaller one, and differs only where the ends are nearly equal") {
  for (int low = 0; low <= 300; ++low) {
    for (int high = 0; high <= 300; ++high) {
      const auto min = static_cast<float>(-low);
      const auto max = static_cast<float>(high);
      const bool nearly_equal = high < low && 127 * low < 128 * high;
      REQUIRE(npu(min, max).scale >= symmetric(min, max).scale);
      REQUIRE((npu(min, max).scale != symmetric(min, max).scale) == nearly_equal);
    }
  }
}

TEST_CASE("hotwheels clamps a small scale to eps instead of replacing it by 1") {
  constexpr ClampToEpsilon kDefault{};
  static_assert(kDefault.eps == 0x1p-23F);
  static_assert(affine_from_range<AmctSymmetric>(0.0F, 0.0F, CodeRange{8}, kDefault) == Affine{0x1p-23F, 0});
  static_assert(affine_from_range<AmctSymmetric>(0.0F, 1.0F, CodeRange{8}, kDefault).scale == 1.0F / 127.0F);
  static_assert(affine_from_range<Asymmetric>(0.0F, 0.0F, CodeRange{8}, kDefault) == Affine{0x1p-23F, -128});
  static_assert(affine_from_range<NpuSymmetric>(-1e-9F, 0.0F, CodeRange{8}, ClampToEpsilon{1e-3F}).scale == 1e-3F);
  // A range far below 255 steps of eps on the negative side: its offset follows the clamped scale.
  CHECK(affine_from_range<Asymmetric>(-64 * 0x1p-23F, 0.0F, CodeRange{8}, kDefault) == Affine{0x1p-23F, -64});
  CHECK(std::isnan(affine_from_range<AmctSymmetric>(kNan, 1.0F, CodeRange{8}, kDefault).scale));
}

TEST_CASE("eps is raised when a bias is large") {
  constexpr float kAt[] = {0.0F, -6.4031265F, 6.4031265F};
  static_assert(amct::weight_epsilon(kAt) == 1.1920929e-7F);
  CHECK(amct::weight_epsilon(std::array{1.0F, std::nextafter(6.4031265F, 7.0F)}) == 7.63312164e-6F);
  CHECK(amct::weight_epsilon(std::array{-6.5F}) == 7.63312164e-6F);
  CHECK(amct::weight_epsilon(std::array{kInf}) == 7.63312164e-6F);
  CHECK(amct::weight_epsilon({}) == 1.1920929e-7F);
  CHECK(amct::weight_epsilon(std::array{7.0F}) == static_cast<float>(1.0 / (64.0 * 2047.0)));
}

TEST_CASE("C05 constants and data of one sign keep zero exactly representable") {
  const auto value_of = [](float x, Affine a, int bits) {
    const float code = std::nearbyint(x / a.scale) + static_cast<float>(a.offset);
    const CodeRange range{bits};
    return (std::clamp(code, static_cast<float>(range.min()), static_cast<float>(range.max())) -
            static_cast<float>(a.offset)) *
           a.scale;
  };
  for (const float constant : {3.0F, -3.0F, 0.7F, 1e-3F, -1e6F}) {
    const Affine a = asymmetric(constant, constant);
    CAPTURE(constant);
    CHECK(value_of(constant, a, 8) == doctest::Approx(constant).epsilon(1e-6));
    CHECK(value_of(0.0F, a, 8) == 0.0F);
  }
  CHECK(asymmetric(1.0F, 2.0F) == Affine{2.0F / 255.0F, -128});
  // 127.5 steps in exact arithmetic; the float32 scale lies just above 2/255, so 1.0 is below the tie.
  CHECK(value_of(1.0F, asymmetric(1.0F, 2.0F), 8) == doctest::Approx(127 * 2.0 / 255));
  CHECK(value_of(2.0F, asymmetric(1.0F, 2.0F), 8) == doctest::Approx(2.0));
  const Affine four = asymmetric(10.5F, 14.0F, 4);
  CHECK(four == Affine{14.0F / 15.0F, -8});
  for (int i = 0; i < 8; ++i) {
    const float x = 10.5F + 0.5F * static_cast<float>(i);
    CHECK(std::abs(value_of(x, four, 4) - x) <= 0.4334F);
  }
}
