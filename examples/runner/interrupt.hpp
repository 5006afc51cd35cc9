// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <amct/core/progress.hpp>

namespace runner {

/// What programs end with that SIGINT ended: 128 and its number.
inline constexpr int kInterruptedExit = 130;

/// The user wants the program to end. Unwinding removes the temporary files.
class Interrupted : public std::exception {
 public:
  /// \param advice  how to go on later; empty: nothing was kept
  explicit Interrupted(const std::string& advice = {})
      : text_("interrupted; no file was changed" + (advice.empty() ? std::string() : "; " + advice)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// While it lives, Ctrl-C (SIGINT) and SIGTERM do not end the program but are noted. A second one ends it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Whether a signal came since the guard was made.
[[nodiscard]] bool interrupted() noexcept;

/// \throws Interrupted if a signal came
void throw_if_interrupted(const std::string& advice = {});

/// The same sink, which throws Interrupted at the first step after a signal.
[[nodiscard]] amct::ProgressSink interruptible(amct::ProgressSink sink);

}  // namespace runner
