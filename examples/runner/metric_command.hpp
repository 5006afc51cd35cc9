// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace runner {

/// A program of the user's that measures how good the outputs of a network are (docs/data.md).
///
/// `{name}` in the command is replaced by a value in quotes, and the environment has AMCT_<NAME> with the same. It is
/// run by /bin/sh in the working folder, without input. The last line of its standard output that is not empty must
/// be a number; greater is better. Its standard error is ours.
struct MetricCommand {
  std::string command{};  ///< empty: none
  double timeout_seconds = 600.0;
  std::string option = "--metric_command";  ///< what errors call it

  /// Adds the option and --metric_timeout.
  void add_options(CLI::App& verb);

  /// \param values by name, such as "outputs"
  /// \throws amct::Error data_format for a `{name}` without a value; io_read if the command fails, is killed, takes
  ///         longer than the timeout (then it is killed with all that it started), or prints no finite number
  [[nodiscard]] double run(const std::map<std::string, std::string>& values) const;
};

}  // namespace runner
