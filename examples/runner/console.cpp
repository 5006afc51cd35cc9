// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace runner {

namespace {

std::optional<spdlog::level::level_enum> level_of(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (text == "DEBUG") return spdlog::level::debug;
  if (text == "INFO") return spdlog::level::info;
  if (text == "WARNING") return spdlog::level::warn;
  if (text == "ERROR") return spdlog::level::err;
  return std::nullopt;
}

/// The level an environment variable asks for; a warning text if it cannot be understood.
spdlog::level::level_enum level_from(const char* variable, std::vector<std::string>& warnings) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return spdlog::level::info;
  if (const auto level = level_of(text)) return *level;
  warnings.push_back(fmt::format("{} is \"{}\", expected DEBUG, INFO, WARNING or ERROR; using INFO", variable, text));
  return spdlog::level::info;
}

/// Shows one phase as a line that is rewritten on a terminal, or as a line a second elsewhere.
class ProgressLine {
 public:
  void show(std::string_view phase, std::size_t done, std::size_t total) {
    const auto now = Clock::now();
    if (phase != phase_) {
      phase_ = phase;
      started_ = now;
      shown_ = now;
    }
    const bool last = done == total;
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    const auto pause = terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000);
    if (!last && now - shown_ < pause) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - started_).count();
    // The first step has no step before it to measure, so it counts for nothing in the estimate.
    const double left = done > 1 ? seconds / static_cast<double>(done - 1) * static_cast<double>(total - done) : 0.0;
    fmt::print(stderr, "{}{:<10} {:>4}/{:<4} {:>3.0f} %  {:.1f} s  ETA {:.0f} s{}", terminal ? "\r" : "", phase_, done,
               total, 100.0 * static_cast<double>(done) / static_cast<double>(total), seconds, left,
               terminal && !last ? "   " : "\n");
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string phase_;
  Clock::time_point started_;
  Clock::time_point shown_;
};

spdlog::level::level_enum to_spdlog(amct::LogLevel level) {
  switch (level) {
    case amct::LogLevel::debug: return spdlog::level::debug;
    case amct::LogLevel::info: return spdlog::level::info;
    case amct::LogLevel::warning: return spdlog::level::warn;
    case amct::LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void start_logging(const std::string& flavour) {
  std::vector<std::string> warnings;
  auto screen = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  screen->set_level(level_from("AMCT_LOG_LEVEL", warnings));
  screen->set_pattern("%l: %v");
  auto logger = std::make_shared<spdlog::logger>("amct", screen);
  const auto file_level = level_from("AMCT_LOG_FILE_LEVEL", warnings);
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>("amct_log/amct_" + flavour + ".log");
    file->set_level(file_level);
    file->set_pattern("%Y-%m-%d %H:%M:%S.%e [%l] %v");
    logger->sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex&) {
    warnings.push_back("amct_log/amct_" + flavour + ".log cannot be written; there is no log file");
  }
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  for (const auto& warning : warnings) spdlog::warn(warning);
}

amct::ProgressSink terminal_progress() {
  auto line = std::make_shared<ProgressLine>();
  return {
      .on_step = [line](std::string_view phase, std::size_t done,
                        std::size_t total) { line->show(phase, done, total); },
      .on_message = [](amct::LogLevel level, const std::string& message) { spdlog::log(to_spdlog(level), message); }};
}

void PhaseClock::start(std::string name) {
  stop();
  phases_.push_back({std::move(name), 0.0});
  started_ = Clock::now();
  running_ = true;
}

void PhaseClock::stop() {
  if (!running_) return;
  phases_.back().seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  running_ = false;
}

std::string fixed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

}  // namespace runner
