// SPDX-License-Identifier: Apache-2.0
#include "drawing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <amct/core/atomic_file.hpp>

extern char** environ;

namespace runner {

namespace {

constexpr std::chrono::seconds kMostTime{60};
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

struct Output {
  std::string text{};
  bool found = true;  ///< the program is installed
  bool good = false;  ///< it ended well, in time, and did not say too much
};

/// Everything that a pipe gives until it is closed; false if that takes too long or is too much.
bool read_all(int pipe, std::string& text) {
  const auto end = std::chrono::steady_clock::now() + kMostTime;
  std::array<char, 65536> buffer{};
  while (text.size() <= kMostBytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{pipe, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const auto count = ::read(pipe, buffer.data(), buffer.size());
    if (count < 0) return false;
    if (count == 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

/// What `dot -Tsvg file` writes.
Output run_dot(const std::string& file) {
  int ends[2];
  Output output;
  if (::pipe2(ends, O_CLOEXEC) != 0) return output;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::string program = "dot";
  const std::string format = "-Tsvg";
  std::array<char*, 4> arguments{const_cast<char*>(program.c_str()), const_cast<char*>(format.c_str()),
                                 const_cast<char*>(file.c_str()), nullptr};
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output.found = failure != ENOENT;
  if (failure == 0) {
    output.good = read_all(ends[0], output.text);
    if (!output.good) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    output.good = output.good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    output.found = !(WIFEXITED(status) && WEXITSTATUS(status) == 127);  // the shell's word for "not found"
  }
  ::close(ends[0]);
  return output;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  amct::AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

}  // namespace

std::vector<std::filesystem::path> write_drawing(const std::filesystem::path& name, const std::string& dot_text) {
  const auto ending = [&](const char* text) { return std::filesystem::path(name.string() + text); };
  std::vector<std::filesystem::path> files{ending(".dot")};
  write_text(files.front(), dot_text);
  const Output svg = run_dot(std::filesystem::absolute(files.front()).string());
  if (svg.good) {
    files.push_back(ending(".svg"));
    write_text(files.back(), svg.text);
    return files;
  }
  std::error_code ignored;
  std::filesystem::remove(ending(".svg"), ignored);  // of an earlier run, so of another drawing
  if (!svg.found) {
    spdlog::info(
        "{}: no picture, because Graphviz is not installed. Install it (Debian: apt install graphviz) and run: "
        "dot -Tsvg {} -o {}",
        files.front().string(), files.front().string(), ending(".svg").string());
  } else {
    spdlog::warn("{}: Graphviz failed to make a picture of it, or took more than {} s", files.front().string(),
                 kMostTime.count());
  }
  return files;
}

}  // namespace runner
