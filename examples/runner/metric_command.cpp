// SPDX-License-Identifier: Apache-2.0
#include "metric_command.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <amct/core/error.hpp>

#include "interrupt.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = std::size_t{1} << 20;

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The command with its values. Braces around other than lower-case letters are the shell's.
std::string filled(const MetricCommand& metric, const std::map<std::string, std::string>& values) {
  const std::string& command = metric.command;
  std::string result;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::size_t end = command[i] == '{' ? command.find('}', i) : std::string::npos;
    const std::string name = end == std::string::npos ? std::string() : command.substr(i + 1, end - i - 1);
    const bool shell = i > 0 && command[i - 1] == '$';
    const bool is_name =
        !shell && !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (!is_name) {
      result += command[i];
      continue;
    }
    const auto found = values.find(name);
    if (found == values.end()) {
      std::string known;
      for (const auto& [key, unused] : values) known += (known.empty() ? "{" : ", {") + key + "}";
      throw Error(ErrorCode::data_format, {.field = metric.option}, "has {" + name + "}, expected one of " + known);
    }
    result += quoted(found->second);
    i = end;
  }
  return result;
}

/// Our environment and the values, which replace older ones, as when a command runs amct itself.
std::vector<std::string> environment(const std::map<std::string, std::string>& values) {
  std::map<std::string, std::string> variables;
  const auto set = [&](const std::string& text) { variables[text.substr(0, text.find('='))] = text; };
  for (char** variable = environ; *variable != nullptr; ++variable) set(*variable);
  for (const auto& [name, value] : values) {
    std::string upper;
    for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    set("AMCT_" + upper + '=' + value);
  }
  std::vector<std::string> texts;
  for (auto& [name, text] : variables) texts.push_back(std::move(text));
  return texts;
}

/// A shell that runs a command in a process group of its own, with a pipe from its standard output.
class Shell {
 public:
  /// \throws amct::Error io_read if it cannot be started
  Shell(const std::string& command, const std::map<std::string, std::string>& values) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) throw failed(errno);
    pipe_ = ends[0];
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string name = "sh";
    std::string option = "-c";
    std::string text = command;
    char* arguments[] = {name.data(), option.data(), text.data(), nullptr};
    auto variables = environment(values);
    std::vector<char*> pointers;
    for (auto& variable : variables) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    const int failure = ::posix_spawn(&process_, "/bin/sh", &actions, &attributes, arguments, pointers.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failure == 0) return;
    ::close(pipe_);
    throw failed(failure);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  /// Ends what is still running.
  ~Shell() {
    ::kill(-process_, SIGKILL);
    if (!status_) ::waitpid(process_, nullptr, 0);
    ::close(pipe_);
  }

  /// Reads until the shell has ended, though what it has started may go on. \return empty if that takes too long
  std::optional<std::string> read(double seconds) {
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::string output;
    while (Clock::now() < end) {
      throw_if_interrupted();
      wait_for_output();
      read_available(output);
      int status = 0;
      if (::waitpid(process_, &status, WNOHANG) != process_) continue;
      status_ = status;
      read_available(output);  // what it has written last
      return output;
    }
    return std::nullopt;
  }
  /// As waitpid gives it, after read() has ended.
  [[nodiscard]] int status() const { return status_.value_or(0); }

 private:
  static Error failed(int reason) {
    return {ErrorCode::io_read, {.file = "/bin/sh"}, std::string("cannot be started: ") + std::strerror(reason)};
  }
  /// A short while, so that the end of a shell that writes nothing is seen too.
  void wait_for_output() const {
    constexpr int kMilliseconds = 20;
    pollfd pipe{.fd = closed_ ? -1 : pipe_, .events = POLLIN, .revents = 0};
    ::poll(&pipe, 1, kMilliseconds);
  }
  void read_available(std::string& output) {
    char buffer[4096];
    constexpr int kMostReads = 512;  // more than a pipe holds; a program may write faster than we read
    for (int reads = 0; reads < kMostReads && !closed_; ++reads) {
      const ssize_t count = ::read(pipe_, buffer, sizeof buffer);
      if (count < 0) return;  // nothing now
      closed_ = count == 0;
      output.append(buffer, static_cast<std::size_t>(count));
      if (output.size() > kMostOutput) output.erase(0, output.size() - kMostOutput / 2);  // the end counts
    }
  }

  pid_t process_ = -1;
  int pipe_ = -1;
  bool closed_ = false;
  std::optional<int> status_;
};

/// The last line that is not empty.
std::string_view last_line(std::string_view output) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t end = output.find_last_not_of(kBlank);
  if (end == std::string_view::npos) return {};
  output = output.substr(0, end + 1);
  const std::size_t start = output.find_last_of('\n');
  output = start == std::string_view::npos ? output : output.substr(start + 1);
  return output.substr(output.find_first_not_of(kBlank));
}

double number_of(std::string_view line, const std::string& command, const std::string& option) {
  double number = 0.0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
  const bool whole = !line.empty() && parsed.ec == std::errc{} && parsed.ptr == line.data() + line.size();
  if (whole && std::isfinite(number)) return number;
  constexpr std::size_t kMostShown = 80;
  throw Error(ErrorCode::io_read, {.field = option},
              "the last line of what \"" + command + "\" printed is \"" + std::string(line.substr(0, kMostShown)) +
                  "\", expected a number");
}

}  // namespace

void MetricCommand::add_options(CLI::App& verb) {
  std::string dashes = option;
  std::replace(dashes.begin() + 2, dashes.end(), '_', '-');
  verb.add_option(
      dashes == option ? option : option + ',' + dashes, command,
      "program that measures the outputs: the last line it prints is a number, greater is better. {outputs}\n"
      "becomes a folder of .npy files, {labels}, {model} and {mode} what their names say");
  verb.add_option("--metric_timeout", timeout_seconds, "seconds that the program may take")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e6));
}

double MetricCommand::run(const std::map<std::string, std::string>& values) const {
  const std::string line = filled(*this, values);
  const auto refuse = [&](const std::string& message) -> Error {
    return {ErrorCode::io_read, {.field = option}, "\"" + line + "\" " + message};
  };
  Shell shell(line, values);
  const auto output = shell.read(timeout_seconds);
  if (!output) throw refuse(fmt::format("took more than {:.6g} seconds", timeout_seconds));
  if (WIFSIGNALED(shell.status())) throw refuse("was killed by signal " + std::to_string(WTERMSIG(shell.status())));
  if (WEXITSTATUS(shell.status()) != 0) {
    throw refuse("failed with exit code " + std::to_string(WEXITSTATUS(shell.status())));
  }
  return number_of(last_line(*output), line, option);
}

}  // namespace runner
