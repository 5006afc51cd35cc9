// SPDX-License-Identifier: Apache-2.0
#include "runner/interrupt.hpp"

#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

TEST_CASE("Ctrl-C is noted while a guard lives, and ends the next step with the way to go on") {
  std::size_t steps = 0;
  const auto sink = runner::interruptible(
      {.on_step = [&](std::string_view, std::size_t, std::size_t) { ++steps; }, .on_message = {}});
  for (const int signal : {SIGINT, SIGTERM}) {
    const runner::InterruptGuard guard;
    CHECK_FALSE(runner::interrupted());
    sink.step("calibrate", 1, 2);
    std::raise(signal);
    CHECK(runner::interrupted());
    CHECK_THROWS_AS(sink.step("calibrate", 2, 2), runner::Interrupted);
    CHECK_THROWS_WITH_AS(runner::throw_if_interrupted("run it again"), "interrupted; no file was changed; run it again",
                         runner::Interrupted);
  }
  CHECK(steps == 2);
  const runner::InterruptGuard guard;
  CHECK_NOTHROW(runner::throw_if_interrupted());
}
