// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
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
