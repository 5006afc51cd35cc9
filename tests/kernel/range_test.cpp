// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/range.hpp>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

namespace {

using amct::check_finite;
using amct::StatusCode;
using amct::ValueRange;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

amct::Status checked(const std::vector<float>& x) { return check_finite(x); }

}  // namespace

TEST_CASE("a range is empty before the first value") {
  ValueRange range;
  CHECK(range.empty());
  REQUIRE(range.extend({}).ok());
  CHECK(range.empty());
  const std::vector<float> zero = {0.0F};
  REQUIRE(range.extend(zero).ok());
  CHECK_FALSE(range.empty());
  CHECK(range.min == 0.0F);
  CHECK(range.max == 0.0F);
}

TEST_CASE("a range covers what it has seen and nothing more") {
  ValueRange range;
  const std::vector<float> first = {-3.0F};
  const std::vector<float> second = {-1.0F, -7.0F, -2.0F};
  REQUIRE(range.extend(first).ok());
  CHECK(range.min == -3.0F);
  CHECK(range.max == -3.0F);  // not widened to zero here
  REQUIRE(range.extend(second).ok());
  CHECK(range.min == -7.0F);
  CHECK(range.max == -1.0F);
}

TEST_CASE("extremes are found at every place of every length") {
  for (std::size_t size = 1; size <= 67; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      std::vector<float> x(size, 1.0F);
      x[place] = 9.0F;
      x[size - 1 - place] = place == size - 1 - place ? 9.0F : -9.0F;
      ValueRange range;
      REQUIRE(range.extend(x).ok());
      CAPTURE(size);
      CAPTURE(place);
      REQUIRE(range.max == 9.0F);
      REQUIRE(range.min == (size == 1 ? 9.0F : place == size - 1 - place ? 1.0F : -9.0F));
    }
  }
}

TEST_CASE("the widest floats and denormals are covered exactly") {
  ValueRange range;
  const std::vector<float> x = {1e-45F, -kMax, kMax};
  REQUIRE(range.extend(x).ok());
  CHECK(range.min == -kMax);
  CHECK(range.max == kMax);
}

TEST_CASE("finite data pass, also none at all, zeros and the widest floats") {
  CHECK(checked({}).ok());
  CHECK(checked({0.0F, -0.0F, 1e-45F, kMax, -kMax}).ok());
}

TEST_CASE("the first value that is not finite is named, wherever it is") {
  for (const float bad : {kNan, -kNan, kInf, -kInf}) {
    for (std::size_t size = 1; size <= 40; ++size) {
      for (std::size_t place = 0; place < size; ++place) {
        std::vector<float> x(size, 0.5F);
        x[place] = bad;
        x[size - 1] = bad;
        const amct::Status status = checked(x);
        CAPTURE(bad);
        CAPTURE(size);
        REQUIRE(status.code == StatusCode::not_finite);
        REQUIRE(status.index == place);
        REQUIRE((std::isnan(bad) ? std::isnan(status.value) : status.value == static_cast<double>(bad)));
      }
    }
  }
}

TEST_CASE("every path finds the range and the first broken value of the reference") {
  for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
    for (const bool finite_only : {true, false}) {
      const auto all = support::awkward_floats(length + offset, 0.25F, finite_only);
      const auto x = std::span<const float>(all).subspan(offset);
      const auto want = amct::kernel::reference::extremes(x);
      const std::size_t first_broken = amct::kernel::reference::find_not_finite(x);
      on_every_path([&] {
        amct::ValueRange range;
        const amct::Status status = range.extend(x);
        CHECK(status.ok() == want.finite);
        if (status.ok()) {
          CHECK(range.min == want.min);
          CHECK(range.max == want.max);
        } else {
          CHECK(status.index == first_broken);
          CHECK(range.empty());
        }
      });
    }
  });
}

TEST_CASE("the largest floats of one sign are finite, however many there are") {
  const std::vector<float> huge(1000, std::numeric_limits<float>::max());
  on_every_path([&] {
    amct::ValueRange range;
    REQUIRE(range.extend(huge).ok());
    CHECK(range.max == std::numeric_limits<float>::max());
    CHECK(range.abs_max() == std::numeric_limits<float>::max());
  });
}

TEST_CASE("abs_max is the larger end without its sign") {
  amct::ValueRange range;
  CHECK(range.abs_max() == 0.0F);
  REQUIRE(range.extend(std::vector<float>{-3.0F, 2.0F}).ok());
  CHECK(range.abs_max() == 3.0F);
  REQUIRE(range.extend(std::vector<float>{5.0F}).ok());
  CHECK(range.abs_max() == 5.0F);
}

TEST_CASE("a zero end is +0 on every path") {
  const std::vector<float> zeros(100, -0.0F);
  on_every_path([&] {
    amct::ValueRange range;
    REQUIRE(range.extend(zeros).ok());
    CHECK_FALSE(std::signbit(range.min));
    CHECK_FALSE(std::signbit(range.max));
  });
}
