// SPDX-License-Identifier: Apache-2.0
#include <amct/core/random.hpp>

#include <array>
#include <cstdint>

#include <doctest/doctest.h>

using amct::Random;

TEST_CASE("the bits are those of the published generator") {
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317U);
  CHECK(random.next() == 3203168211198807973U);
  CHECK(random.next() == 9817491932198370423U);
  CHECK(random.next() == 4593380528125082431U);
}

TEST_CASE("equal seeds give equal numbers and other seeds others") {
  Random first(7);
  Random second(7);
  Random other(8);
  CHECK(first.next() == second.next());
  CHECK(first.next() != other.next());
  static_assert(Random(7).next() == Random(7).next());
}

TEST_CASE("uniform numbers fill the unit interval and never reach 1") {
  Random random;
  double sum = 0.0;
  double lowest = 1.0;
  double highest = 0.0;
  for (int i = 0; i < 10000; ++i) {
    const double x = random.uniform();
    sum += x;
    lowest = x < lowest ? x : lowest;
    highest = x > highest ? x : highest;
  }
  CHECK(lowest >= 0.0);
  CHECK(lowest < 0.001);
  CHECK(highest > 0.999);
  CHECK(highest < 1.0);
  CHECK(sum / 10000.0 == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("bounded numbers are equally likely and never reach the bound") {
  Random random(3);
  std::array<int, 6> counts{};
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t face = random.below(6);
    REQUIRE(face < 6);
    ++counts[face];
  }
  for (const int count : counts) CHECK(count == doctest::Approx(1000).epsilon(0.15));
  CHECK(random.below(1) == 0);
}

TEST_CASE("a bound above half of 2^64 is not reached either") {
  Random random(5);
  constexpr std::uint64_t kBound = 0x8000000000000001U;
  for (int i = 0; i < 100; ++i) CHECK(random.below(kBound) < kBound);
}
