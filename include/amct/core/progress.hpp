// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace amct {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

/// Where the library sends what people may want to see; it never prints by itself. Empty callbacks are skipped.
struct ProgressSink {
  /// Step `done` of `total` of a phase such as "calibrate" has ended.
  std::function<void(std::string_view phase, std::size_t done, std::size_t total)> on_step;
  std::function<void(LogLevel, const std::string& message)> on_message;

  void step(std::string_view phase, std::size_t done, std::size_t total) const {
    if (on_step) on_step(phase, done, total);
  }
  void message(LogLevel level, const std::string& text) const {
    if (on_message) on_message(level, text);
  }
};

}  // namespace amct
