// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

#include "data_source.hpp"
#include "preprocess.hpp"

namespace runner {

/// The inputs that the three options describe. No types at all: float32 for each. One archive (.npz), or one folder of
/// them, does for all inputs.
/// \throws amct::Error data_format
std::vector<InputSpec> parse_inputs(const std::string& shapes, const std::string& types, const std::string& folders);

/// Element types and places of data for inputs that are known. \throws amct::Error data_format
void parse_places(const std::string& types, const std::string& folders, std::vector<InputSpec>& inputs);

/// Shapes by the names of inputs.
std::map<std::string, amct::Shape> shapes_of(const std::vector<InputSpec>& inputs);

/// How a DataFolder is read.
struct DataOptions {
  bool grouped = false;  ///< files hold samples, to be put together to batches of the inputs' shapes
  LastBatch last = LastBatch::drop;
  PreprocessSet preprocess{};  ///< of images
};

/// Data on disk, in the order of batches: for each input a folder of files, one file, or a list of files. A batch is
/// read when it is loaded. Batches that hold one value throughout, and those equal to an earlier one, give a warning.
class DataFolder {
 public:
  /// Looks for files; of arrays that are split it reads the headers.
  /// \throws amct::Error io_read for a missing place, data_format if inputs have different numbers of batches, or for
  ///         preprocessing where there are no images, and those of open_source
  explicit DataFolder(std::vector<InputSpec> inputs, const DataOptions& options = {});

  [[nodiscard]] std::size_t size() const noexcept { return batches_.size(); }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const noexcept { return inputs_; }
  /// The places, for messages.
  [[nodiscard]] std::string place() const;
  /// Puts the inputs into the order of the network's own and notes the element types it wants; data are converted.
  /// \throws amct::Error model_shape for an input of the network that has no data
  void arrange(const std::vector<std::pair<std::string, amct::ElementType>>& wanted);

  /// One tensor an input. For one thread at a time, also among copies.
  /// \throws amct::Error naming the file: io_read, data_format, data_not_finite
  [[nodiscard]] std::vector<amct::Tensor> load(std::size_t batch) const;

  /// Samples in all batches, without those that fill up the last one.
  [[nodiscard]] std::size_t samples() const;
  /// The second words of a list of files, one a sample; empty if there are none.
  [[nodiscard]] const std::vector<std::string>& labels() const noexcept { return labels_; }
  /// How images are prepared, an object by the names of inputs; null if no input holds images.
  [[nodiscard]] amct::ConfigValue preprocessing() const;
  /// The batches [first, last) as data of their own.
  [[nodiscard]] DataFolder part(std::size_t first, std::size_t last) const;
  /// The share of one of several processes: batches one after the other, all shares together being all batches.
  [[nodiscard]] DataFolder shard(std::size_t rank, std::size_t ranks) const {
    return part(size() * rank / ranks, size() * (rank + 1) / ranks);
  }

 private:
  struct Notes;  ///< what warnings have been given

  void open(std::size_t input, const DataFiles& files, const DataOptions& options, bool by_name);

  std::vector<InputSpec> inputs_;
  std::vector<std::shared_ptr<DataSource>> sources_;  ///< by input
  std::vector<std::size_t> batches_;                  ///< those of the sources that belong to this
  std::vector<std::string> labels_;
  std::map<std::string, Preprocess> preprocess_;  ///< of inputs that hold images
  std::shared_ptr<Notes> notes_;
};

}  // namespace runner
