// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace support {

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal if the command was killed
  std::string output;  ///< stdout and stderr together
};

[[nodiscard]] inline std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Runs a program with arguments in a folder, with `environment` such as "A=1 B=2" in front.
[[nodiscard]] inline CommandResult run_command(const std::filesystem::path& folder, const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               const std::string& environment = "") {
  std::string command = "cd " + quoted(folder.string()) + " && " + environment + ' ' + quoted(program);
  for (const auto& argument : arguments) command += ' ' + quoted(argument);
  command += " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  CommandResult result;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace support
