// SPDX-License-Identifier: Apache-2.0
#include "data_folder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/interop/npy.hpp>
#include <amct/kernel/range.hpp>

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1) {
    parts.push_back(text.substr(start, end - start));
  }
  parts.push_back(text.substr(start));
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();  // a separator at the end
  return parts;
}

amct::Shape parse_shape(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> dims;
  std::int64_t elements = 1;
  for (const auto& part : split(text, ',')) {
    std::int64_t dim = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), dim);
    constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
    if (parsed.ec != std::errc{} || parsed.ptr != part.data() + part.size() || dim < 1 ||
        elements > kMostElements / dim) {
      throw Error(ErrorCode::data_format, {.field = "--input_shape"},
                  "got \"" + option + "\", expected sizes of at least 1 as in \"input:16,1,28,28\"");
    }
    elements *= dim;
    dims.push_back(dim);
  }
  return amct::Shape(std::move(dims));
}

amct::ElementType parse_type(const std::string& text) {
  using enum amct::ElementType;
  for (const auto type : {float32, float64, int8, uint8, int32, int64}) {
    if (text == amct::name_of(type)) return type;
  }
  throw Error(ErrorCode::data_format, {.field = "--data_types"},
              "got \"" + text + "\", expected float32, float64, int8, uint8, int32 or int64");
}

void require_count(const char* option, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw Error(
      ErrorCode::data_format, {.field = option},
      "got " + std::to_string(got) + " entries, expected one for each of " + std::to_string(expected) + " inputs");
}

std::vector<std::filesystem::path> list_files(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const auto extension = entry.path().extension();
    if (extension == ".bin" || extension == ".npy") files.push_back(entry.path());
  }
  if (failure) throw Error(ErrorCode::io_read, {.file = folder.string()}, "cannot be listed: " + failure.message());
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.native() < b.native(); });
  return files;
}

amct::Tensor read_bin(const std::filesystem::path& path, const InputSpec& input) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  std::ifstream file(path, std::ios::binary);
  if (failure || !file) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read");
  const std::size_t expected = input.shape.size() * amct::size_of(input.file_type);
  if (size != expected) {
    throw Error(ErrorCode::data_format, {.file = path.string(), .tensor = input.name},
                "has " + std::to_string(size) + " bytes, expected " + std::to_string(expected) + " for " +
                    amct::name_of(input.file_type) + to_string(input.shape));
  }
  amct::Tensor tensor(input.file_type, input.shape);
  file.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
  if (!file) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read to its end");
  return tensor;
}

amct::Tensor read_batch(const std::filesystem::path& path, const InputSpec& input) {
  amct::Tensor tensor = path.extension() == ".npy" ? amct::interop::read_npy(path) : read_bin(path, input);
  if (tensor.shape() != input.shape) {
    throw Error(ErrorCode::data_format, {.file = path.string(), .tensor = input.name},
                "has shape " + to_string(tensor.shape()) + ", expected " + to_string(input.shape));
  }
  if (tensor.type() != input.model_type) tensor = amct::cast(tensor, input.model_type);
  if (tensor.type() == amct::ElementType::float32) {
    const auto status = amct::check_finite(tensor.data<float>());
    if (!status.ok()) {
      throw Error(ErrorCode::data_not_finite, {.file = path.string(), .tensor = input.name},
                  std::string("has ") + (std::isnan(status.value) ? "NaN" : "Inf") + " at index " +
                      std::to_string(status.index));
    }
  }
  return tensor;
}

/// "input:16,1,28,28;mask:16,28" -> names and shapes.
std::vector<InputSpec> parse_input_shapes(const std::string& text) {
  std::vector<InputSpec> inputs;
  for (const auto& part : split(text, ';')) {
    const std::size_t colon = part.rfind(':');  // names may contain colons, shapes may not
    if (colon == std::string::npos || colon == 0) {
      throw Error(ErrorCode::data_format, {.field = "--input_shape"},
                  "got \"" + part + "\", expected a name and sizes as in \"input:16,1,28,28\"");
    }
    inputs.push_back({.name = part.substr(0, colon), .shape = parse_shape(part, part.substr(colon + 1))});
  }
  return inputs;
}

/// "float32" or "float32;int64", one an input.
void parse_data_types(const std::string& text, std::vector<InputSpec>& inputs) {
  const auto types = split(text, ';');
  require_count("--data_types", types.size(), inputs.size());
  for (std::size_t i = 0; i < types.size(); ++i) inputs[i].file_type = parse_type(types[i]);
}

/// One folder an input, joined by ';'.
void parse_data_folders(const std::string& text, std::vector<InputSpec>& inputs) {
  const auto folders = split(text, ';');
  require_count("--data_dir", folders.size(), inputs.size());
  for (std::size_t i = 0; i < folders.size(); ++i) inputs[i].folder = folders[i];
}

}  // namespace

std::vector<InputSpec> parse_inputs(const std::string& shapes, const std::string& types, const std::string& folders) {
  auto inputs = parse_input_shapes(shapes);
  if (!types.empty()) parse_data_types(types, inputs);
  parse_data_folders(folders, inputs);
  return inputs;
}

std::map<std::string, amct::Shape> shapes_of(const std::vector<InputSpec>& inputs) {
  std::map<std::string, amct::Shape> shapes;
  for (const auto& input : inputs) shapes[input.name] = input.shape;
  return shapes;
}

DataFolder::DataFolder(std::vector<InputSpec> inputs) : inputs_(std::move(inputs)) {
  for (const auto& input : inputs_) {
    files_.push_back(list_files(input.folder));
    if (files_.back().size() != files_.front().size()) {
      throw Error(ErrorCode::data_format, {.file = input.folder.string(), .tensor = input.name},
                  "holds " + std::to_string(files_.back().size()) + " batches, expected " +
                      std::to_string(files_.front().size()) + " as in " + inputs_.front().folder.string());
    }
  }
}

void DataFolder::arrange(const std::vector<std::pair<std::string, amct::ElementType>>& wanted) {
  std::vector<InputSpec> inputs;
  std::vector<std::vector<std::filesystem::path>> files;
  for (const auto& [name, type] : wanted) {
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&, &name = name](const auto& input) { return input.name == name; });
    if (found == inputs_.end()) {
      throw Error(ErrorCode::model_shape, {.tensor = name, .field = "--input_shape"},
                  "is an input of the model and has no shape");
    }
    inputs.push_back(*found);
    inputs.back().model_type = type;
    files.push_back(files_[static_cast<std::size_t>(found - inputs_.begin())]);
  }
  inputs_ = std::move(inputs);
  files_ = std::move(files);
}

std::string DataFolder::place() const {
  std::string text;
  for (const auto& input : inputs_) text += (text.empty() ? "" : ";") + input.folder.string();
  return text;
}

std::vector<amct::Tensor> DataFolder::load(std::size_t batch) const {
  std::vector<amct::Tensor> tensors;
  for (std::size_t i = 0; i < inputs_.size(); ++i) tensors.push_back(read_batch(files_[i][batch], inputs_[i]));
  return tensors;
}

}  // namespace runner
