// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/onnx/messages.hpp>

namespace amct::onnx {

/// Reads the constants of one model, those too that keep their data in files next to it.
///
/// A location is a path relative to the model's folder that does not leave it, not even through a symbolic link. The
/// range must lie inside the file and have just the bytes of the tensor. Checksums are not checked. All tensors
/// together may read a file kMostTimes over, so that memory is bounded by what is on disk.
class ExternalData {
 public:
  explicit ExternalData(const std::filesystem::path& model)
      : folder_(model.has_parent_path() ? model.parent_path() : std::filesystem::path(".")) {}

  /// \throws Error model_corrupt, model_unsupported or io_read, naming the tensor and its file
  [[nodiscard]] Tensor read(const ::onnx::TensorProto& message) {
    if (message.data_location() != ::onnx::TensorProto::EXTERNAL) return from_onnx(message);
    const ElementType type = detail::element_type(message);
    const Range range = find(message, detail::element_count(message) * size_of(type));
    std::uintmax_t& taken = taken_[range.file];
    taken += range.length;
    if (taken / kMostTimes > range.file_size) {
      fail(message, range.location, "is read more than " + std::to_string(kMostTimes) + " times over");
    }
    Tensor tensor(type, Shape({message.dims().begin(), message.dims().end()}));
    std::ifstream file(range.file, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(range.offset));
    file.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(range.length));
    if (!file) fail(message, range.location, "cannot be read", ErrorCode::io_read);
    detail::make_booleans(tensor);
    return tensor;
  }

  /// Reads small constants into the model, where shape inference finds them. For the others only checks that read()
  /// will find them.
  void load(::onnx::TensorProto& message) {
    constexpr std::size_t kSmall = 4096;
    if (message.data_location() != ::onnx::TensorProto::EXTERNAL) return;
    const std::size_t bytes = detail::element_count(message) * size_of(detail::element_type(message));
    if (bytes > kSmall) {
      (void)find(message, bytes);
      return;
    }
    const Tensor tensor = read(message);
    const std::string name = message.name();
    message.Clear();
    to_onnx(tensor, name, message);
  }

 private:
  static constexpr std::uintmax_t kMostTimes = 4;

  struct Range {
    std::string location{};
    std::filesystem::path file{};
    std::uintmax_t file_size = 0;
    std::uintmax_t offset = 0;
    std::uintmax_t length = 0;
  };

  [[noreturn]] static void fail(const ::onnx::TensorProto& message, const std::string& location,
                                const std::string& what, ErrorCode code = ErrorCode::model_corrupt) {
    throw Error(code, {.tensor = message.name()}, "its data file \"" + location + "\" " + what);
  }

  [[nodiscard]] Range find(const ::onnx::TensorProto& message, std::uintmax_t bytes) const {
    std::map<std::string, std::string> entries;
    for (const auto& entry : message.external_data()) entries[entry.key()] = entry.value();
    Range range{.location = entries["location"]};
    range.file = resolve(message, range.location);
    std::error_code failure;
    range.file_size = std::filesystem::file_size(range.file, failure);
    if (failure) fail(message, range.location, "cannot be read: " + failure.message(), ErrorCode::io_read);
    range.offset = number(message, range.location, "offset", entries["offset"], 0);
    if (range.offset > range.file_size) {
      fail(message, range.location,
           "has " + std::to_string(range.file_size) + " bytes, less than the offset " + std::to_string(range.offset));
    }
    const std::uintmax_t rest = range.file_size - range.offset;
    range.length = number(message, range.location, "length", entries["length"], rest);
    if (range.length > rest || range.length != bytes) {
      fail(message, range.location,
           "has " + std::to_string(std::min(range.length, rest)) + " bytes for it at offset " +
               std::to_string(range.offset) + ", expected " + std::to_string(bytes));
    }
    return range;
  }

  /// The file of a location, which must be below the folder once links are followed.
  [[nodiscard]] std::filesystem::path resolve(const ::onnx::TensorProto& message, const std::string& location) const {
    const std::filesystem::path relative(location);
    const bool climbs = std::find(relative.begin(), relative.end(), std::filesystem::path("..")) != relative.end();
    if (relative.empty() || relative.is_absolute() || climbs || location.find('\0') != std::string::npos) {
      fail(message, location, "must be given as a path inside the model's folder");
    }
    std::error_code failure;
    const auto folder = std::filesystem::canonical(folder_, failure);
    const auto file = std::filesystem::canonical(folder_ / relative, failure);
    if (failure) fail(message, location, "cannot be read: " + failure.message(), ErrorCode::io_read);
    if (std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first != folder.end()) {
      fail(message, location, "is a link that leaves the model's folder");
    }
    if (!std::filesystem::is_regular_file(file, failure)) {
      fail(message, location, "is not a regular file", ErrorCode::io_read);
    }
    return file;
  }

  static std::uintmax_t number(const ::onnx::TensorProto& message, const std::string& location, const char* key,
                               const std::string& text, std::uintmax_t otherwise) {
    if (text.empty()) return otherwise;
    std::uintmax_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) {
      fail(message, location, std::string("has the ") + key + " \"" + text + "\", expected a whole number");
    }
    return value;
  }

  std::filesystem::path folder_;
  std::map<std::filesystem::path, std::uintmax_t> taken_;  ///< bytes read so far from each file
};

}  // namespace amct::onnx
