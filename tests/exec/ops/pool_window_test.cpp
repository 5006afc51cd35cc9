// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/pool_window.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::exec;

TEST_CASE("The taps between two bounds are those that the definition gives") {
  for (std::int64_t start = -7; start <= 7; ++start) {
    for (std::int64_t step = 1; step <= 3; ++step) {
      for (std::int64_t high = 0; high <= 6; ++high) {
        std::vector<std::int64_t> expected;
        for (std::int64_t k = 0; k < 4; ++k) {
          if (start + k * step >= 1 && start + k * step < high) expected.push_back(k);
        }
        const Taps taps = taps_between(start, step, 4, 1, high);
        REQUIRE(taps.count() == static_cast<std::int64_t>(expected.size()));
        if (!expected.empty()) CHECK(taps.first == expected.front());
        CHECK(taps.first >= 0);
        CHECK(taps.last <= 4);
      }
    }
  }
}

TEST_CASE("The windows of a pool visit what the taps of a window visit") {
  Window w;
  w.input = {2, 5, 6};
  w.kernel = {1, 3, 2};
  w.stride = {1, 2, 3};
  w.dilation = {1, 2, 1};
  w.pad_begin = w.pad_end = {0, 2, 1};
  w.output = {2, 3, 3};
  std::vector<std::int64_t> expected(18, 0);
  for_each_tap(w,
               [&](std::int64_t, std::int64_t o, std::int64_t i) { expected[static_cast<std::size_t>(o)] += 1 + i; });
  std::vector<std::int64_t> actual(18, 0);
  std::vector<float> counts(18, 0.0F);
  for_each_window(w, [&](std::size_t o, const auto& at) {
    for_each_in_window(w, at, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      actual[o] += 1 + (z * 5 + y) * 6 + x;
      counts[o] += 1.0F;
    });
  });
  CHECK(actual == expected);
  CHECK(pool_divisors(w, false) == counts);
}

TEST_CASE("Divisors that count padding do not count what lies behind it") {
  Window w;
  w.input = {1, 1, 3};
  w.kernel = {1, 1, 2};
  w.stride = {1, 1, 2};
  w.pad_begin = {0, 0, 1};
  w.output = {1, 1, 3};  // windows from -1, 1 and 3: the last one lies behind the input
  CHECK(pool_divisors(w, true) == std::vector<float>{2, 2, 0});
  CHECK(pool_divisors(w, false) == std::vector<float>{1, 2, 0});
}
