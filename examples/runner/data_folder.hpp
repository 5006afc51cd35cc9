// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

namespace runner {

/// One network input as the command line describes it.
struct InputSpec {
  std::string name{};
  amct::Shape shape{};
  amct::ElementType file_type = amct::ElementType::float32;   ///< of .bin files
  amct::ElementType model_type = amct::ElementType::float32;  ///< what the network wants
  std::filesystem::path folder{};
};

/// The inputs that the three options describe. No types at all: float32 for each. \throws amct::Error data_format
std::vector<InputSpec> parse_inputs(const std::string& shapes, const std::string& types, const std::string& folders);

/// Shapes by the names of inputs.
std::map<std::string, amct::Shape> shapes_of(const std::vector<InputSpec>& inputs);

/// Calibration data on disk: the .bin and .npy files of one folder an input, sorted bytewise, one batch a file.
/// Files are read when their batch is loaded.
class DataFolder {
 public:
  /// \throws amct::Error io_read for a missing folder, data_format if folders hold different numbers of files
  explicit DataFolder(std::vector<InputSpec> inputs);

  [[nodiscard]] std::size_t size() const noexcept { return files_.front().size(); }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const noexcept { return inputs_; }
  /// The folders, for messages.
  [[nodiscard]] std::string place() const;
  /// Puts the inputs into the order of the network's own and notes the element types it wants; data are converted.
  /// \throws amct::Error model_shape for an input of the network that has no data
  void arrange(const std::vector<std::pair<std::string, amct::ElementType>>& wanted);

  /// One tensor an input. \throws amct::Error naming the file: io_read, data_format, data_not_finite
  [[nodiscard]] std::vector<amct::Tensor> load(std::size_t batch) const;

 private:
  std::vector<InputSpec> inputs_;
  std::vector<std::vector<std::filesystem::path>> files_;  // [input][batch]
};

}  // namespace runner
