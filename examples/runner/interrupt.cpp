// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <csignal>
#include <cstddef>
#include <string_view>

namespace runner {

namespace {

volatile std::sig_atomic_t came = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM};

void note(int signal) {
  came = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  came = 0;
  for (const int signal : kSignals) std::signal(signal, note);
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

bool interrupted() noexcept { return came != 0; }

void throw_if_interrupted(const std::string& advice) {
  if (interrupted()) throw Interrupted(advice);
}

amct::ProgressSink interruptible(amct::ProgressSink sink) {
  return {.on_step =
              [step = sink.on_step](std::string_view phase, std::size_t done, std::size_t total) {
                throw_if_interrupted();
                if (step) step(phase, done, total);
              },
          .on_message = std::move(sink.on_message)};
}

}  // namespace runner
