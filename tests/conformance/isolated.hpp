// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "conformance/verdict.hpp"

namespace conformance {

/// Runs `judge` in a process of its own, so that a crash or an endless loop costs one case and not the run. Call it
/// while the program has one thread.
/// \param seconds  after which the case is stopped and has failed
template <class Judge>
[[nodiscard]] Verdict isolated(Judge&& judge, unsigned seconds) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    ::alarm(seconds);
    Verdict verdict;
    try {
      verdict = judge();
    } catch (const std::exception& failure) {
      verdict.reason = failure.what();
    }
    const std::string text = static_cast<char>(verdict.outcome) + verdict.reason;
    for (std::size_t done = 0; done < text.size();) {
      const auto written = ::write(ends[1], text.data() + done, text.size() - done);
      if (written <= 0) ::_exit(1);
      done += static_cast<std::size_t>(written);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    return {Outcome::failed, WTERMSIG(status) == SIGALRM ? "took more than " + std::to_string(seconds) + " seconds"
                                                         : "was killed by signal " + std::to_string(WTERMSIG(status))};
  }
  if (text.empty() || WEXITSTATUS(status) != 0) {
    return {Outcome::failed, "ended with exit code " + std::to_string(WEXITSTATUS(status))};
  }
  return {static_cast<Outcome>(text.front()), text.substr(1)};
}

}  // namespace conformance
