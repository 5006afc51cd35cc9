// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

#include "data_files.hpp"
#include "image_reader.hpp"

namespace runner {

/// One network input as the command line describes it.
struct InputSpec {
  std::string name{};
  amct::Shape shape{};
  amct::ElementType file_type = amct::ElementType::float32;   ///< of .bin files
  amct::ElementType model_type = amct::ElementType::float32;  ///< what the network wants
  std::filesystem::path folder{};                             ///< folder, file or list of files
};

/// What happens with samples at the end that fill no whole batch.
enum class LastBatch : std::uint8_t {
  drop,    ///< they are left out
  repeat,  ///< the last sample is repeated until the batch is full
};

/// The data of one input, a batch at a time.
class DataSource {
 public:
  DataSource() = default;
  DataSource(const DataSource&) = delete;
  DataSource& operator=(const DataSource&) = delete;
  virtual ~DataSource() = default;

  [[nodiscard]] virtual std::size_t batches() const = 0;
  /// Samples in all batches without repeated ones; empty if batches are not made of samples.
  [[nodiscard]] virtual std::optional<std::size_t> samples() const = 0;
  /// A batch in the input's shape, of the type that is stored; finite. One thread at a time.
  /// \throws amct::Error naming the file: io_read, data_format, data_not_finite
  [[nodiscard]] virtual amct::Tensor load(std::size_t batch) = 0;
  /// The file that holds a batch, or its first sample.
  [[nodiscard]] virtual std::string file_of(std::size_t batch) const = 0;
};

/// How the data of an input are read.
struct SourceOptions {
  bool grouped = false;  ///< files hold samples, which are put together to batches: --batch_size was given
  LastBatch last = LastBatch::drop;
  std::optional<ImageReader> images{};  ///< if the files are images
  bool by_name = false;                 ///< archives hold all inputs, by their names
};

/// The source for the files of an input: images are samples; one .npy or .npz holds samples along its first axis; in
/// folders and lists of .bin, .npy and .npz each file is a batch, or holds samples if `grouped`.
/// \throws amct::Error of the headers that are read, data_format for shapes that do not fit
[[nodiscard]] std::unique_ptr<DataSource> open_source(const InputSpec& input, const DataFiles& files,
                                                      const SourceOptions& options);

}  // namespace runner
