// SPDX-License-Identifier: Apache-2.0
#include "data_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/flow/input_check.hpp>
#include <amct/interop/npy.hpp>
#include <amct/interop/npz.hpp>
#include <amct/kernel/range.hpp>

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Shape;
using amct::Tensor;
using amct::interop::NpyFile;
using amct::interop::NpzFile;
using std::filesystem::path;

[[nodiscard]] std::size_t first_size(const Shape& shape) {
  return shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[0]);
}

Shape with_first(Shape shape, std::size_t size) {
  shape[0] = static_cast<std::int64_t>(size);
  return shape;
}

Error misfit(const path& file, const InputSpec& input, const Shape& found, const Shape& expected) {
  std::string message = "has shape " + to_string(found) + ", expected " + to_string(expected);
  if (const auto layout = amct::flow::layout_mistake(found, expected)) message += ": " + describe(*layout);
  return {ErrorCode::data_format, {.file = file.string(), .tensor = input.name}, message};
}

void require_finite(const Tensor& tensor, const path& file, const InputSpec& input, std::size_t offset = 0) {
  if (tensor.type() != amct::ElementType::float32 && tensor.type() != amct::ElementType::float64 &&
      tensor.type() != amct::ElementType::float16) {
    return;
  }
  const bool single = tensor.type() == amct::ElementType::float32;
  const auto check = [&](const Tensor& floats) {
    const auto status = amct::check_finite(floats.data<float>());
    if (status.ok()) return;
    throw Error(ErrorCode::data_not_finite, {.file = file.string(), .tensor = input.name},
                std::string("has ") + (std::isnan(status.value) ? "NaN" : "Inf") + " at index " +
                    std::to_string(offset + status.index));
  };
  single ? check(tensor) : check(amct::cast(tensor, amct::ElementType::float32));
}

Tensor read_bin(const path& file, const InputSpec& input) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(file, failure);
  std::ifstream stream(file, std::ios::binary);
  if (failure || !stream) throw Error(ErrorCode::io_read, {.file = file.string()}, "cannot be read");
  const std::size_t expected = input.shape.size() * amct::size_of(input.file_type);
  if (size != expected) {
    throw Error(ErrorCode::data_format, {.file = file.string(), .tensor = input.name},
                "has " + std::to_string(size) + " bytes, expected " + std::to_string(expected) + " for " +
                    amct::name_of(input.file_type) + to_string(input.shape));
  }
  Tensor tensor(input.file_type, input.shape);
  stream.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
  if (!stream) throw Error(ErrorCode::io_read, {.file = file.string()}, "cannot be read to its end");
  return tensor;
}

/// The array of an archive that belongs to an input: the one of its name, or the only one.
const NpzFile::Array& array_of(const NpzFile& archive, const path& file, const InputSpec& input, bool by_name) {
  if (const auto* array = archive.find(input.name)) return *array;
  if (!by_name && archive.arrays().size() == 1) return archive.arrays().front();
  std::string names;
  constexpr std::size_t kMostShown = 10;
  for (std::size_t i = 0; i < std::min(archive.arrays().size(), kMostShown); ++i) {
    names += (i == 0 ? "\"" : ", \"") + archive.arrays()[i].name + '"';
  }
  throw Error(ErrorCode::data_format, {.file = file.string(), .tensor = input.name},
              "has no array of this name, only " + (names.empty() ? "none" : names));
}

// ---- a batch a file ----

class FileBatches final : public DataSource {
 public:
  FileBatches(const InputSpec& input, std::vector<path> files, bool by_name)
      : input_(input), files_(std::move(files)), by_name_(by_name) {}

  std::size_t batches() const override { return files_.size(); }
  std::optional<std::size_t> samples() const override { return std::nullopt; }
  std::string file_of(std::size_t batch) const override { return files_[batch].string(); }
  Tensor load(std::size_t batch) override {
    const path& file = files_[batch];
    Tensor tensor = read(file);
    require_finite(tensor, file, input_);
    return tensor;
  }

