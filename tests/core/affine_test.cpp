// SPDX-License-Identifier: Apache-2.0
#include <amct/core/affine.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::affine_from_range;
using amct::CodeRange;
using amct::is_usable;
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
