// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/sort_keys.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

using namespace amct;

namespace {

template <class T>
void check_rising(const std::vector<T>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(exec::sort_key(values[i - 1]) < exec::sort_key(values[i]));
  }
}

template <class T>
void check_floats() {
  using Limits = std::numeric_limits<T>;
  check_rising<T>({-Limits::infinity(), Limits::lowest(), T(-1), -Limits::denorm_min(), T(0), Limits::denorm_min(),
                   T(0.5), T(1), Limits::max(), Limits::infinity(), Limits::quiet_NaN()});
  CHECK(exec::sort_key(T(-0.0)) == exec::sort_key(T(0.0)));
  CHECK(exec::sort_key(-Limits::quiet_NaN()) == exec::sort_key(Limits::quiet_NaN()));
}

}  // namespace

TEST_CASE("Keys order as values do") {
  check_floats<float>();
  check_floats<double>();
  check_rising<std::int8_t>({-128, -1, 0, 1, 127});
  check_rising<std::int64_t>({INT64_MIN, -1, 0, 1, INT64_MAX});
  check_rising<std::uint64_t>({0, 1, UINT64_MAX});
  check_rising<std::uint8_t>({0, 1, 255});
  CHECK(exec::sort_key(false) < exec::sort_key(true));
  CHECK(exec::sort_key(to_half(-2.0F)) < exec::sort_key(to_half(1.0F)));
}

TEST_CASE("A tensor has a key for each element") {
  const std::int32_t values[] = {5, -5};
  const auto keys = exec::sort_keys(Tensor(Shape{2}, std::span<const std::int32_t>(values)));
  REQUIRE(keys.size() == 2);
  CHECK(keys[0] == exec::sort_key(std::int32_t{5}));
  CHECK(keys[1] == exec::sort_key(std::int32_t{-5}));
}