 private:
  Tensor read(const path& file) const {
    const auto kind = kind_of(file);
    if (kind == FileKind::npy) {
      NpyFile array(file);
      require_fitting(file, array.shape());
      return array.read();
    }
    if (kind != FileKind::npz) return read_bin(file, input_);
    NpzFile archive(file);
    const auto& array = array_of(archive, file, input_, by_name_);
    require_fitting(file, array.shape);
    return archive.read(array);
  }
  /// Before memory is taken: a small archive may claim to hold very much.
  void require_fitting(const path& file, const Shape& shape) const {
    if (shape != input_.shape) throw misfit(file, input_, shape, input_.shape);
  }

  InputSpec input_;
  std::vector<path> files_;
  bool by_name_;
};

// ---- batches of samples ----

/// Samples that lie one after the other, in one file or several.
class Samples {
 public:
  virtual ~Samples() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual amct::ElementType type() const = 0;
  /// Samples [first, first + count), end to end.
  virtual void read(std::size_t first, std::size_t count, std::byte* to) = 0;
  [[nodiscard]] virtual std::string file_of(std::size_t sample) const = 0;
};

/// Groups samples to batches of the input's shape.
class SampleBatches final : public DataSource {
 public:
  SampleBatches(const InputSpec& input, std::unique_ptr<Samples> samples, LastBatch last)
      : input_(input), samples_(std::move(samples)), size_(first_size(input.shape)) {
    const std::size_t rest = samples_->size() % size_;
    batches_ = samples_->size() / size_ + (last == LastBatch::repeat && rest != 0 ? 1 : 0);
    if (last == LastBatch::drop && rest != 0) {
      spdlog::warn("{}: the last {} left out, since {} fill no whole batches of {}", input_.folder.string(),
                   rest == 1 ? "sample is" : std::to_string(rest) + " samples are", samples_->size(), size_);
    }
  }

  std::size_t batches() const override { return batches_; }
  std::optional<std::size_t> samples() const override { return std::min(samples_->size(), batches_ * size_); }
  std::string file_of(std::size_t batch) const override { return samples_->file_of(batch * size_); }
  Tensor load(std::size_t batch) override {
    // Networks side by side ask one after the other; images and compressed arrays are slow to read again.
    if (loaded_ != batch) {
      last_ = read(batch);
      loaded_ = batch;
    }
    return last_;
  }

 private:
  Tensor read(std::size_t batch) {
    Tensor tensor(samples_->type(), input_.shape);
    const std::size_t first = batch * size_;
    const std::size_t count = std::min(size_, samples_->size() - first);
    const std::size_t bytes = tensor.bytes() / size_;
    std::byte* data = tensor.raw().data();
    samples_->read(first, count, data);
    for (std::size_t i = count; i < size_; ++i) std::memcpy(data + i * bytes, data + (count - 1) * bytes, bytes);
    return tensor;
  }

  InputSpec input_;
  std::unique_ptr<Samples> samples_;
  std::size_t size_;
  std::size_t batches_ = 0;
  std::optional<std::size_t> loaded_;  ///< the batch that last_ is
  Tensor last_;
};

class ImageSamples final : public Samples {
 public:
  ImageSamples(std::vector<path> files, ImageReader reader) : files_(std::move(files)), reader_(std::move(reader)) {}

  std::size_t size() const override { return files_.size(); }
  amct::ElementType type() const override { return amct::ElementType::float32; }
  std::string file_of(std::size_t sample) const override { return files_[sample].string(); }
  void read(std::size_t first, std::size_t count, std::byte* to) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto* numbers = reinterpret_cast<float*>(to) + i * reader_.size();
      reader_.read(files_[first + i], {numbers, reader_.size()});
    }
  }

 private:
  std::vector<path> files_;
  ImageReader reader_;
};

/// Rows of arrays in files: of each, slices of its first axis, or the whole array if it is one sample.
class ArraySamples : public Samples {
 public:
  std::size_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  amct::ElementType type() const override { return type_; }
  std::string file_of(std::size_t sample) const override { return files_[part_of(sample)].string(); }
  void read(std::size_t first, std::size_t count, std::byte* to) override {
    while (count > 0) {
      const std::size_t part = part_of(first);
      const std::size_t begin = part == 0 ? 0 : ends_[part - 1];
      const std::size_t here = std::min(count, ends_[part] - first);
      const Tensor rows = read_part(part, first - begin, here);
      require_finite(rows, files_[part], input_, (first - begin) * (rows.size() / here));
      std::memcpy(to, rows.raw().data(), rows.bytes());
      to += rows.bytes();
      first += here;
      count -= here;
    }
  }

