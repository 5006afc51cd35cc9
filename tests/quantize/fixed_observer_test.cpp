// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/fixed_observer.hpp>

#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/any_observer.hpp>

using namespace amct;

TEST_CASE("It proposes what it was given, whatever it sees, and refuses what Fixed refuses") {
  FixedObserver observer({.affine = {0.5F, -3}});
  CHECK_FALSE(observer.ready());
  CHECK(observer.observe({}).code == StatusCode::empty);
  const std::vector<float> broken{0.0F, std::numeric_limits<float>::infinity()};
  CHECK(observer.observe(broken).code == StatusCode::not_finite);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::vector<float>{1000.0F}).ok());
  CHECK(observer.ready());
  CHECK(observer.compute(Int8::range) == Affine{0.5F, -3});
  observer.reset();
  CHECK_FALSE(observer.ready());
}

TEST_CASE("It is saved and merged, with others of the same numbers only") {
  const auto make = [](float scale) {
    return AnyObserver::of<FixedObserver>("FixedFakeQuantize", {.affine = {scale, 0}});
  };
  AnyObserver observer = make(0.5F);
  REQUIRE(observer.observe(std::vector<float>{1.0F}).ok());
  std::vector<std::byte> bytes;
  REQUIRE(observer.save(bytes).ok());
  AnyObserver again = make(0.5F);
  REQUIRE(again.restore(bytes).ok());
  CHECK(again.ready());
  REQUIRE(again.merge(observer).ok());
  CHECK(make(0.25F).restore(bytes).code == StatusCode::bad_option);
}
