// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/progress.hpp>

namespace runner {

/// Sets up logging: the screen shows AMCT_LOG_LEVEL, the file amct_log/amct_<flavour>.log under the working directory
/// gets AMCT_LOG_FILE_LEVEL; DEBUG, INFO, WARNING or ERROR in any case, INFO if unset or unknown (with a warning).
void start_logging(const std::string& flavour);

/// A sink that shows progress on the terminal (counts, percent, time left) and sends messages to the log.
amct::ProgressSink terminal_progress();

/// Measures the phases of a run.
class PhaseClock {
 public:
  /// Ends the phase before, if any, and starts one.
  void start(std::string name);
  void stop();
  struct Phase {
    std::string name;
    double seconds = 0.0;
  };
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Phase> phases_;
  Clock::time_point started_;
  bool running_ = false;
};

/// "1.23" with a given number of digits behind the point.
std::string fixed(double value, int digits);

}  // namespace runner