 protected:
  explicit ArraySamples(const InputSpec& input) : input_(input) {}

  /// \throws amct::Error data_format if the array holds no samples of the input
  void add(const path& file, amct::ElementType type, const Shape& shape) {
    const Shape sample(std::vector<std::int64_t>(input_.shape.begin() + 1, input_.shape.end()));
    const bool single = shape == sample;
    const Shape expected = with_first(input_.shape, shape.rank() == input_.shape.rank() ? first_size(shape) : 1);
    if (!single && shape != expected) throw misfit(file, input_, shape, expected);
    if (!files_.empty() && type != type_) {
      throw Error(ErrorCode::data_format, {.file = file.string(), .tensor = input_.name},
                  std::string("holds ") + amct::name_of(type) + ", expected " + amct::name_of(type_) + " as in " +
                      files_.front().filename().string());
    }
    type_ = type;
    files_.push_back(file);
    single_.push_back(single);
    ends_.push_back(size() + (single ? 1 : first_size(shape)));
  }
  [[nodiscard]] const path& file(std::size_t part) const { return files_[part]; }
  [[nodiscard]] bool is_single(std::size_t part) const { return single_[part]; }
  [[nodiscard]] const InputSpec& input() const { return input_; }
  [[nodiscard]] virtual Tensor read_part(std::size_t part, std::size_t first, std::size_t count) = 0;

 private:
  [[nodiscard]] std::size_t part_of(std::size_t sample) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
  }

  InputSpec input_;
  amct::ElementType type_ = amct::ElementType::float32;
  std::vector<path> files_;
  std::vector<bool> single_;       ///< by file: one sample without a batch axis
  std::vector<std::size_t> ends_;  ///< by file: samples up to its end
};

class NpySamples final : public ArraySamples {
 public:
  NpySamples(const InputSpec& input, const std::vector<path>& files) : ArraySamples(input) {
    for (const auto& file : files) {
      const NpyFile array(file);
      add(file, array.type(), array.shape());
    }
  }

 private:
  Tensor read_part(std::size_t part, std::size_t first, std::size_t count) override {
    NpyFile array(file(part));
    return is_single(part) ? array.read() : array.read_rows(first, count);
  }
};

class NpzSamples final : public ArraySamples {
 public:
  NpzSamples(const InputSpec& input, const std::vector<path>& files, bool by_name)
      : ArraySamples(input), by_name_(by_name) {
    for (const auto& file : files) {
      const NpzFile archive(file);
      const auto& array = array_of(archive, file, input, by_name_);
      add(file, array.type, array.shape);
    }
  }

 private:
  Tensor read_part(std::size_t part, std::size_t first, std::size_t count) override {
    if (open_ == nullptr || opened_ != part) {  // stays open, since compressed data are read in order
      open_ = std::make_unique<NpzFile>(file(part));
      opened_ = part;
    }
    const auto& array = array_of(*open_, file(part), input(), by_name_);
    return is_single(part) ? open_->read(array) : open_->read_rows(array, first, count);
  }

  bool by_name_;
  std::unique_ptr<NpzFile> open_;
  std::size_t opened_ = 0;
};

}  // namespace

std::unique_ptr<DataSource> open_source(const InputSpec& input, const DataFiles& files, const SourceOptions& options) {
  const auto grouped = [&](std::unique_ptr<Samples> samples) {
    return std::make_unique<SampleBatches>(input, std::move(samples), options.last);
  };
  const FileKind kind = files.kind;
  if (options.images) return grouped(std::make_unique<ImageSamples>(files.files, *options.images));
  const bool has_samples = input.shape.rank() > 0 && (options.grouped || (!files.is_folder && files.files.size() == 1));
  if (has_samples && kind == FileKind::npz) {
    return grouped(std::make_unique<NpzSamples>(input, files.files, options.by_name));
  }
  const bool all_npy = std::all_of(files.files.begin(), files.files.end(),
                                   [](const path& file) { return kind_of(file) == FileKind::npy; });
  if (has_samples && all_npy) return grouped(std::make_unique<NpySamples>(input, files.files));
  return std::make_unique<FileBatches>(input, files.files, options.by_name);
}

}  // namespace runner
