// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/run_command.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

/// The example network and its data, and a working folder; each test changes one argument of a run that works.
class RunnerFixture {
 public:
  std::map<std::string, std::string> options{{"--model", std::string(AMCT_EXAMPLE_DATA) + "/digits.onnx"},
                                             {"--save_path", "out/m"},
                                             {"--input_shape", "input:16,1,28,28"},
                                             {"--data_types", "float32"},
                                             {"--data_dir", std::string(AMCT_EXAMPLE_DATA) + "/calibration"}};
  support::TempDir work;

  [[nodiscard]] support::CommandResult calibrate(const std::vector<std::string>& more = {},
                                                 const std::string& environment = "") const {
    std::vector<std::string> arguments{"calibration"};
    for (const auto& [option, value] : options) arguments.insert(arguments.end(), {option, value});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_command(work.path(), AMCT_RUNNER, arguments, environment);
  }

  /// Any verb with any arguments.
  [[nodiscard]] support::CommandResult amct(const std::vector<std::string>& arguments) const {
    return support::run_command(work.path(), AMCT_RUNNER, arguments);
  }

  /// The arguments of verbs that run the example network, with its record if one was calibrated.
  [[nodiscard]] std::vector<std::string> network_arguments() const {
    std::vector<std::string> arguments;
    for (const char* option : {"--model", "--input_shape", "--data_dir"}) {
      arguments.insert(arguments.end(), {option, options.at(option)});
    }
    if (std::filesystem::exists(work / "out/m_quant_param_record.txt")) {
      arguments.insert(arguments.end(), {"--record", "out/m_quant_param_record.txt"});
    }
    return arguments;
  }

  /// The one line of a failed run that begins with "error: "; empty if there are none or several.
  [[nodiscard]] static std::string error_line(const support::CommandResult& result) {
    std::istringstream lines(result.output);
    std::string found;
    std::size_t errors = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("error: ")) continue;
      ++errors;
      found = line;
    }
    return errors == 1 ? found : std::string();
  }

  /// A copy of the calibration data that a test may damage.
  [[nodiscard]] std::filesystem::path copied_data() {
    const auto folder = work / "data";
    std::filesystem::copy(options.at("--data_dir"), folder);
    options["--data_dir"] = folder.string();
    return folder;
  }

  /// All files below the output folder.
  [[nodiscard]] std::size_t files_written() const {
    std::size_t count = 0;
    std::error_code missing;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(work / "out", missing)) {
      count += entry.is_regular_file() ? 1U : 0U;
    }
    return count;
  }
};
