// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "data_folder.hpp"
#include "preprocess.hpp"

namespace runner {

/// Where a verb's data are and how they are read.
struct DataArguments {
  std::string input_shape{}, data_types{}, data_dir{};
  std::optional<std::uint32_t> batch_size{};
  std::uint32_t open_batch_size = 0;  ///< taken without --batch_size where a model leaves it open; 0: that is refused
  PreprocessArguments preprocess{};

  /// Adds the options to a verb; `required`: it cannot do without --data_dir.
  void add_options(CLI::App& verb, bool required);
};

/// The data that the arguments name. No sample is read yet.
/// \throws amct::Error of parse_inputs, PreprocessArguments::read and DataFolder
[[nodiscard]] DataFolder open_data(const DataArguments& arguments, LastBatch last = LastBatch::drop);

/// The same; without --input_shape the inputs are those of the model file, whose first size --batch_size may decide.
/// \throws amct::Error also of reading the model, and model_shape if it leaves a size open
[[nodiscard]] DataFolder open_data(const DataArguments& arguments, const std::string& model,
                                   LastBatch last = LastBatch::drop);

}  // namespace runner
